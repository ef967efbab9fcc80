"""Has it settled? What the network looked like before, and how far it has moved since.

Marks are taken at sample counts that grow by the root of two and the last two are kept. So the older one is always
from three to five tenths of the network's life ago, whatever the length of the stream.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np

from boundsep._types import Matrix, Vector

SPACING: Final = math.sqrt(2.0)
FIRST: Final = 16.0


@dataclass(slots=True, eq=False)
class Monitor:
    """The last two marks: their linear maps (2, d, q), gains (2, d), and the counts of samples they stand at.

    Counts begin at ``origin``, where the map was begun.
    """

    SHAPES: ClassVar = {"maps": (2, "d", "q"), "gains": (2, "d"), "at": (3,)}

    maps: Matrix
    gains: Matrix
    at: Vector  # the older mark, the newer, and the one to come
    origin: float = 0.0

    @classmethod
    def start(cls, n_outputs: int, n_inputs: int) -> Self:
        """Return the monitor before the first sample."""
        return cls(np.zeros((2, n_outputs, n_inputs)), np.ones((2, n_outputs)), np.array([0.0, 0.0, FIRST]))

    def begin(self, n_samples: int) -> None:
        """Forget the marks: another map begins here."""
        self.origin = float(n_samples)
        self.at[:] = self.origin, self.origin, self.origin + FIRST

    def mark(self, unmixing: Matrix, gains: Vector) -> None:
        """Note the network as it is at the mark that was due."""
        for kept, new in ((self.maps, unmixing), (self.gains, gains)):
            kept[0] = kept[1]
            kept[1] = new
        self.at[:2] = self.at[1:]
        self.at[2] = self.origin + math.ceil((self.at[1] - self.origin) * SPACING)

    def movement(self, unmixing: Matrix, gains: Vector) -> float:
        """Return how far the network has moved since the older mark: 0 not at all, 1 or more beyond knowing.

        The larger of two numbers: the most that any gain has changed, as a logarithm, and the sine of the
        largest angle that any row of the map has turned by.
        """
        if self.at[0] == self.origin:
            return math.inf
        turned = np.sqrt(np.maximum(0.0, turning(self.maps[0], unmixing)))
        changed = np.abs(np.log(gains / self.gains[0]))
        moved = float(max(turned.max(), changed.max()))
        return moved if math.isfinite(moved) else math.inf

    def turned(self, unmixing: Matrix) -> float:
        """Return by how much the map has turned since the older mark, as the SIR, in dB, that it had when it did.

        What was then a source's output is a mixture by the map of now: the energy that stayed over that which did not.
        The error of a map that learns falls, so that of now is no larger.
        """
        return agreement(self.maps[0], unmixing) if self.at[0] > self.origin else 0.0


def directions(unmixing: Matrix) -> Matrix:
    """Return the rows of a map, each of length one."""
    norms = np.linalg.norm(unmixing, axis=1, keepdims=True)
    return unmixing / np.where(norms > 0.0, norms, 1.0)


def turning(older: Matrix, newer: Matrix) -> Vector:
    """Return the squared sine of the angle between each row of one map and that of another."""
    return 1.0 - np.sum(directions(older) * directions(newer), axis=1) ** 2


def agreement(older: Matrix, newer: Matrix) -> float:
    """Return the energy that stays with its output from one map to another, over that which does not, in dB."""
    older, newer = directions(older), directions(newer)
    energy = (newer @ np.linalg.pinv(older)) ** 2
    stayed = float(np.trace(energy))
    left = max(float(energy.sum()) - stayed, 1e-30 * stayed)
    return 10.0 * math.log10(stayed / left) if stayed > 0.0 else 0.0
