"""The grid of `benchmarks/accuracy.py`: what is mixed, who separates it, and what it should reach."""

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.decomposition import FastICA

from boundsep import BSM, State, metrics, mixing, sources
from boundsep.experiments.rivals import RIVALS, unmix

SEEDS = range(1000, 1010)
# One pixel in a thousand, or more, within a tenth of a bound: the photographs that fill their range. All but two do.
FILLED = ("astronaut", "brick", "camera", "chelsea", "coffee", "coins", "grass", "gravel", "china", "flower")
HEIGHT, WIDTH = 300, 384  # what the smallest of them allows
CHUNK = 1000
FAST = ("FastICA, cube", "FastICA, logcosh")


@dataclass(frozen=True)
class Cell:
    """One line of the page: records with known truth, an aim in dB, and who separates them."""

    group: str
    name: str
    make: Callable[[int], mixing.Mixture]
    aim: str
    way: str = "fit"  # or "stream", "stage one", "four passes"
    rivals: tuple[str, ...] = tuple(RIVALS)
    rival_seeds: int = len(SEEDS)
    seeds: range = SEEDS
    noisy: bool = False
    paper: bool = True


def mixture_of(kind: Callable[..., np.ndarray], d: int, n: int, seed: int, snr: float = np.inf) -> mixing.Mixture:
    """Return sources of a kind mixed by a Gaussian matrix."""
    S = kind(n, d, random_state=seed)
    return mixing.mix(S, mixing.gaussian(d, d, random_state=50_000 + seed), snr=snr, random_state=90_000 + seed)


def white(d: int, n: int, seed: int) -> mixing.Mixture:
    """Return the paper's example: uniform sources, white by their true covariance."""
    rng = np.random.default_rng(seed)
    S = rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), (n, d))
    return mixing.mix(S, mixing.orthogonal(d, random_state=rng))


def photographs(names: tuple[str, ...], seed: int) -> mixing.Mixture:
    """Return three photographs of a list, each seed other ones, in random order, mixed by a Gaussian matrix."""
    triples = list(itertools.combinations(names, 3))
    names = triples[np.random.default_rng(0).permutation(len(triples))[seed]]
    S = sources.photographs(names, height=HEIGHT, width=WIDTH)
    return mixing.mix(S, mixing.gaussian(3, 3, random_state=seed))


def _uniform(d: int, n: int, aim: str, way: str, **options) -> Cell:
    group = "Uniform sources, one pass of a stream" if way == "stream" else "Uniform sources, short records"
    return Cell(group, f"{d}, {n:,}", partial(mixture_of, sources.uniform, d, n), aim, way, **options)


def _kind(name: str, kind: Callable[..., np.ndarray], d: int, n: int, aim: str, group: str) -> Cell:
    return Cell(group, f"{name}: {d}, {n:,}", partial(mixture_of, kind, d, n), aim)


KINDS, CORRELATED, SPARSE = "Other bounded sources", "Correlated sources", "Sparse bounded sources"
corners = partial(sources.l1_ball, corners=0.1)
CELLS = [
    _uniform(3, 3000, "39", "stream"),
    _uniform(10, 10_000, "42, ICA + 6", "stream"),
    _uniform(10, 100_000, "57, ICA + 6", "stream"),
    _uniform(10, 1_000_000, "75, ICA + 6", "stream", rivals=(*FAST, "Picard, cube"), rival_seeds=2),
    _uniform(30, 100_000, "52, ICA + 6", "stream"),
    _uniform(50, 300_000, "52, ICA + 6", "stream", rivals=FAST, rival_seeds=2),
    _uniform(100, 1_000_000, "50, ICA + 6", "stream", rivals=FAST[:1], rival_seeds=1),
    _uniform(5, 1000, "ICA", "fit"),
    _uniform(10, 3000, "ICA", "fit"),
    _uniform(30, 10_000, "ICA", "fit"),
    *(
        Cell("Stage one alone, true whitening", f"{d}, 100,000", partial(white, d, 100_000), "ICA + 6", "stage one")
        for d in (10, 30)
    ),
    _kind("4-PAM", sources.pam, 5, 20_000, "ICA + 20", KINDS),
    _kind("l1 ball, 10 % corners", corners, 5, 50_000, "ICA + 20", KINDS),
    _kind("clipped Gaussian", sources.clipped_gaussian, 5, 50_000, "ICA + 20", KINDS),
    _kind("l1 ball, 2 % corners", sources.l1_ball, 5, 50_000, "ICA", KINDS),
    _kind("sines", sources.sines, 5, 50_000, "ICA", KINDS),
    _kind("shared amplitude", sources.shared_amplitude, 5, 50_000, "ICA", KINDS),
    _kind("X shape", sources.x_shape, 5, 50_000, "ICA", KINDS),
    _kind("copula, rho 0.2", partial(sources.copula, rho=0.2), 5, 100_000, "50", CORRELATED),
    _kind("copula, rho 0.5", partial(sources.copula, rho=0.5), 5, 50_000, "40", CORRELATED),
    _kind("copula, rho 0.5", partial(sources.copula, rho=0.5), 10, 100_000, "38", CORRELATED),
    _kind("ternary", partial(sources.sparse, kind="ternary"), 5, 100_000, "paper + 15, ICA", SPARSE),
    _kind("truncated Laplace", partial(sources.sparse, kind="laplace"), 5, 100_000, "paper + 15, ICA", SPARSE),
    _kind("sparse uniform", partial(sources.sparse, kind="uniform"), 5, 100_000, "paper + 15, ICA", SPARSE),
    *(
        Cell(
            "Photographs, three at a time, four passes",
            name,
            partial(photographs, names),
            aim,
            "four passes",
            seeds=range(count),
            rival_seeds=count,
        )
        for name, names, count, aim in (
            ("ten that fill their range, every triple", FILLED, 120, "31, nine in ten above 22"),
            ("all twelve, thirty triples", (*FILLED, "moon", "rocket"), 30, ""),
        )
    ),
    *(
        Cell(
            "Uniform sources in noise: SINR",
            f"{d}, 100,000 at {snr} dB",
            partial(mixture_of, sources.uniform, d, 100_000, snr=float(snr)),
            "ICA - 0.5",
            noisy=True,
        )
        for d in (5, 10)
        for snr in (40, 30, 20)
    ),
]


def score(cell: Cell, mixture: mixing.Mixture, components: np.ndarray) -> float:
    """Return the total SIR of the map, or, in noise, the total SINR of the outputs."""
    if cell.noisy:
        return metrics.sinr(mixture.S, mixture.X @ components.T).total
    return metrics.sir(components, mixture.A, mixture.power).total


def run(cell: Cell, method: str, seed: int) -> tuple[float, float]:
    """Return the score of a method on one record, and, for BSM, the SIR that it estimated itself."""
    mixture = cell.make(seed)
    X, d = mixture.X, mixture.A.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a method says of itself is in its score
        if method in RIVALS and cell.way == "stage one":
            fun = method.removeprefix("FastICA, ")
            ica = FastICA(whiten=False, fun=fun, random_state=seed, max_iter=500).fit(X)
            return score(cell, mixture, ica.components_), np.nan
        if method in RIVALS:
            return score(cell, mixture, unmix(method, X, d, seed)), np.nan
        components, estimate = separate(cell.way, method, X, d, seed)
    return score(cell, mixture, components), estimate


def separate(way: str, method: str, X: np.ndarray, d: int, seed: int) -> tuple[np.ndarray, float]:
    """Return the map that BSM learns, tuning itself or with the paper's constants, and its own estimate of the SIR."""
    if way == "stage one":
        bsm = BSM(d, whiten=None, sharpen=False, n_passes=1, random_state=seed)
        if method == "paper":
            bsm = BSM(d, schedule="paper", whiten=None, random_state=seed)
        bsm.fit(X)
    elif way == "stream":
        bsm = BSM(d) if method == "BSM" else BSM(d, schedule="paper")
        for start in range(0, len(X), CHUNK):
            bsm.partial_fit(X[start : start + CHUNK])
    else:
        passes = {"n_passes": 4} if way == "four passes" else {}
        bsm = BSM(d, random_state=seed, **passes)
        if method == "paper":
            bsm = BSM(d, schedule="paper", random_state=seed, n_passes=passes.get("n_passes", 1))
        elif method == "stage one":
            bsm = BSM(d, sharpen=False, random_state=seed)
        bsm.fit(X)
    return bsm.components_, bsm.estimated_sir_


def follow(seed: int, jump: bool) -> list[float]:
    """Return the SIR every thousand samples of a stream of ten sources whose mixing turns, or changes at a blow."""
    d, n = 10, 100_000
    A = mixing.gaussian(d, d, random_state=50_000 + seed)
    S = sources.uniform(2 * n if jump else n, d, random_state=seed)
    if jump:
        parts = [mixing.mix(S[:n], A), mixing.mix(S[n:], mixing.gaussian(d, d, random_state=60_000 + seed))]
    else:
        parts = [mixing.mix_drifting(S, A, angle=np.pi / 2.0, random_state=seed)]
    state, reached = State.start(d, d), []
    for part in parts:
        for start in range(0, len(part.X), CHUNK):
            state.learn(part.X[start : start + CHUNK])
            A_now = part.matrix_at(start + CHUNK - 1)
            reached.append(metrics.sir(state.components(), A_now, part.power).total)
    return reached


def impossible(name: str, seed: int) -> tuple[float, bool]:
    """Return the SIR that BSM estimates on a stream that it can't separate, and whether it warned."""
    rng = np.random.default_rng(seed)
    n, d = 100_000, 5
    if name == "Gaussian sources":
        X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    elif name == "ten sources, five sensors":
        X = rng.uniform(-1.0, 1.0, (n, 2 * d)) @ rng.normal(size=(2 * d, d))
    else:  # heavy-tailed, of changing loudness, as speech is
        loudness = np.exp(np.repeat(rng.normal(size=(n // 500, d)), 500, axis=0))
        X = (loudness * rng.laplace(size=(n, d))) @ rng.normal(size=(d, d))
    bsm = BSM(d)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for start in range(0, n, CHUNK):
            bsm.partial_fit(X[start : start + CHUNK])
    return bsm.estimated_sir_, any("has not separated" in str(warning.message) for warning in caught)


IMPOSSIBLE = ("Gaussian sources", "ten sources, five sensors", "heavy tails, changing loudness")
