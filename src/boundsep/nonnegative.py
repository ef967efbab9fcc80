"""NSM: nonnegative similarity matching, where bounded similarity matching started from."""

from typing import Any

import numpy as np

from boundsep import _validation as v
from boundsep import schedules
from boundsep._types import Vector
from boundsep.separator import OnlineSeparator
from boundsep.state import State
from boundsep.whitening import Fixed


class NSM(OnlineSeparator):
    r"""Nonnegative similarity matching: separate nonnegative sources online, by local learning rules.

    The paper's Eq. (4) and its starting point. The neurons rectify in place of clipping, the gains are one, and the
    whitening keeps the mean, which carries what is known of the sources: that they are not negative. They must
    be uncorrelated, and each must come close to zero now and then.

    Parameters
    ----------
    n_components : int, default=None
        How many sources to separate; by default as many as X has independent channels.
    forgetting : float, default=4e-3
        The share of its memory that the network gives up each sample.
    whiten : {"auto", "exact", "online", "neural"} or None, default="auto"
        How the input is whitened; see `BSM`.
    n_passes : int or "auto", default="auto"
        How often `fit` goes over the record; by default once.
    tol : float, default=0.2
        `fit` warns if the map moved by more than this over the last part of the learning.
    random_state : int, RandomState instance or None, default=None
        The order in which `fit` takes the samples.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The total linear map: ``transform(X) = X @ components_.T``. The mean is kept: sources come out nonnegative.
    mixing_ : ndarray of shape (n_features, n_components)
        Its pseudo-inverse.
    mean_ : ndarray of shape (n_features,)
        The mean of the sensors; it is not taken off.
    whitening_ : ndarray of shape (n_components, n_features)
        The whitening map.
    W_, M_, D_ : ndarray of shape (n_components, n_components), the same, and (n_components,)
        Feedforward synapses, lateral synapses, gains (all one).
    n_samples_seen_, clip_share_, sweeps_, movement_, converged_, state_, n_features_in_, feature_names_in_
        As in `BSM`; ``clip_share_`` is the share of outputs at zero.

    References
    ----------
    C. Pehlevan, S. Mohan and D. B. Chklovskii, "Blind nonnegative source separation using biological neural
    networks", Neural Computation 29, 2017.

    Examples
    --------
    >>> from boundsep import NSM, mixing, sources
    >>> S = sources.nonnegative(50_000, 3, random_state=0)
    >>> mixture = mixing.mix(S, mixing.gaussian(3, 3, random_state=1))
    >>> nsm = NSM(random_state=0).fit(mixture.X)
    >>> from boundsep.metrics import sir
    >>> bool(sir(nsm.components_, mixture.A, mixture.power).total > 20.0)
    True
    """

    _keep_mean = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        forgetting: float = 4e-3,
        whiten: str | None = "auto",
        n_passes: int | str = "auto",
        tol: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.forgetting = forgetting
        self.whiten = whiten
        self.n_passes = n_passes
        self.tol = tol
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        v.check_real("NSM", "forgetting", self.forgetting, 0.0, 1.0)

    def _begun(self, d: int, q: int, whiten: str | Fixed | None, n_samples: int, n_passes: int) -> State:
        return State.start(d, q, whiten=whiten, rates=self._rates(), keep_mean=True)

    def _change(self, state: State) -> None:
        state.set_rates(self._rates())

    def _rates(self) -> Vector:
        return schedules.paper(self.forgetting, 0.0, 0.0, lower=0.0, upper=np.inf)
