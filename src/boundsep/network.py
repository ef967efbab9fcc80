"""BSM: the online separator of bounded signals."""

from typing import Any

import numpy as np

from boundsep import _validation as v
from boundsep import schedules
from boundsep._types import Vector
from boundsep.separator import OnlineSeparator


class BSM(OnlineSeparator):
    r"""Bounded similarity matching: separate bounded signals online, by local learning rules.

    A network of clipping neurons receives the whitened mixtures through feedforward synapses W, and its neurons
    inhibit each other through lateral synapses M. For each sample it settles by the dynamics of Eq. (17),

    .. math:: \dot u = -u + W x - (M - \mathrm{diag}(M)) D y, \qquad y_i = c(u_i / (M_{ii} D_{ii})),

    where c clips to [-limit, limit]; then every synapse learns from the two neurons that it joins, and every gain
    D from the balance of its neuron's excitation and inhibition. The sources must be bounded and uncorrelated;
    they may depend on each other. Neither their bounds nor their number of levels need be known.

    Parameters
    ----------
    n_components : int, default=None
        How many sources to separate; by default as many as X has independent channels.
    forgetting : float, default=4e-3
        :math:`1 - \gamma^2`: the share of its memory that the network gives up each sample. Smaller is more
        precise in the end and slower to learn.
    gain_step : float, default=1e-3
        :math:`\eta`: the step of the gains, stated for a limit of 1 (for another one it is :math:`\eta/T^4`).
    gain_leak : float, default=1e-6
        :math:`\beta`: the leak of the gains. It sets the precision that is reached in the end.
    schedule : {"paper"}, default="paper"
        How these three move with time: with "paper" they are constant.
    sparsity : float, default=0.0
        :math:`\lambda`: a soft threshold before the clip, for sparse sources and receptive fields.
    limit : float, default=1.0
        T: the outputs lie in [-T, T].
    whiten : {"exact", "online", "neural"} or None, default="exact"
        How the input is whitened. "exact": by mean and covariance of the record (of the first chunk, where a
        stream is learnt by `partial_fit`: let it be long). "online": by running mean and covariance, from the first
        sample on. "neural": by a second network with local rules, likewise. None: it is white already.
    dynamics : {"fixed_point", "euler"}, default="fixed_point"
        How an output settles: by solving for where the dynamics come to rest, or by integrating them to rest to
        the letter of the paper, which is slower.
    n_passes : int, default=1
        How often `fit` goes over the record.
    tol : float, default=0.2
        `fit` warns if gains or map moved by more than this over the last part of the learning.
    random_state : int, RandomState instance or None, default=None
        The order in which `fit` takes the samples.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The total linear map: ``transform(X) = (X - mean_) @ components_.T``, scaled so that each source fills
        [-limit, limit].
    mixing_ : ndarray of shape (n_features, n_components)
        Its pseudo-inverse.
    mean_ : ndarray of shape (n_features,)
        The mean of the sensors.
    whitening_ : ndarray of shape (n_components, n_features)
        The whitening map; with ``whiten=None`` the identity, of shape (n_features, n_features).
    W_, M_, D_ : ndarray of shape (n_components, n_components), the same, and (n_components,)
        Feedforward synapses (n_features of them a neuron with ``whiten=None``), lateral synapses, gains.
    n_samples_seen_ : int
        How many samples it has learnt from.
    clip_share_ : float
        The share of outputs that were clipped while learning.
    sweeps_ : float
        How many sweeps an output took to settle, in the mean.
    movement_, converged_ : float, bool
        How far gains and map moved over the last part of the learning, and whether that is within ``tol``.
    state_ : State
        The whole state. ``state_.learn(chunk)`` is `partial_fit_transform` without any check of its input.
    n_features_in_, feature_names_in_ : int, ndarray of str
        As everywhere in scikit-learn.

    Notes
    -----
    Steps (`forgetting`, `gain_step`, `gain_leak`) may be changed between the chunks of a stream, other parameters not.
    One estimator is for one thread; several in several threads run side by side, for the kernels release the GIL.
    `set_output` acts on `transform` and `fit_transform`, as everywhere in scikit-learn; the other verbs return arrays.

    References
    ----------
    A. T. Erdogan and C. Pehlevan, "Blind bounded source separation using neural networks with local learning
    rules", ICASSP 2020.

    Examples
    --------
    >>> from boundsep import BSM, mixing, sources
    >>> S = sources.uniform(50_000, 3, random_state=0)
    >>> mixture = mixing.mix(S, mixing.gaussian(3, 3, random_state=1))
    >>> bsm = BSM(random_state=0).fit(mixture.X)
    >>> from boundsep.metrics import sir
    >>> bool(sir(bsm.components_, mixture.A, mixture.power).total > 25.0)
    True

    A stream, sample by sample:

    >>> stream = BSM(n_components=3, whiten="online")
    >>> for chunk in mixture.X.reshape(50, 1000, 3):
    ...     separated = stream.partial_fit_transform(chunk)
    >>> bool(abs(separated).max() <= 1.0)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        forgetting: float = 4e-3,
        gain_step: float = 1e-3,
        gain_leak: float = 1e-6,
        schedule: str = "paper",
        sparsity: float = 0.0,
        limit: float = 1.0,
        whiten: str | None = "exact",
        dynamics: str = "fixed_point",
        n_passes: int = 1,
        tol: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.forgetting = forgetting
        self.gain_step = gain_step
        self.gain_leak = gain_leak
        self.schedule = schedule
        self.sparsity = sparsity
        self.limit = limit
        self.whiten = whiten
        self.dynamics = dynamics
        self.n_passes = n_passes
        self.tol = tol
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        v.check_real("BSM", "gain_step", self.gain_step, 0.0, 1.0, low_too=True)
        v.check_real("BSM", "gain_leak", self.gain_leak, 0.0, 1.0, low_too=True)
        v.check_option("BSM", "schedule", self.schedule, ("paper",))
        v.check_real("BSM", "sparsity", self.sparsity, 0.0, np.inf, low_too=True)
        v.check_real("BSM", "limit", self.limit, 1e-30, 1e30)
        v.check_option("BSM", "dynamics", self.dynamics, ("fixed_point", "euler"))

    def _rates(self) -> Vector:
        return schedules.paper(
            self.forgetting,
            self.gain_step / self.limit**4,  # the same course of learning in units of the limit
            self.gain_leak,
            sparsity=self.sparsity,
            lower=-self.limit,
            upper=self.limit,
        )

    def _by_euler(self) -> bool:
        return self.dynamics == "euler"
