"""The paper's picture separation: three photographs from random orthogonal mixtures, for a fixed list of triples."""

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from boundsep import metrics, mixing, schedules, sources
from boundsep._style import COLOURS
from boundsep._types import Matrix
from boundsep._validation import missing_extra
from boundsep.experiments.rivals import unmix
from boundsep.experiments.runner import Cell, Results
from boundsep.photographs import common_size
from boundsep.state import State
from boundsep.whitening import Fixed, moments

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIM = "Three photographs are separated from orthogonal mixtures at about 30 dB, by the paper's rule and numbers."
TRIPLES: Final = (
    ("camera", "grass", "coffee"),
    ("gravel", "brick", "coins"),
    ("camera", "moon", "flower"),
    ("astronaut", "grass", "china"),
    ("chelsea", "brick", "rocket"),
    ("coffee", "gravel", "flower"),
    ("camera", "astronaut", "chelsea"),
    ("coins", "moon", "grass"),
    ("china", "rocket", "brick"),
    ("flower", "chelsea", "gravel"),
    ("astronaut", "coins", "coffee"),
    ("moon", "china", "camera"),
)


@dataclass(frozen=True)
class Settings:
    """Size of the pictures, passes over their pixels in random order, and the triples."""

    size: int = 256
    passes: int = 4
    triples: tuple[tuple[str, ...], ...] = TRIPLES
    files: tuple[str, ...] = ()  # the user's own pictures, in place of the triples


FULL = Settings()
QUICK = Settings(size=64, passes=2, triples=TRIPLES[:3])


def cells(settings: Settings, n_seeds: int) -> list[Cell]:
    """One for each triple and seed (of mixing and of the order of the pixels)."""
    return [{"triple": list(triple), "seed": seed} for triple in _triples(settings) for seed in range(n_seeds)]


def _triples(settings: Settings) -> tuple[tuple[str, ...], ...]:
    return (settings.files,) if settings.files else settings.triples


def _shape(settings: Settings) -> tuple[int, int]:
    return common_size(settings.files) if settings.files else (settings.size, settings.size)


def separate(settings: Settings, triple: list[str], seed: int) -> tuple[mixing.Mixture, Matrix]:
    """Return the mixture of a triple, and the unmixing matrix that the paper's rule learns."""
    height, width = _shape(settings)
    S = sources.photographs(triple, height=height, width=width)
    S = (S - S.mean(axis=0)) / S.std(axis=0)
    mixture = mixing.mix(S, mixing.orthogonal(len(triple), random_state=seed))
    d = len(triple)
    state = State.start(d, d, whiten=Fixed.exact(*moments(mixture.X), d), rates=schedules.paper())
    rng = np.random.default_rng(seed)
    for _ in range(settings.passes):
        state.learn(mixture.X[rng.permutation(len(S))])
    return mixture, state.components()


def measure(settings: Settings, *, triple: list[str], seed: int) -> dict[str, Any]:
    """Return SIR, SSIM and PSNR of the recovered pictures, FastICA's SIR, and what may explain them."""
    try:
        from skimage import metrics as picture_metrics
    except ImportError as error:
        raise missing_extra("pictures", "scikit-image", "images") from error
    mixture, components = separate(settings, triple, seed)
    S = mixture.S
    recovered = metrics.align(S, mixture.X @ components.T)
    span = np.ptp(S, axis=0)
    rms = np.sqrt(np.mean((recovered - S) ** 2, axis=0))
    d, shape = len(triple), _shape(settings)
    pairs = [(S[:, i].reshape(shape), recovered[:, i].reshape(shape)) for i in range(d)]
    similarity: Any = picture_metrics.structural_similarity
    ssim = [similarity(*pair, data_range=width) for pair, width in zip(pairs, span, strict=True)]
    low, high = S.min(axis=0), S.max(axis=0)
    unit = 2.0 * (S - low) / (high - low) - 1.0
    corners = [np.any(np.all(unit * np.array(corner) > 0.8, axis=1)) for corner in product([-1, 1], repeat=d)]
    return {
        "sir": metrics.sir(components, mixture.A, mixture.power).total,
        "fastica": metrics.sir(unmix("FastICA, cube", mixture.X, d, seed), mixture.A, mixture.power).total,
        "ssim": np.array(ssim),
        "psnr": 20.0 * np.log10(span / rms),
        "correlation": float(np.abs(np.corrcoef(S.T) - np.eye(d)).max()),
        "off_middle": float(np.abs(unit.mean(axis=0)).max()),
        "corners": int(sum(corners)),
    }


def _by_triple(settings: Settings, results: Results) -> list[tuple[str, dict[str, float]]]:
    """Return the median of each number for each triple."""
    told = []
    for triple in _triples(settings):
        of = [r for c, r in results if c["triple"] == list(triple)]
        told.append(
            (
                " + ".join(Path(name).stem for name in triple),
                {name: float(np.median([r[name] for r in of])) for name in of[0]},
            )
        )
    return told


def judge(settings: Settings, results: Results) -> tuple[bool, str]:
    """By how many triples reach what the paper shows for one."""
    table = _by_triple(settings, results)
    sir = np.array([numbers["sir"] for _, numbers in table])
    ica = np.array([numbers["fastica"] for _, numbers in table])
    best = table[int(sir.argmax())]
    return bool(np.median(sir) > 25.0), (
        f"{np.sum(sir > 25.0)} of {len(sir)} triples reach 25 dB (FastICA: {np.sum(ica > 25.0)}), "
        f"{np.sum(sir < 10.0)} stay under 10 (FastICA: {np.sum(ica < 10.0)}); "
        f"median {np.median(sir):.0f} dB (FastICA {np.median(ica):.0f}), "
        f"best {best[0]} {best[1]['sir']:.0f}"
    )


def draw(settings: Settings, results: Results) -> "Figure":
    """Draw the best triple: originals, mixtures, recovered; and the SIR of all of them."""
    from matplotlib.figure import Figure

    table = _by_triple(settings, results)
    order = np.argsort([numbers["sir"] for _, numbers in table])
    triple = list(_triples(settings)[order[-1]])
    mixture, components = separate(settings, triple, 0)
    recovered = metrics.align(mixture.S, mixture.X @ components.T)
    first = next(r for c, r in results if c == {"triple": triple, "seed": 0})
    worth = [f"SSIM {s:.3f}, PSNR {p:.0f} dB" for s, p in zip(first["ssim"], first["psnr"], strict=True)]
    figure = Figure(figsize=(11.0, 6.6), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=[1.0, 1.05])
    left, right = halves
    for row, (name, pictures) in enumerate(
        (("originals", mixture.S), ("mixtures", mixture.X), ("recovered", recovered))
    ):
        for column in range(len(triple)):
            panel = left.add_subplot(3, len(triple), len(triple) * row + column + 1)
            panel.imshow(pictures[:, column].reshape(_shape(settings)), cmap="gray")
            panel.set(xticks=[], yticks=[], title=name if column == 0 else "")
            if name == "recovered":
                panel.set_xlabel(worth[column], fontsize=8)
            panel.grid(visible=False)
    panel = right.subplots()
    place = np.arange(len(table))
    bars = (0.2, "sir", COLOURS[0], "BSM, the paper's rule"), (-0.2, "fastica", COLOURS[1], "FastICA, cube")
    for shift, name, colour, label in bars:
        panel.barh(place + shift, [table[i][1][name] for i in order], 0.38, color=colour, label=label)
    panel.axvline(25.0, color=COLOURS[7], linestyle="--", linewidth=1.0)
    panel.set(
        yticks=place,
        yticklabels=[
            f"{table[i][0]}\ncorr. {table[i][1]['correlation']:.2f}, off middle {table[i][1]['off_middle']:.2f}, "
            f"corners {table[i][1]['corners']:.0f}/8"
            for i in order
        ],
        xlabel="SIR, dB",
        title="All triples: median over seeds",
    )
    panel.tick_params(axis="y", labelsize=7.5)
    panel.legend(loc="upper center", bbox_to_anchor=(0.3, -0.07), ncols=2)
    panel.grid(visible=False, axis="y")
    return figure
