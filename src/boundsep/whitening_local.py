"""The neural whitener: X -> x by Hebbian and anti-Hebbian synapses only, sample by sample.

Two layers after Pehlevan and Chklovskii (2015), "A normative theory of adaptive dimensionality reduction in
neural networks", behind sensors that adapt to their own mean and power:

* a subspace layer, similarity matching: feedforward V (Hebbian), lateral M (anti-Hebbian), at rest
  ``M h = V e``. Its outputs h span the strongest axes of the input;
* a whitening layer with lateral synapses L, at rest ``L x = h``. ``L <- L + step (x x' - I)`` rests where the
  outputs are white, and then L L is the covariance of h. The paper's interneurons are folded into L.

Each synapse learns from the two neurons that it joins. Not local are only how the resting states are
*computed*, by inverses that lag behind, refined until the state is at rest; and a cap on the size of the step
that all of L shares, so that the weakest axis is not overshot.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final, Self

import numpy as np

from boundsep import guard as g
from boundsep._compile import exact_kernel
from boundsep._types import Matrix, Vector
from boundsep.kernels import follow_inverse
from boundsep.whitening import MEMORY

STEP: Final = 1.5  # of L, in units of the forgetting
HEAD_START: Final = 6.0  # L starts as if so many samples a neuron had been seen
REFRESH: Final = 32  # the inverses are renewed when the memory has moved on by one part in so many
AT_REST: Final = 1e-10  # relative residual of a resting state
MOST_REFINEMENTS: Final = 20
FLOOR: Final = 1e-3  # smallest eigenvalue of L, about the root of a power, still taken for an axis of the input
PATIENCE: Final = 8.0  # no step takes more of the smallest eigenvalue of L than one part in so many

# Where each number stands in ``clock``.
SEEN: Final = 0
DUE: Final = 1  # SEEN at which the inverses are renewed
WEAKEST: Final = 2  # the smallest eigenvalue of L when they were last
SPENT: Final = 3  # how far it may have fallen since


@exact_kernel
def rest(state: Vector, pull: Vector, lateral: Matrix, inverse: Matrix, left: Vector) -> bool:
    """Solve ``lateral @ state = pull`` with an inverse that lags a little; say if it came to rest."""
    d = pull.shape[0]
    size = 0.0
    for i in range(d):
        state[i] = 0.0
        left[i] = pull[i]
        size = max(size, abs(pull[i]))
    for _ in range(MOST_REFINEMENTS):
        for i in range(d):
            change = 0.0
            for j in range(d):
                change += inverse[i, j] * left[j]
            state[i] += change
        worst = 0.0
        for i in range(d):
            residual = pull[i]
            for j in range(d):
                residual -= lateral[i, j] * state[j]
            left[i] = residual
            worst = max(worst, abs(residual))
        if worst <= AT_REST * size:
            return True
    return False


@exact_kernel
def grow_inverse(inverse: Matrix, x: Vector, k: Vector, step: float) -> None:
    """Sherman-Morrison: the inverse of L after ``L <- L + step x x'``."""
    d = x.shape[0]
    energy = 0.0
    for i in range(d):
        state = 0.0
        for j in range(d):
            state += inverse[i, j] * x[j]
        k[i] = state
        energy += state * x[i]
    scale = math.sqrt(step / (1.0 + step * energy))
    for i in range(d):
        k[i] *= scale
    for i in range(d):
        for j in range(d):
            inverse[i, j] -= k[i] * k[j]


@exact_kernel
def follow_locally(
    X: Matrix,
    Z: Matrix,
    mean: Vector,
    power: Vector,
    V: Matrix,
    M: Matrix,
    M_inverse: Matrix,
    L: Matrix,
    L_inverse: Matrix,
    clock: Vector,
    forgetting: float,
    kept: float,
    guard: Vector,
    work: Matrix,
) -> int:
    """Whiten the rows of X into Z and learn from each; stop where the inverses are due, or no longer serve."""
    d, q = V.shape
    pull, h, x, left, e, offset = work[0, :d], work[1, :d], work[2, :d], work[3, :d], work[4, :q], work[5, :d]
    for t in range(X.shape[0]):
        size = 0.0
        for j in range(q):
            size += abs(X[t, j])
        # A dropout has nothing to teach; but where means count, a sample of zeros is one like any other.
        if not size < math.inf or (size == 0.0 and kept == 0.0):
            for i in range(d):
                Z[t, i] = 0.0 * size
            continue
        if clock[SEEN] >= clock[DUE]:
            return t

        # The sensors: each takes off its own mean and brings itself to unit power.
        loudness, varied = 0.0, 0.0
        for j in range(q):
            e[j] = X[t, j] - mean[j]
            varied += abs(e[j])
            loudness += e[j] * e[j] / power[j] if power[j] > 0.0 else 0.0
        if clock[SEEN] == 1.0 and varied == 0.0:  # as long as nothing varies, the stream has not begun
            for i in range(d):
                Z[t, i] = 0.0
            continue
        clock[SEEN] += 1.0
        w = max(forgetting, 1.0 / clock[SEEN])
        quieter = g.admit(loudness / q, guard, forgetting, False, g.RARE) if loudness > 0.0 else 1.0
        if quieter < 1.0:
            w = 0.0  # a burst teaches nothing
        for j in range(q):
            scaled = quieter * e[j]
            mean[j] += w * scaled
            power[j] = (1.0 - w) * (power[j] + w * scaled * scaled)
            e[j] = scaled / math.sqrt(power[j]) if power[j] > 0.0 else 0.0

        # Both layers come to rest.
        for i in range(d):
            drive = 0.0
            for j in range(q):
                drive += V[i, j] * e[j]
            pull[i] = drive
        at_rest = rest(h, pull, M, M_inverse, left) and rest(x, h, L, L_inverse, left)
        for i in range(d):
            Z[t, i] = x[i] / quieter
        if kept > 0.0:
            for i in range(d):
                drive = 0.0
                for j in range(q):
                    drive += V[i, j] * mean[j] / math.sqrt(power[j]) if power[j] > 0.0 else 0.0
                pull[i] = drive
            rest(left, pull, M, M_inverse, offset)
            rest(pull, left, L, L_inverse, offset)
            for i in range(d):
                Z[t, i] += pull[i]

        if quieter < 1.0:
            continue

        # Every synapse learns from the two neurons that it joins.
        slow = max(forgetting, 1.0 / (clock[SEEN] + HEAD_START))
        step = STEP * max(forgetting, 1.0 / (clock[SEEN] + HEAD_START * d))
        step = min(step, clock[WEAKEST] / PATIENCE)
        clock[SPENT] += step
        for i in range(d):
            for j in range(q):
                V[i, j] += slow * (h[i] * e[j] - V[i, j])
            for j in range(d):
                M[i, j] += slow * (h[i] * h[j] - M[i, j])
                L[i, j] += step * (x[i] * x[j])
            L[i, i] -= step

        # The inverses follow what grew; what shrank is left to the refinement.
        follow_inverse(M_inverse, h, left, slow)
        grow_inverse(L_inverse, x, left, step)
        if not at_rest or clock[SPENT] > 0.5 * clock[WEAKEST]:
            clock[DUE] = clock[SEEN]
    return X.shape[0]


@dataclass(slots=True, eq=False)
class Neural:
    """The two layers as a value: synapses, the sensors' mean and power, and the clock.

    ``rank`` tells how many axes of the input had power when the inverses were last renewed.
    """

    SHAPES: ClassVar = {
        "mean": ("n",),
        "power": ("n",),
        "V": ("q", "n"),
        "M": ("q", "q"),
        "L": ("q", "q"),
        "M_inverse": ("q", "q"),
        "L_inverse": ("q", "q"),
        "clock": (4,),
        "guard": (g.LENGTH,),
    }

    mean: Vector
    power: Vector
    V: Matrix
    M: Matrix
    L: Matrix
    M_inverse: Matrix
    L_inverse: Matrix
    clock: Vector
    guard: Vector
    forgetting: float
    keep_mean: bool = False
    rank: int = 0
    _work: Matrix = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._work = np.zeros((6, self.V.shape[1]))

    @classmethod
    def start(cls, n_components: int, n_features: int, forgetting: float, *, keep_mean: bool = False) -> Self:
        """Return the whitener before the first sample of a network that forgets at this rate.

        V starts with cosines as its rows: orthogonal, and no sensor without a synapse.
        """
        order, place = np.ogrid[:n_components, :n_features]
        V = np.cos(np.pi * order * (place + 0.5) / n_features) * np.sqrt(2.0 / n_features)
        V[0] *= np.sqrt(0.5)
        one = np.eye(n_components)
        return cls(
            np.zeros(n_features),
            np.zeros(n_features),
            V,
            one.copy(),
            one.copy(),
            one.copy(),
            one.copy(),
            np.zeros(4),
            np.zeros(g.LENGTH),
            forgetting / MEMORY,
            keep_mean,
            n_components,
        )

    @property
    def map(self) -> Matrix:
        """Return the linear map of all three stages together."""
        heard = self.power > 0.0
        sensors = np.where(heard, 1.0 / np.sqrt(np.where(heard, self.power, 1.0)), 0.0)
        return np.linalg.solve(self.L, np.linalg.solve(self.M, self.V)) * sensors

    def learn(self, X: Matrix) -> Matrix:
        """Whiten the rows of X in turn, learning from each."""
        Z = np.empty((X.shape[0], self.V.shape[0]))
        done = 0
        while done < X.shape[0]:
            done += follow_locally(
                X[done:],
                Z[done:],
                self.mean,
                self.power,
                self.V,
                self.M,
                self.M_inverse,
                self.L,
                self.L_inverse,
                self.clock,
                self.forgetting,
                float(self.keep_mean),
                self.guard,
                self._work,
            )
            if done < X.shape[0]:
                self._renew()
        return Z

    def _renew(self) -> None:
        """Invert both lateral matrices; axes without power are kept from dying out, so that inverses exist."""
        seen = self.clock[SEEN]
        self.clock[DUE] = seen + max(1.0, np.floor(min(seen, 1.0 / self.forgetting) / REFRESH))
        subspace = _invert(self.M, self.M_inverse, FLOOR**2)
        layer = _invert(self.L, self.L_inverse, FLOOR)
        self.clock[WEAKEST], self.clock[SPENT] = layer[0], 0.0
        self.rank = int(min(np.sum(subspace > FLOOR**2), np.sum(layer > FLOOR)))


def _invert(lateral: Matrix, inverse: Matrix, floor: float) -> Vector:
    """Invert in place; eigenvalues below the floor are lifted to it. Return the eigenvalues, rising."""
    eigenvalues, axes = np.linalg.eigh(lateral)
    if eigenvalues[0] < floor:
        eigenvalues = np.maximum(eigenvalues, floor)
        lifted = (axes * eigenvalues) @ axes.T
        lateral[:] = 0.5 * (lifted + lifted.T)
    inverse[:] = (axes / eigenvalues) @ axes.T
    return eigenvalues
