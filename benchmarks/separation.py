"""How well the network separates, how white the whiteners get, what movement tells. Writes docs/separation.md."""

import warnings
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from sklearn.decomposition import FastICA
from threadpoolctl import threadpool_limits

from benchmarks import machine
from boundsep import BSM, NSM, State, metrics, mixing, schedules, sources
from boundsep.whitening import Online
from boundsep.whitening_local import Neural

PAGE = Path(__file__).parent.parent / "docs" / "separation.md"
SEEDS = range(10)


def spread(values: list[float], digits: int = 1) -> str:
    """Return the median and, in brackets, the least and the largest."""
    middle, least, largest = np.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({least:.{digits}f} to {largest:.{digits}f})"


def example(n: int, seed: int) -> list[float]:
    """Return the SIR of the paper's example after 10k, 30k and n samples: ten sources, white by the true covariance."""
    rng = np.random.default_rng(seed)
    B = rng.uniform(2.0, 7.0, 10)
    S = rng.uniform(-0.5, 0.5, (n, 10)) * B
    Q = mixing.orthogonal(10, random_state=rng)
    X = np.ascontiguousarray((S / B * np.sqrt(12.0)) @ Q.T)
    state, reached, done = State.start(10, 10, whiten=None, rates=schedules.paper()), [], 0
    for stop in (10_000, 30_000, n):
        state.learn(X[done:stop])
        done = stop
        reached.append(metrics.sir(state.components(), Q).total)
    return reached


def measure_example(progress: Progress) -> list[str]:
    reached = np.array([example(100_000, seed) for seed in progress.track(SEEDS, description="example")])
    counts = ("10k", "30k", "100k")
    return [f"| {count} | {spread(list(column))} |" for count, column in zip(counts, reached.T, strict=True)]


def mixture_of(kind, d: int, n: int, seed: int) -> mixing.Mixture:
    S = kind(n, d, random_state=seed)
    return mixing.mix(S, mixing.gaussian(d, d, random_state=1000 + seed))


def sir_of(separator, mixture: mixing.Mixture) -> float:
    separator.fit(mixture.X)
    return metrics.sir(separator.components_, mixture.A, mixture.power).total


def measure_rivals(progress: Progress) -> list[str]:
    """Return rows: raw mixtures, one pass of each whitening, beside FastICA on the same samples."""
    cells = [
        (sources.uniform, d, n) for d, n in ((3, 1000), (3, 10_000), (3, 100_000), (10, 10_000), (10, 100_000))
    ] + [
        (kind, 5, 50_000)
        for kind in (sources.pam, sources.sines, sources.shared_amplitude, sources.l1_ball, sources.copula)
    ]
    rows = []
    for kind, d, n in progress.track(cells, description="raw mixtures"):
        names = ("exact", "online", "neural", "cube", "logcosh")
        reached: dict[str, list[float]] = {name: [] for name in names}
        for seed in SEEDS:
            mixture = mixture_of(kind, d, n, seed)
            for name in names[:3]:
                reached[name].append(sir_of(BSM(schedule="paper", whiten=name, random_state=seed), mixture))
            for name in names[3:]:
                reached[name].append(sir_of(FastICA(whiten="unit-variance", fun=name, random_state=seed), mixture))
        label = kind.__name__.replace("_", " ")
        rows.append(f"| {label} | {d}, {n:,} | " + " | ".join(spread(reached[name]) for name in names) + " |")
    return rows


def measure_sparse(progress: Progress) -> list[str]:
    """Return rows: sparse sources, without a threshold and with two."""
    rows = []
    for kind in progress.track(("uniform", "ternary", "laplace"), description="sparse"):
        columns = []
        for threshold in (0.0, 0.15, 0.3, None):
            reached = []
            for seed in SEEDS:
                S = sources.sparse(100_000, 3, kind=kind, random_state=seed)
                mixture = mixing.mix(S, mixing.gaussian(3, 3, random_state=1000 + seed))
                bsm = BSM(schedule="paper", sparsity=threshold or 0.0, random_state=seed)
                ica = FastICA(whiten="unit-variance", fun="logcosh", random_state=seed)
                reached.append(sir_of(ica if threshold is None else bsm, mixture))
            columns.append(spread(reached))
        rows.append(f"| {kind} | " + " | ".join(columns) + " |")
    return rows


def measure_nonnegative(progress: Progress) -> list[str]:
    """Return rows: NSM on nonnegative sources."""
    rows = []
    for d in progress.track((3, 5, 10), description="nonnegative"):
        reached = [sir_of(NSM(random_state=seed), mixture_of(sources.nonnegative, d, 100_000, seed)) for seed in SEEDS]
        rows.append(f"| {d} | {spread(reached)} |")
    return rows


def whiteness(kind, n_sensors: int, seed: int) -> list[float]:
    """Return the norm of the output's covariance less the identity, over the root of its size, as samples come."""
    rng = np.random.default_rng(seed)
    A = mixing.gaussian(n_sensors, 10, random_state=rng)
    X = rng.uniform(-1.0, 1.0, (100_000, 10)) * np.sqrt(3.0) @ A.T + 5.0 * rng.normal(size=n_sensors)
    whitener, errors, done = kind.start(10, n_sensors, 4e-3), [], 0
    for stop in (1000, 10_000, 100_000):
        whitener.learn(X[done:stop])
        done = stop
        errors.append(np.linalg.norm(whitener.map @ A @ A.T @ whitener.map.T - np.eye(10)) / np.sqrt(10.0))
    return errors


def measure_whitening(progress: Progress) -> list[str]:
    rows = []
    cells = [(kind, q) for kind in (Online, Neural) for q in (10, 14)]
    for kind, q in progress.track(cells, description="whitening"):
        errors = np.array([whiteness(kind, q, seed) for seed in SEEDS])
        columns = " | ".join(spread(list(column), 3) for column in errors.T)
        rows.append(f"| {kind.__name__.lower()} | {q} | {columns} |")
    return rows


def measure_movement(progress: Progress) -> list[str]:
    """Return rows: how far the network still moved, beside how well it had separated."""
    rows = []
    cells = [
        (3, 3000),
        (3, 100_000),
        (10, 3000),
        (10, 10_000),
        (10, 100_000),
        (30, 10_000),
        (30, 30_000),
        (30, 100_000),
    ]
    for d, n in progress.track(cells, description="movement"):
        reached, moved, said = [], [], 0
        for seed in SEEDS:
            mixture, bsm = mixture_of(sources.uniform, d, n, seed), BSM(schedule="paper", random_state=seed)
            reached.append(sir_of(bsm, mixture))
            moved.append(bsm.movement_)
            said += not bsm.converged_
        rows.append(f"| {d}, {n:,} | {spread(reached)} | {spread(moved, 2)} | {said} of {len(SEEDS)} |")
    return rows


def main() -> None:
    """Measure all and write the page."""
    with threadpool_limits(1), Progress(console=Console(stderr=True)) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is too short to settle is meant to be
        example_rows, rivals = measure_example(progress), measure_rivals(progress)
        sparse, nonnegative = measure_sparse(progress), measure_nonnegative(progress)
        whitening, movement = measure_whitening(progress), measure_movement(progress)
    lines = [
        "# Separation, measured",
        "",
        f"Measured by `make separation`, ten seeds a cell: median (least to largest). {machine.describe()}.",
        "SIR is in dB, total over the sources, of the linear map `components_`, with the paper's constant steps.",
        "",
        "## The paper's example",
        "",
        "Ten uniform sources, white by their true covariance, W = M = D = I.",
        "",
        "| samples | SIR |",
        "|---|---|",
        *example_rows,
        "",
        "## From raw mixtures, one pass",
        "",
        "Gaussian mixing matrices, whatever their condition. FastICA is scikit-learn's, on the same samples.",
        "",
        "| sources | how many, samples | BSM, exact | BSM, online | BSM, neural | FastICA, cube | FastICA, logcosh |",
        "|---|---|---|---|---|---|---|",
        *rivals,
        "",
        "## Sparse sources",
        "",
        "Three sources, 100k samples, exact whitening, by the threshold of the neurons (`sparsity`).",
        "",
        "| sources | BSM, 0 | BSM, 0.15 | BSM, 0.3 | FastICA, logcosh |",
        "|---|---|---|---|---|",
        *sparse,
        "",
        "## Nonnegative sources",
        "",
        "`NSM`, 100k samples, each source silent half of the time, Gaussian mixing.",
        "",
        "| sources | SIR |",
        "|---|---|",
        *nonnegative,
        "",
        "## How white it gets",
        "",
        "Ten sources, Gaussian mixing, an offset on every sensor: norm of the output's covariance, by the true mixing,",
        "less the identity, over the root of ten.",
        "",
        "| whitener | sensors | 1k samples | 10k | 100k |",
        "|---|---|---|---|---|",
        *whitening,
        "",
        "## What movement tells",
        "",
        "Uniform sources, exact whitening. The last column counts the runs that warned that they had not settled.",
        "",
        "| how many, samples | SIR | movement_ | warned |",
        "|---|---|---|---|",
        *movement,
        "",
    ]
    PAGE.write_text("\n".join(lines))
    Console().print("\n".join(lines), markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
