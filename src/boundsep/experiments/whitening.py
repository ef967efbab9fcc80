"""Whitening by local rules, and the whole chain from raw sensors to sources by local rules alone."""

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

CLAIM = "Whitening can be learnt by local rules, and the whole chain separates from raw sensors."
WAYS: Final = ("exact", "online", "neural")


@dataclass(frozen=True)
class Settings:
    """Sensors with an offset, and a mixing matrix of this condition."""

    n_sources: int = 10
    n_sensors: int = 14
    condition: float = 20.0
    n_samples: int = 100_000
    n_points: int = 50


FULL = Settings()
QUICK = Settings(n_sources=3, n_sensors=5, condition=10.0, n_samples=20_000, n_points=20)


def cells(settings: Settings, n_seeds: int) -> list[Cell]:
    """One for each whitener and seed."""
    return [{"whiten": way, "seed": seed} for way in WAYS for seed in range(n_seeds)]


def counts(settings: Settings) -> list[int]:
    """Return the sample counts of a curve, growing geometrically."""
    spaced = np.geomspace(30, settings.n_samples, settings.n_points)
    return sorted({int(count) for count in spaced})


def measure(settings: Settings, *, whiten: str, seed: int) -> dict[str, Any]:
    """Follow how white the network's input is, by the true mixing, and the SIR of the chain."""
    d, q = settings.n_sources, settings.n_sensors
    S = sources.uniform(settings.n_samples, d, random_state=seed)
    A = mixing.ill_conditioned(q, d, condition=settings.condition, random_state=1000 + seed)
    mixture = mixing.mix(S / S.std(axis=0), A)
    X = mixture.X + 5.0 * np.random.default_rng(2000 + seed).normal(size=q) * mixture.X.std()
    way = Fixed.exact(*moments(X), d) if whiten == "exact" else whiten
    state = State.start(d, q, whiten=way, rates=schedules.paper())
    errors, reached, done = [], [], 0
    for count in counts(settings):
        state.learn(X[done:count])
        done = count
        covariance = state.whitener.map @ A @ A.T @ state.whitener.map.T
        errors.append(np.linalg.norm(covariance - np.eye(d)) / np.sqrt(d))
        reached.append(metrics.sir(state.components(), A).total)
    return {"error": np.array(errors), "sir": np.array(reached)}


def judge(settings: Settings, results: Results) -> tuple[bool, str]:
    """By the medians at the end of the curves."""
    ends = {
        way: [np.median([r[name][-1] for c, r in results if c["whiten"] == way]) for name in ("error", "sir")]
        for way in WAYS
    }
    holds = bool(ends["neural"][0] < 0.15 and ends["neural"][1] > 25.0)
    return holds, "; ".join(f"{way}: {100 * e:.1f} % from white, SIR {sir:.1f} dB" for way, (e, sir) in ends.items())


def draw(settings: Settings, results: Results) -> "Figure":
    """Draw distance from white, and SIR, over the samples."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    samples = counts(settings)
    for colour, way in zip(COLOURS, WAYS, strict=False):
        of_way = [r for c, r in results if c["whiten"] == way]
        for panel, name in ((left, "error"), (right, "sir")):
            curve_of_seeds(panel, samples, [r[name] for r in of_way], colour, way)
    left.set(title="Distance from white", ylabel="norm of covariance less identity", xscale="log", yscale="log")
    right.set(title="The whole chain: SIR", ylabel="dB", xscale="log")
    left.legend(title=f"whitening; median and 80 % of {len(of_way)} seeds", loc="upper right")
    for panel in (left, right):
        panel.set(xlabel="samples", xlim=(samples[0], samples[-1]))
    return figure
