"""Theorem 1: the global optima of BSM, by search over orthogonal matrices; and where the statement fails.

Let the sources be of unit variance and fill the box ``low <= s <= high``, corners included, and let outputs be
``D^(1/2) y = G s`` with G orthogonal, as the constraint of BSM demands. Then the outputs stay within [-1, 1] if and
only if ``sqrt(D_ii)`` is at least the largest magnitude that row i of G reaches in the box.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from boundsep import mixing
from boundsep._style import COLOURS
from boundsep._types import Matrix, Vector
from boundsep.experiments.runner import Cell, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIM = "The global optima of BSM separate the sources, with gains that are the squares of their bounds."

COSTS: Final[dict[str, Callable[[Matrix], Any]]] = {
    "sum of D^2 (the paper)": lambda D: np.sum(D**2, axis=-1),
    "sum of D": lambda D: np.sum(D, axis=-1),
    "sum of log D": lambda D: np.sum(np.log(D), axis=-1),
}
ANGLES: Final = np.radians(np.linspace(0.0, 90.0, 1801))
BOUNDS: Final[dict[str, Callable[[int], Vector]]] = {
    "equal": lambda d: np.full(d, 1.7),
    "unequal": lambda d: np.geomspace(1.0, 8.0, d),
}


@dataclass(frozen=True)
class Settings:
    """How far to search."""

    sizes: tuple[int, ...] = (2, 3, 4)
    starts: int = 20  # a seed


FULL = Settings()
QUICK = Settings(sizes=(2, 3), starts=5)


def gains(G: Matrix, low: Vector, high: Vector, *, centred: bool = False) -> Vector:
    """Return the least D for which the outputs of G fit their box, about zero or each about its own middle."""
    top = np.maximum(G, 0.0) @ high + np.minimum(G, 0.0) @ low
    bottom = np.maximum(G, 0.0) @ low + np.minimum(G, 0.0) @ high
    reach = 0.5 * (top - bottom) if centred else np.maximum(top, -bottom)
    return reach**2


def rotations() -> Matrix:
    """Return the rotations of the plane by ANGLES; reflections and quarter turns change no cost."""
    c, s = np.cos(ANGLES), np.sin(ANGLES)
    return np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], -2)


def descend(G: Matrix, b: Vector, cost: str) -> tuple[Matrix, float]:
    """Turn pairs of rows by the best of all angles, until none makes the cost less; return G and its cost."""
    turns = rotations()
    best = float(COSTS[cost](gains(G, -b, b)))
    while True:
        before = best
        for i in range(len(b)):
            for j in range(i):
                pairs = turns @ G[[i, j]]
                rest = gains(np.delete(G, (i, j), axis=0), -b, b)
                D = np.concatenate([gains(pairs, -b, b), np.broadcast_to(rest, (len(turns), len(rest)))], axis=1)
                values = COSTS[cost](D)
                G = G.copy()
                G[[i, j]] = pairs[values.argmin()]
                best = float(values.min())
        if best >= before - 1e-12 * abs(before):
            return G, best


def cells(settings: Settings, n_seeds: int) -> list[Cell]:
    """One for each number of sources, kind of bounds, cost and seed."""
    return [
        {"d": d, "bounds": bounds, "cost": cost, "seed": seed}
        for d in settings.sizes
        for bounds in BOUNDS
        for cost in COSTS
        for seed in range(n_seeds)
    ]


def measure(settings: Settings, *, d: int, bounds: str, cost: str, seed: int) -> dict[str, Any]:
    """Descend from random orthogonal matrices; return where each ends, beside where the sources are separated."""
    b = BOUNDS[bounds](d)
    rng = np.random.default_rng(seed)
    ends = [descend(mixing.orthogonal(d, random_state=rng), b, cost) for _ in range(settings.starts)]
    largest = [float(np.abs(G).max(axis=1).min()) for G, _ in ends]  # 1: each row holds one source
    return {"found": [value for _, value in ends], "purity": largest, "separated": float(COSTS[cost](b**2))}


def judge(settings: Settings, results: Results) -> tuple[bool, str]:
    """Say that the claim holds where no search ends below the separated sources."""
    paper = next(iter(COSTS))
    lower: dict[tuple[str, str], int] = {}
    counts: dict[tuple[str, str], int] = {}
    for cell, r in results:
        key = cell["bounds"], cell["cost"]
        lower[key] = lower.get(key, 0) + sum(value < r["separated"] - 1e-9 for value in r["found"])
        counts[key] = counts.get(key, 0) + len(r["found"])
    others = sum(lower["unequal", cost] + lower["equal", cost] for cost in COSTS if cost != paper)
    total = sum(counts["unequal", cost] + counts["equal", cost] for cost in COSTS if cost != paper)
    return lower["unequal", paper] == 0, (
        f"{lower['equal', paper]} of {counts['equal', paper]} searches end below the separated sources with equal "
        f"bounds, {lower['unequal', paper]} of {counts['unequal', paper]} with bounds from 1 to 8; with the sum of D "
        f"or of log D in place of D^2, {others} of {total}"
    )


def draw(settings: Settings, results: Results) -> "Figure":
    """Draw the costs over the angle of a rotation of two sources, and where the searches ended."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 6.6), layout="constrained")
    axes = figure.subplot_mosaic([["equal", "unequal"], ["found equal", "found unequal"]])
    for panel in BOUNDS:
        b = BOUNDS[panel](2)
        for colour, (name, function) in zip(COLOURS, COSTS.items(), strict=False):
            values = function(np.array([gains(G, -b, b) for G in rotations()]))
            scaled = (values - values[0]) / np.abs(values - values[0]).max()
            axes[panel].plot(np.degrees(ANGLES), scaled, color=colour, label=name)
        axes[panel].axhline(0.0, color=COLOURS[7], linewidth=1.0, linestyle="--")
        axes[panel].set(
            title=f"Two sources, bounds {b[0]:g} and {b[1]:g}",
            xlabel="rotation from separated (degrees)",
            ylabel="cost above separated, scaled",
            xticks=(0, 15, 30, 45, 60, 75, 90),
            xlim=(0, 90),
        )
    axes["equal"].legend()
    for bounds in BOUNDS:
        found = axes[f"found {bounds}"]
        for number, (colour, cost) in enumerate(zip(COLOURS, COSTS, strict=False)):
            for place, d in enumerate(settings.sizes):
                of_size = [r for c, r in results if (c["d"], c["bounds"], c["cost"]) == (d, bounds, cost)]
                above = np.concatenate([(np.array(r["found"]) - r["separated"]) / abs(r["separated"]) for r in of_size])
                x = place + 0.25 * (number - 1) + np.linspace(-0.09, 0.09, len(above))
                found.plot(x, above, ".", color=colour, markersize=3.5, alpha=0.5)
        found.axhline(0.0, color=COLOURS[7], linewidth=1.0, linestyle="--")
        found.set(
            title=f"Where searches end, {bounds} bounds",
            xticks=range(len(settings.sizes)),
            xticklabels=[f"{d} sources" for d in settings.sizes],
            ylabel="relative cost above separated",
        )
    return figure
