"""Two errors in the paper's model, each by a small computation. ``make errata`` prints what docs/errata.md states."""

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import brentq

from boundsep.experiments.theorem import ANGLES, COSTS, gains, rotations


def best_angle(cost: str, low: np.ndarray, high: np.ndarray, *, centred: bool = False) -> tuple[float, float, float]:
    """Return the best angle in degrees, its cost, and the cost where the sources are separated."""
    values = COSTS[cost](np.array([gains(G, low, high, centred=centred) for G in rotations()]))
    return float(np.degrees(ANGLES[values.argmin()])), float(values.min()), float(values[0])


def ratio_that_flips() -> float:
    """Return the ratio r of two bounds beyond which the sum of D^2 is less at 45 degrees: (1 + r)^4 = 2 (1 + r^4)."""
    return float(brentq(lambda r: (1.0 + r) ** 4 - 2.0 * (1.0 + r**4), 2.0, 20.0))


def skewed(low: float, high: float) -> tuple[float, float]:
    """Return the bounds that the paper gives a source of unit variance, half its range, and the one it has."""
    return (high - low) / 2.0, max(-low, high)


def main() -> None:
    """Print both computations."""
    console = Console()
    unequal = (np.array([-1.0, -8.0]), np.array([1.0, 8.0]))
    skew = (np.array([-np.sqrt(3.0), -0.1]), np.array([np.sqrt(3.0), 10.0]))
    for title, (low, high), centred in (
        ("1. Bounds 1 and 8", unequal, False),
        ("2. Uniform and skewed, clipped about the mean", skew, False),
        ("2. Uniform and skewed, clipped about the middle", skew, True),
    ):
        table = Table("cost", "separated", "least", "at, degrees", title=title, title_justify="left")
        for cost in COSTS:
            angle, least, separated = best_angle(cost, low, high, centred=centred)
            table.add_row(cost, f"{separated:.6g}", f"{least:.6g}", f"{angle:.1f}")
        console.print(table)
    console.print(f"The sum of D^2 prefers a mixture beyond a ratio of bounds of {ratio_that_flips():.4f}")
    claimed, true = skewed(-0.1, 10.0)
    console.print(f"Skewed source in [-0.1, 10]: b by the paper {claimed:.4g}, largest magnitude {true:.4g}")


if __name__ == "__main__":
    main()
