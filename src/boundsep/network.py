"""BSM: the online separator of bounded signals."""

from typing import Any, Final

import numpy as np

from boundsep import _validation as v
from boundsep import schedules
from boundsep._types import Vector
from boundsep.separator import OnlineSeparator
from boundsep.state import State
from boundsep.whitening import Fixed

STEPS: Final = {"forgetting": 4e-3, "gain_step": 1e-3, "gain_leak": 1e-6}  # the paper's
FEW, FEW_SQUARED = (
    100_000,
    100,
)  # a record of fewer samples, or of fewer for each pair of components, is gone over again
MOST_PASSES: Final = 100


class BSM(OnlineSeparator):
    r"""Bounded similarity matching: separate bounded signals online, by local learning rules.

    A network of clipping neurons receives the whitened mixtures through feedforward synapses W, and its neurons
    inhibit each other through lateral synapses M. For each sample it settles by the dynamics of Eq. (17),

    .. math:: \dot u = -u + W x - (M - \mathrm{diag}(M)) D y, \qquad y_i = c(u_i / (M_{ii} D_{ii})),

    where c clips to [-limit, limit]; then every synapse learns from the two neurons that it joins, and every gain
    D from the balance of its neuron's excitation and inhibition. The sources must be bounded and uncorrelated;
    they may depend on each other. Neither their bounds nor their number of levels need be known.

    Learning has two stages. In the first the network separates. When it sees that its map no longer turns, the second
    begins: the outputs fill a box, and its faces are sharpened. Both learn by local rules; ``docs/learning.md``
    derives them.

    Parameters
    ----------
    n_components : int, default=None
        How many sources to separate; by default as many as X has independent channels.
    schedule : {"auto", "paper"}, default="auto"
        "auto": the network finds its steps, by the number of sources and by what it sees, and goes from stage to stage
        by itself. "paper": constant steps, stage one only, as in the paper.
    sharpen : bool, default=True
        Whether stage two follows. Without it the steps of stage one fall, once it has separated.
    tracking : int, default=None
        How many samples to remember, for a mixing that drifts. By default the network finds out: faces that are hit
        harder than they used to be tell it that the mixing has moved.
    forgetting, gain_step, gain_leak : float, default=None
        For ``schedule="paper"``: :math:`1 - \gamma^2`, the share of its memory that the network gives up each sample
        (there 4e-3); :math:`\eta`, the step of the gains, stated for a limit of 1 (1e-3); :math:`\beta`, their
        leak (1e-6).
    leak : {"quadratic", "linear", "log"}, default=None
        What the leak descends on: the sum of the squared gains (the paper's law, and the default of its schedule), of
        the gains, or of their logarithms, which is free of scale (the default of "auto").
    sparsity : float, default=0.0
        :math:`\lambda`: a soft threshold before the clip, for sparse sources and receptive fields. With "auto" the
        network tries one by itself where its outputs are peaked.
    limit : float, default=1.0
        T: the outputs lie in [-T, T].
    whiten : {"auto", "exact", "online", "neural"} or None, default="auto"
        How the input is whitened. "exact": by mean and covariance of the record (of the first chunk, where a
        stream is learnt by `partial_fit`: let it be long). "online": by running mean and covariance, from the first
        sample on. "neural": by a second network with local rules, likewise. "auto": "exact" for a record, "online" for
        a stream. None: it is white already. In stage two the whitening stays as it is.
    dynamics : {"fixed_point", "euler"}, default="fixed_point"
        How an output of stage one settles: by solving for where the dynamics come to rest, or by integrating them to
        rest to the letter of the paper, which is slower.
    n_passes : int or "auto", default="auto"
        How often `fit` goes over the record; by default as often as a short one needs.
    tol : float, default=0.2
        `fit` warns if gains or map moved by more than this over the last part of the learning.
    random_state : int, RandomState instance or None, default=None
        The order in which `fit` takes the samples.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The total linear map: ``transform(X) = (X - mean_) @ components_.T - centre_``, scaled so that each source
        fills [-limit, limit].
    centre_ : ndarray of shape (n_components,)
        The middle of each source's range, in that scale: zero with ``schedule="paper"``.
    mixing_ : ndarray of shape (n_features, n_components)
        Its pseudo-inverse.
    mean_ : ndarray of shape (n_features,)
        The mean of the sensors.
    whitening_ : ndarray of shape (n_components, n_features)
        The whitening map; with ``whiten=None`` the identity, of shape (n_features, n_features).
    W_, M_, D_ : ndarray of shape (n_components, n_components), the same, and (n_components,)
        Feedforward synapses (n_features of them a neuron with ``whiten=None``), lateral synapses, gains: of stage one.
    n_samples_seen_ : int
        How many samples it has learnt from.
    clip_share_ : float
        The share of outputs that were clipped while learning.
    sweeps_ : float
        How many sweeps an output took to settle, in the mean.
    movement_, converged_ : float, bool
        How far gains and map moved over the last part of the learning; whether that is within ``tol`` and the network
        seems to have separated.
    estimated_sir_ : float
        The total SIR in dB as the network itself estimates it, without the truth: see ``docs/learning.md``.
    stage_ : str
        "constant", "separating", "settling", "sharpening", or again the first or last of these, on trial.
    state_ : State
        The whole state. ``state_.learn(chunk)`` is `partial_fit_transform` without any check of its input.
    n_features_in_, feature_names_in_ : int, ndarray of str
        As everywhere in scikit-learn.

    Notes
    -----
    Steps (`forgetting`, `gain_step`, `gain_leak`) and `tracking` may be changed between the chunks of a stream, other
    parameters not.
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
    >>> bool(sir(bsm.components_, mixture.A, mixture.power).total > 45.0)
    True

    A stream, sample by sample:

    >>> stream = BSM(n_components=3)
    >>> for chunk in mixture.X.reshape(50, 1000, 3):
    ...     separated = stream.partial_fit_transform(chunk)
    >>> bool(abs(separated).max() <= 1.0), stream.stage_
    (True, 'sharpening')
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        schedule: str = "auto",
        sharpen: bool = True,
        tracking: int | None = None,
        forgetting: float | None = None,
        gain_step: float | None = None,
        gain_leak: float | None = None,
        leak: str | None = None,
        sparsity: float = 0.0,
        limit: float = 1.0,
        whiten: str | None = "auto",
        dynamics: str = "fixed_point",
        n_passes: int | str = "auto",
        tol: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.schedule = schedule
        self.sharpen = sharpen
        self.tracking = tracking
        self.forgetting = forgetting
        self.gain_step = gain_step
        self.gain_leak = gain_leak
        self.leak = leak
        self.sparsity = sparsity
        self.limit = limit
        self.whiten = whiten
        self.dynamics = dynamics
        self.n_passes = n_passes
        self.tol = tol
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        v.check_option("BSM", "schedule", self.schedule, ("auto", "paper"))
        v.check_flag("BSM", "sharpen", self.sharpen)
        v.check_count("BSM", "tracking", self.tracking, none=True)
        for name, default in STEPS.items():
            value = getattr(self, name)
            if value is not None and self.schedule == "auto":
                raise ValueError(v.finds_itself("BSM", name, value))
            v.check_real("BSM", name, default if value is None else value, 0.0, 1.0, low_too=name != "forgetting")
        if self.tracking is not None and self.schedule == "paper":
            raise ValueError(v.tracks_only_by_auto("BSM", self.tracking))
        v.check_option("BSM", "leak", self.leak, (*schedules.LEAKS, None))
        v.check_real("BSM", "sparsity", self.sparsity, 0.0, np.inf, low_too=True)
        v.check_real("BSM", "limit", self.limit, 1e-30, 1e30)
        v.check_option("BSM", "dynamics", self.dynamics, ("fixed_point", "euler"))

    def _begun(self, d: int, q: int, whiten: str | Fixed | None, n_samples: int, n_passes: int) -> State:
        euler = self.dynamics == "euler"
        if self.schedule == "paper":
            return State.start(d, q, whiten=whiten, rates=self._rates(), euler=euler)
        return State.start(
            d,
            q,
            whiten=whiten,
            limit=self.limit,
            sharpen=self.sharpen,
            leak=self.leak or "log",
            sparsity=self.sparsity,
            tracking=self.tracking,
            expected=n_passes * n_samples,
            distinct=n_samples,
            euler=euler,
        )

    def _change(self, state: State) -> None:
        if self.schedule == "paper":
            state.set_rates(self._rates())
        else:
            state.track(self.tracking)

    def _passes(self, n_samples: int, n_components: int) -> int:
        if self.schedule == "paper":
            return 1
        wanted = max(FEW, FEW_SQUARED * n_components**2)
        return min(-(-wanted // n_samples), MOST_PASSES)

    def _rates(self) -> Vector:
        """Return the constant rates of the paper's schedule."""
        steps = [default if getattr(self, name) is None else getattr(self, name) for name, default in STEPS.items()]
        steps[1] /= self.limit**4  # the same course of learning in units of the limit
        return schedules.paper(
            *steps, leak=self.leak or "quadratic", sparsity=self.sparsity, lower=-self.limit, upper=self.limit
        )
