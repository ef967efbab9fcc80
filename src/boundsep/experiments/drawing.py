"""What several figures draw alike."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curve_of_seeds(panel: "Axes", x: ArrayLike, curves: ArrayLike, colour: str, label: str, line: str = "-") -> None:
    """Draw the median of curves, one a seed, and where 80 % of them run."""
    each: Any = np.asarray(curves)
    panel.plot(x, np.median(each, axis=0), line, color=colour, label=label)
    low, high = np.quantile(each, [0.1, 0.9], axis=0)
    panel.fill_between(np.asarray(x), low, high, color=colour, alpha=0.15, linewidth=0)
