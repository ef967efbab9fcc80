"""The neurons and synapses as a value, and the one way they move: forward over a chunk.

How a record is cut into chunks changes no bit of it.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final, Self

import numpy as np

from boundsep import guard as g
from boundsep import kernels
from boundsep._types import Matrix, Vector

RETRY_AFTER: Final = 256.0  # samples settled by sweeps before the inverse of M is tried again
WORTH_MENDING: Final = 64.0  # an inverse that held for no longer than this is left alone so long


@dataclass(slots=True, eq=False)
class Neurons:
    """Weights W (d, q) and M (d, d), gains D (d,), the inverse P of M where the dynamics use it, and counts.

    ``P`` is empty where it is not used: sparse networks settle by sweeps, and the paper's differential equation
    by Euler steps. ``guard`` is the vector that ``guard.py`` describes; ``reach`` (d,) the largest input that each
    neuron's clip has seen lately, in units of its limit.
    """

    SHAPES: ClassVar = {
        "W": ("d", "q"),
        "M": ("d", "d"),
        "D": ("d",),
        "centre": ("d",),
        "P": ("d or 0", "d or 0"),
        "guard": (g.LENGTH,),
        "reach": ("d",),
    }

    W: Matrix
    M: Matrix
    D: Vector
    centre: Vector
    P: Matrix
    guard: Vector
    reach: Vector
    _work: Matrix = field(init=False, repr=False)

    def __post_init__(self) -> None:
        d, q = self.W.shape
        self._work = np.zeros((kernels.SCRATCH, max(d, q)))

    @classmethod
    def start(cls, n_outputs: int, n_inputs: int, *, limit: float = 1.0, inverse: bool = True) -> Self:
        """Return the state before the first sample: outputs that copy the inputs, in units of the limit."""
        d, q = n_outputs, n_inputs
        P = np.zeros((d, d) if inverse else (0, 0))
        neurons = cls(np.zeros((d, q)), np.zeros((d, d)), np.zeros(d), np.zeros(d), P, np.zeros(g.LENGTH), np.zeros(d))
        neurons._begin(limit)
        return neurons

    def _begin(self, limit: float, scale: float = 1.0) -> None:
        """Set the weights that a network begins with, for inputs of this scale."""
        d, q = self.W.shape
        self.W[:] = scale * limit * np.eye(d, q)
        self.M[:] = limit**2 * np.eye(d)
        self.D[:] = (scale / limit) ** 2
        self.centre[:] = 0.0
        if self.P.size:
            self.P[:] = np.eye(d) / limit**2

    def learn(self, X: Matrix, rates: Vector, *, euler: bool = False) -> Matrix:
        """Separate the rows of X (white, C-ordered float64) in turn, learning from each; return the outputs."""
        Y = np.empty((X.shape[0], len(self.D)))
        done = 0
        while done < X.shape[0]:
            resting = self.guard[g.RETRY] > 0.0  # the inverse is, and sweeps stand in for it
            end = X.shape[0] if not resting else min(X.shape[0], done + int(self.guard[g.RETRY]))
            P = residual = u = None
            if euler:
                u = np.zeros_like(self.D)
            elif resting or not self.P.size or rates[kernels.THRESHOLD] > 0.0:
                residual = self._work[kernels.PUSH, : len(self.D)]
            else:
                P = self.P
            rows = kernels.learn(
                X[done:end],
                Y[done:end],
                self.W,
                self.M,
                P,
                residual,
                u,
                self.D,
                self.centre,
                rates,
                self.guard,
                self.reach,
                self._work,
            )
            done += rows
            if resting:
                self.guard[g.RETRY] -= rows
            if self.guard[g.START_OVER] > 0.0:
                self.guard[g.START_OVER] = 0.0
                self._begin(float(rates[kernels.UPPER]), math.exp(0.5 * self.guard[g.LEVEL]))
            elif self.guard[g.REVIVE] > 0.0:
                self.guard[g.REVIVE] = 0.0
                self._revive()
            elif done < end or (resting and self.guard[g.RETRY] == 0.0):
                self._mend_inverse()
        return Y

    def _revive(self) -> None:
        """Turn the input synapses of neurons that never fire: what never drove them above zero will now."""
        for i in np.flatnonzero(self.reach < g.DEAF):
            scale = np.linalg.norm(self.W[i])
            self.W[i] *= -math.sqrt(self.guard[g.POWER]) / (scale if scale > 0.0 else 1.0)
            self.M[i] = self.M[:, i] = 0.0
            self.M[i, i] = self.guard[g.POWER]
            self.reach[i] = 1.0
        if self.P.size:
            self._mend_inverse()

    def _mend_inverse(self) -> None:
        """Invert M anew, or, where that did not hold for long, settle by sweeps for a while."""
        guard = self.guard
        guard[g.REPAIRED] += 1.0
        lasted = guard[g.HEARD] - guard[g.REPAIRED_AT]
        guard[g.REPAIRED_AT] = guard[g.HEARD]
        spread = np.linalg.eigvalsh(self.M)
        if lasted > WORTH_MENDING and spread[0] > kernels.SOUND * spread[-1]:
            P = np.linalg.inv(self.M)
            self.P[:] = 0.5 * (P + P.T)
        else:
            guard[g.RETRY] = RETRY_AFTER
            guard[g.COLLAPSED] = 1.0

    def unmixing(self) -> Matrix:
        """Return the linear map from (white) input to output, as it is while no neuron clips."""
        return np.linalg.lstsq(self.M, self.W)[0] / self.D[:, None]
