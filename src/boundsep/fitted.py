"""What a separator has learnt, as scikit-learn's attributes with a trailing underscore.

All are computed from the state when they are asked for: a stream of single samples does not pay for them.
"""

import math
from typing import Final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boundsep import _validation as v
from boundsep import guard as g
from boundsep import kernels
from boundsep._types import Matrix, Vector
from boundsep.state import State

POOR: Final = 10.0  # dB of estimated SIR below which nothing has been separated
STAGES: Final = ("constant", "separating", "settling", "sharpening", "separating again", "sharpening again")
ENOUGH: Final = 10.0  # learning needs about so many times the network's memory, 1/forgetting


class FittedAttributes:
    """The attributes of an estimator that holds a `State`."""

    state_: State
    tol: float

    @property
    def components_(self) -> Matrix:
        """The total linear map, of shape (n_components, n_features)."""
        return self._fitted().components()

    @property
    def mixing_(self) -> Matrix:
        """The pseudo-inverse of ``components_``, of shape (n_features, n_components)."""
        return np.asarray(np.linalg.pinv(self.components_), dtype=np.float64)

    @property
    def mean_(self) -> Vector:
        """The mean of the sensors, of shape (n_features,)."""
        return self._fitted().serving.mean.copy()

    @property
    def centre_(self) -> Vector:
        """The middle of each source's range, in the scale of ``components_``."""
        return self._fitted().centre()

    @property
    def estimated_sir_(self) -> float:
        """An estimate of the total SIR in dB, made without the truth."""
        return self._fitted().quality()

    @property
    def stage_(self) -> str:
        """What it is at: constant, separating, settling, sharpening, or separating sparse sources on trial."""
        return STAGES[self._fitted().course.stage]

    @property
    def whitening_(self) -> Matrix:
        """The whitening map, from sensors to the network's input."""
        return self._fitted().serving.map.copy()

    @property
    def W_(self) -> Matrix:
        """The feedforward synapses, of shape (n_components, inputs of the network)."""
        return self._fitted().neurons.W.copy()

    @property
    def M_(self) -> Matrix:
        """The lateral synapses, of shape (n_components, n_components)."""
        return self._fitted().neurons.M.copy()

    @property
    def D_(self) -> Vector:
        """The gains, of shape (n_components,)."""
        return self._fitted().neurons.D.copy()

    @property
    def n_samples_seen_(self) -> int:
        """How many samples it has learnt from, silent ones included."""
        return self._fitted().n_samples

    @property
    def clip_share_(self) -> float:
        """The share of outputs that were clipped while learning."""
        counts = self._fitted().guard
        return float(counts[g.CLIPPED] / max(1.0, counts[g.HEARD] * self._n_features_out))

    @property
    def sweeps_(self) -> float:
        """The mean number of sweeps (Euler steps, with ``dynamics="euler"``) that an output took to settle."""
        counts = self._fitted().neurons.guard
        return float(counts[g.SWEEPS] / max(1.0, counts[g.HEARD]))

    @property
    def movement_(self) -> float:
        """How far gains and map have moved over the last part (a third to a half) of the learning."""
        return self._fitted().movement()

    @property
    def converged_(self) -> bool:
        """Whether that is within ``tol``, after enough samples to tell, and whether it seems to have separated."""
        state = self._fitted()
        if state.course.tunes:
            enough = state.course.separated and self.estimated_sir_ >= POOR
        else:
            enough = state.n_samples >= self._needed()
        return enough and self.movement_ <= self.tol

    def _why_not(self, state: State) -> str:
        """Return the text of the warning that it has not converged."""
        owner = type(self).__name__
        if state.course.separated and self.estimated_sir_ < POOR:
            return v.not_separated(owner, self.estimated_sir_, state.n_samples)
        return v.not_settled(owner, self.movement_, self.tol, state.n_samples, self._needed(), state.course.tunes)

    @property
    def _n_features_out(self) -> int:
        return len(self._fitted().neurons.D)

    def _fitted(self) -> State:
        check_is_fitted(self)
        return self.state_

    def _needed(self) -> int:
        """Return how many samples learning takes at the least, with this memory."""
        state = self._fitted()
        if state.course.tunes and not state.course.separated:
            return state.n_samples + 1
        return math.ceil(ENOUGH / state.rates[kernels.FORGETTING])
