"""Why the learning is as it is: when stage one is done, and which form of stage two. Writes into docs/learning.md."""

import re
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import Progress

from benchmarks import cells as grid
from benchmarks import forms, machine
from benchmarks.accuracy import spread
from boundsep import State, course, metrics, mixing, sources
from boundsep import guard as g
from boundsep._style import COLOURS, STYLE
from boundsep.monitor import turning
from boundsep.whitening import Fixed, moments

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "learning.md"
FIGURE = ROOT / "docs" / "figures" / "learning.png"
SEEDS = range(2000, 2010)
KINDS = {
    "uniform, 3": (sources.uniform, 3, 5000),
    "uniform, 10": (sources.uniform, 10, 20_000),
    "uniform, 30": (sources.uniform, 30, 60_000),
    "4-PAM, 5": (sources.pam, 5, 10_000),
    "clipped Gaussian, 5": (sources.clipped_gaussian, 5, 10_000),
    "shared amplitude, 5": (sources.shared_amplitude, 5, 20_000),
    "X shape, 5": (sources.x_shape, 5, 10_000),
    "copula, rho 0.2, 5": (partial(sources.copula, rho=0.2), 5, 10_000),
    "l1 ball, 10 % corners, 5": (partial(sources.l1_ball, corners=0.1), 5, 40_000),
    "l1 ball, 2 % corners, 5": (sources.l1_ball, 5, 60_000),
    "truncated Laplace, 5": (partial(sources.sparse, kind="laplace"), 5, 40_000),
}
FORMS = {
    "kept: along V'y, by hits": (False, False, False),
    "along x, by hits": (True, False, False),
    "along V'y, by the clock": (False, True, False),
    "along V'y, by hits, gated": (False, False, True),
}


def true_sir(state: State, mixture: mixing.Mixture) -> float:
    return metrics.sir(state.components(), mixture.A, mixture.power).total


def switch(kind, d: int, n: int, seed: int) -> tuple[float, float, float]:
    """Return when a stream's stage one ends, the SIR then, and when the SIR first was 15 dB."""
    mixture = grid.mixture_of(kind, d, n, seed)
    state, first, step = State.start(d, d), np.inf, max(50, d * d // 2)
    while state.course.stage == course.SEPARATING and state.n_samples < n:
        state.learn(mixture.X[state.n_samples : state.n_samples + step])
        if first == np.inf and state.course.stage == course.SEPARATING and true_sir(state, mixture) > 15.0:
            first = state.n_samples
    return float(state.n_samples), true_sir(state, mixture), float(first)


def signals(kind, d: int, n: int, seed: int) -> np.ndarray:
    """Return rows: samples, SIR, and what stage one sees: turning in dB, clip rate, largest clip input, gains' rise."""
    mixture = grid.mixture_of(kind, d, n, seed)
    state = State.start(d, d, whiten=Fixed.exact(*moments(mixture.X), d), sharpen=False)
    state.course.due = 2**62  # the steps stay as they are
    rows, marks, at = [], [], float(max(60, d * d))
    counted = heard = 0.0
    while at <= n:
        state.learn(mixture.X[state.n_samples : int(at)])
        counts = state.neurons.guard
        clipped = (counts[g.CLIPPED] - counted) / (counts[g.HEARD] - heard) / d
        counted, heard = counts[g.CLIPPED], counts[g.HEARD]
        marks.append((state.neurons.unmixing(), np.log(state.neurons.D).mean()))
        if len(marks) > 2:
            older, gains = marks[-3]
            turned = np.mean(turning(older, marks[-1][0]))
            rise = marks[-1][1] - gains
            reach = state.neurons.reach.mean()
            rows.append((at, true_sir(state, mixture), -10.0 * np.log10(turned), clipped, reach, rise))
        at *= course.APART
    return np.array(rows)


def sharpened(form: tuple[bool, bool, bool], S: np.ndarray, seed: int, off: float, snr: float = np.inf) -> float:
    """Return the SIR (in noise the SINR) that a form of stage two reaches from a map that is so many dB off."""
    d = S.shape[1]
    mixture = mixing.mix(S, mixing.gaussian(d, d, random_state=seed), snr=snr, random_state=seed)
    whitener = Fixed.exact(*moments(mixture.X), d)
    X = np.ascontiguousarray(whitener.learn(mixture.X))
    rng = np.random.default_rng(seed)
    X = X[rng.permutation(len(X))]
    true = np.linalg.inv(whitener.map @ mixture.A)
    true /= np.linalg.norm(true, axis=1, keepdims=True)
    V = (np.eye(d) + 10.0 ** (-off / 20.0) * rng.normal(size=(d, d)) / np.sqrt(d)) @ true
    Y = X[:1000] @ V.T
    low, high = np.quantile(Y, [0.01, 0.99], axis=0)
    V *= (2.0 / (high - low))[:, None]
    centre = (high + low) / (high - low)
    forms.sharpen(X, V, centre, *form)
    components = V @ whitener.map
    if np.isfinite(snr):
        return metrics.sinr(mixture.S, mixture.X @ components.T).total
    return metrics.sir(components, mixture.A, mixture.power).total


def rows_of_switch(progress: Progress) -> list[str]:
    lines = ["| sources | true SIR first above 15 dB | stage one ends | SIR then |", "|---|---|---|---|"]
    for name, (kind, d, n) in progress.track(KINDS.items(), description="switch"):
        found = np.array([switch(kind, d, n, seed) for seed in SEEDS])
        first = np.median(found[:, 2])
        told = f"{first:,.0f}" if np.isfinite(first) else "not by then"
        ends = f"{np.median(found[:, 0]):,.0f} ({found[:, 0].min():,.0f} to {found[:, 0].max():,.0f})"
        lines.append(f"| {name} | {told} | {ends} | {spread(found[:, 1])} |")
    return lines


def rows_of_forms(progress: Progress) -> list[str]:
    data = {
        "uniform, 10, 100k": (lambda s: sources.uniform(100_000, 10, random_state=s), 20.0, np.inf),
        "uniform, 10, 10k": (lambda s: sources.uniform(10_000, 10, random_state=s), 20.0, np.inf),
        "... from 6 dB": (lambda s: sources.uniform(10_000, 10, random_state=s), 6.0, np.inf),
        "4-PAM, 5, 20k": (lambda s: sources.pam(20_000, 5, random_state=s), 20.0, np.inf),
        "shared amplitude, 5, 50k": (lambda s: sources.shared_amplitude(50_000, 5, random_state=s), 20.0, np.inf),
        "copula, rho 0.5, 5, 50k": (lambda s: sources.copula(50_000, 5, rho=0.5, random_state=s), 10.0, np.inf),
        "photographs": (lambda s: grid.photographs(grid.FILLED, s - SEEDS[0]).S, 15.0, np.inf),
        "uniform, 5, 100k, 40 dB: SINR": (lambda s: sources.uniform(100_000, 5, random_state=s), 20.0, 40.0),
        "uniform, 5, 100k, 20 dB: SINR": (lambda s: sources.uniform(100_000, 5, random_state=s), 20.0, 20.0),
    }
    lines = ["| |" + "".join(f" {name} |" for name in FORMS), "|---|" + "---|" * len(FORMS)]
    for name, (make, off, snr) in progress.track(data.items(), description="forms"):
        columns = [[sharpened(form, make(seed), seed, off, snr) for seed in SEEDS] for form in FORMS.values()]
        lines.append(f"| {name} | " + " | ".join(spread(np.array(values)) for values in columns) + " |")
    return lines


def draw() -> None:
    """Draw what stage one sees against how far it has come."""
    shown = ("uniform, 3", "uniform, 10", "uniform, 30", "shared amplitude, 5", "copula, rho 0.2, 5")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 3.4), layout="constrained")
        panels = figure.subplots(1, 4)
        titles = ("Turning of the map, dB", "Share of outputs clipped", "Largest clip input", "Rise of the gains")
        for colour, name in zip(COLOURS, shown, strict=False):
            kind, d, n = KINDS[name]
            for seed in SEEDS[:4]:
                rows = signals(kind, d, n, seed)
                for axes, column in zip(panels, rows.T[2:], strict=True):
                    label = name if seed == SEEDS[0] else None
                    axes.plot(rows[:, 1], column, ".", color=colour, markersize=4, alpha=0.7, label=label)
        panels[0].axhline(-10.0 * np.log10(course.STILL), color=COLOURS[6], linewidth=0.8)
        for axes, title in zip(panels, titles, strict=True):
            axes.set(title=title, xlabel="true SIR, dB")
        panels[0].legend(fontsize=7)
        figure.savefig(FIGURE)


def main() -> None:
    """Measure, and write tables and figure."""
    with Progress(console=Console(stderr=True)) as progress:
        tables = {"switch": rows_of_switch(progress), "forms": rows_of_forms(progress)}
    draw()
    text = PAGE.read_text()
    for name, lines in tables.items():
        block = "\n".join([f"<!-- make learning: {name} -->", "", *lines, "", "<!-- end -->"])
        text = re.sub(rf"<!-- make learning: {name} -->.*?<!-- end -->", lambda _, b=block: b, text, flags=re.DOTALL)
    text = re.sub(r"<!-- machine -->.*", f"<!-- machine --> {machine.describe()}.", text)
    PAGE.write_text(text)
    Console().print("\n".join(line for lines in tables.values() for line in lines), markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
