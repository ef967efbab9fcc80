"""Nonnegative similarity matching, where BSM started from: what each of the two separates."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from boundsep import metrics, mixing, schedules, sources
from boundsep._style import COLOURS
from boundsep.experiments.drawing import curve_of_seeds
from boundsep.experiments.runner import Cell, Results
from boundsep.state import State
from boundsep.whitening import Fixed, moments

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIM = "Rectifying neurons separate nonnegative sources; sources of both signs take neurons that clip."
KINDS: Final = {"nonnegative sources": sources.nonnegative, "sources of both signs": sources.uniform}
METHODS: Final = ("NSM", "BSM")


@dataclass(frozen=True)
class Settings:
    """Sources, samples, and points of each curve."""

    n_sources: int = 5
    n_samples: int = 100_000
    n_points: int = 50


FULL = Settings()
QUICK = Settings(n_sources=3, n_samples=20_000, n_points=20)


def cells(settings: Settings, n_seeds: int) -> list[Cell]:
    """One for each kind of sources, method and seed."""
    return [{"kind": k, "method": m, "seed": seed} for k in KINDS for m in METHODS for seed in range(n_seeds)]


def measure(settings: Settings, *, kind: str, method: str, seed: int) -> dict[str, Any]:
    """Follow the SIR over the samples, from mixtures whitened by their own moments."""
    d, step = settings.n_sources, settings.n_samples // settings.n_points
    S = KINDS[kind](settings.n_samples, d, random_state=seed)
    mixture = mixing.mix(S, mixing.gaussian(d, d, random_state=1000 + seed))
    rectify = method == "NSM"
    rates = schedules.paper(4e-3, 0.0, 0.0, lower=0.0, upper=np.inf) if rectify else schedules.paper()
    whitener = Fixed.exact(*moments(mixture.X), d, keep_mean=rectify)
    state = State.start(d, d, whiten=whitener, rates=rates)
    curve = []
    for start in range(0, settings.n_samples, step):
        state.learn(mixture.X[start : start + step])
        curve.append(metrics.sir(state.components(), mixture.A, mixture.power).total)
    return {"sir": np.array(curve)}


def judge(settings: Settings, results: Results) -> tuple[bool, str]:
    """By the medians at the end of the curves."""
    ends = {
        (kind, method): float(
            np.median([r["sir"][-1] for c, r in results if (c["kind"], c["method"]) == (kind, method)])
        )
        for kind in KINDS
        for method in METHODS
    }
    holds = ends["nonnegative sources", "NSM"] > 30.0 and ends["sources of both signs", "BSM"] > 30.0
    holds = holds and ends["sources of both signs", "NSM"] < 15.0
    told = [f"{kind}: " + ", ".join(f"{m} {ends[kind, m]:.1f} dB" for m in METHODS) for kind in KINDS]
    return holds, "; ".join(told)


def draw(settings: Settings, results: Results) -> "Figure":
    """Draw the SIR of both methods over the samples, a panel a kind of sources."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    samples = np.linspace(0, settings.n_samples, settings.n_points + 1)[1:] / 1000.0
    for panel, kind in zip(panels, KINDS, strict=True):
        for colour, method in zip(COLOURS, METHODS, strict=False):
            curves = [r["sir"] for c, r in results if (c["kind"], c["method"]) == (kind, method)]
            curve_of_seeds(panel, samples, curves, colour, method)
        panel.set(title=f"{settings.n_sources} {kind}", xlabel="samples (thousands)", xlim=(0, samples[-1]))
    panels[0].set(ylabel="SIR, dB")
    panels[0].legend(title=f"median and 80 % of {len(curves)} seeds")
    return figure
