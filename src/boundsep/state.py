"""The whole state of a running separator as a value: learn from a chunk, save to one file, load, go on.

This is also the path for those who check their input themselves: no validation, no scikit-learn.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from boundsep import course, kernels, schedules
from boundsep import guard as g
from boundsep._types import Matrix, Vector
from boundsep._validation import check_option, check_samples
from boundsep.course import Course
from boundsep.drift import Drift
from boundsep.monitor import Monitor
from boundsep.neurons import Neurons
from boundsep.sharpening import Sharpening
from boundsep.state_file import LEARNING, Stored
from boundsep.tuning import Tuned, limit_of, pace_of
from boundsep.whitening import MEMORY, Fixed, Online, Whitener
from boundsep.whitening_local import Neural


@dataclass(slots=True, eq=False)
class State(Tuned, Stored):
    """Whitener, neurons, rates and monitor: everything that a separator needs to go on, bit for bit.

    `State.start` makes one, `State.load` brings one back. It can be copied and pickled.

    Parameters
    ----------
    whitener : Fixed, Online or Neural
        What brings samples from the sensors to the network.
    neurons : Neurons
        W, M, D and counts.
    monitor : Monitor
        What tells whether they have settled.
    course : Course
        What stage the learning is in.
    drift : Drift
        How long a memory a drifting mixing allows.
    sharpening, champion : Sharpening
        Stage two, and the map that it has to beat while another is tried.
    to_champion : Fixed
        What brings samples to that.
    rates : ndarray of shape (8,)
        Rates of learning and limits, from `schedules`; see `set_rates`.
    whiten : str or None
        Which whitener learns, where one does.
    euler : bool
        Whether outputs settle by integrating the differential equation.
    n_samples : int
        How many samples were learnt from.

    Examples
    --------
    >>> import numpy as np
    >>> from boundsep import State
    >>> state = State.start(2, 3, whiten="online")
    >>> chunk = np.random.default_rng(0).uniform(-1, 1, (1000, 3))
    >>> state.learn(chunk).shape
    (1000, 2)
    >>> state.components().shape
    (2, 3)
    """

    PARTS: ClassVar[dict[str, Any]] = {
        "neurons": Neurons,
        "monitor": Monitor,
        "course": Course,
        "drift": Drift,
        "sharpening": Sharpening,
        "champion": Sharpening,
        "to_champion": Fixed,
    }

    @classmethod
    def start(
        cls,
        n_components: int,
        n_features: int,
        *,
        whiten: str | Fixed | None = "online",
        rates: Vector | None = None,
        limit: float = 1.0,
        sharpen: bool = True,
        leak: str = "log",
        sparsity: float = 0.0,
        tracking: float | None = None,
        expected: int = 0,
        distinct: int = 0,
        keep_mean: bool = False,
        euler: bool = False,
    ) -> Self:
        """Return the state before the first sample.

        Parameters
        ----------
        n_components, n_features : int
            Outputs and sensors.
        whiten : "online", "neural", None or Fixed
            How the input is whitened; a ``Fixed`` whitener is taken as it is.
        rates : ndarray, optional
            Constant rates, and the limits of the outputs, from `schedules`; by default it tunes itself.
        limit : float
            Of the outputs, where it tunes itself. This and the next four are as for `BSM`.
        sharpen : bool
            Whether stage two follows.
        leak : {"quadratic", "linear", "log"}
            What the leak descends on.
        sparsity : float
            The soft threshold of the neurons.
        tracking : float, optional
            How many samples to remember.
        expected, distinct : int
            How many samples are to come in all, where that is known, and how many of them are not repeated.
        keep_mean : bool
            Leave the mean in what the network sees.
        euler : bool
            Integrate the paper's differential equation to rest, in place of solving for where it rests.

        Returns
        -------
        State
        """
        if rates is None and keep_mean:
            raise ValueError("A network that tunes itself works about the mean: keep_mean needs rates.")
        if not 1 <= n_components <= n_features:
            raise ValueError(f"n_components must be from 1 to n_features={n_features}. Got {n_components!r}.")
        if not (whiten is None or isinstance(whiten, Fixed)):
            check_option("State", "whiten", whiten, (*LEARNING, None))
        d, q = n_components, n_features if whiten is None else n_components
        if isinstance(whiten, Fixed):
            q = len(whiten.map)
        if rates is None:
            memory = math.inf if tracking is None else tracking
            power = schedules.LEAKS[leak]
            known = {"sparsity": sparsity, "expected": expected, "distinct": distinct, "memory": memory}
            plan = Course.start(d, q, sharpens=sharpen, leak=power, **known)
            rates = plan.rates(limit)
        else:
            plan = Course.constant(d, q)
        whitener: Whitener = whiten if isinstance(whiten, Fixed) else Fixed.nothing(n_features)
        if isinstance(whiten, str):
            whitener = LEARNING[whiten].start(d, n_features, pace_of(rates), keep_mean=keep_mean)
        return cls(
            whitener,
            Neurons.start(d, q, limit=limit_of(rates), inverse=not euler and rates[kernels.THRESHOLD] == 0.0),
            Monitor.start(d, q),
            plan,
            Drift(),
            Sharpening.blank(d, q),
            Sharpening.blank(d, q),
            Fixed.blank(q, n_features),
            rates,
            whiten if isinstance(whiten, str) else None,
            euler,
        )

    def set_rates(self, rates: Vector) -> None:
        """Go on with other rates of learning; limits and threshold stay as they were at the start.

        Parameters
        ----------
        rates : ndarray of shape (8,)
            From `schedules`.
        """
        if not np.array_equal(rates[kernels.THRESHOLD :], self.rates[kernels.THRESHOLD :]):
            raise ValueError("Threshold and limits of a network can't change while it learns: start another.")
        self.rates = rates
        if isinstance(self.whitener, Online | Neural):
            self.whitener.forgetting = pace_of(rates) / MEMORY

    def track(self, memory: float | None) -> None:
        """Go on with another memory, where it tunes itself.

        Parameters
        ----------
        memory : float or None
            How many samples to remember; None leaves it to what the network sees.
        """
        memory = math.inf if memory is None else memory
        self.course.memory = memory
        self.sharpening.memory = self.champion.memory = min(memory, self.drift.memory)

    def learn(self, X: Matrix) -> Matrix:
        """Separate the rows of X in turn, learning from each; return the network's outputs.

        Parameters
        ----------
        X : ndarray of float64, shape (n_samples, n_features), C-ordered
            Raw samples. A row that is not finite comes out as NaN and teaches nothing.

        Returns
        -------
        Y : ndarray, shape (n_samples, n_components)
            The settled outputs, within the limits of the neurons.
        """
        check_samples(X, len(self.whitener.mean))
        room = self._room()
        if len(X) < room:
            return self._learn(X)
        pieces = []
        while len(X):
            pieces.append(self._learn(X[:room]))
            X = X[room:]
            if self.n_samples == self.monitor.at[2]:
                self.monitor.mark(self.unmixing(), self._gains())
            if self.course.heard == self.course.due:
                self._look()
            room = self._room()
        return np.concatenate(pieces)

    def _room(self) -> int:
        """Return how many samples there are until something is to be noted or decided."""
        return min(int(self.monitor.at[2]) - self.n_samples, self.course.due - self.course.heard)

    def _learn(self, X: Matrix) -> Matrix:
        """Learn from samples between which nothing is decided; return what the best network says of them."""
        stage = self.course.stage
        x = self.whitener.learn(X)
        second = stage in (course.SHARPENING, course.TRIAL)
        guard = self.sharpening.guard if second else self.neurons.guard
        silent = guard[g.SILENT]
        Y = self.sharpening.learn(x) if second else self.neurons.learn(x, self.rates, euler=self.euler)
        if self.course.auditioning:
            Y = self.champion.learn(self.to_champion.learn(X))
        if stage >= course.SHARPENING:  # stage two knows no limit but one
            Y *= limit_of(self.rates)
        self.n_samples += len(X)
        self.course.heard += len(X) - int(guard[g.SILENT] - silent)
        return Y

    def unmixing(self) -> Matrix:
        """Return the linear map from the network's input to its output, as it is while no neuron clips.

        Returns
        -------
        unmixing : ndarray of shape (n_components, inputs of the network)
        """
        sharper = self._sharper()
        return self.neurons.unmixing() if sharper is None else limit_of(self.rates) * sharper.unmixing()

    @property
    def guard(self) -> Vector:
        """What `boundsep.guard` has counted and follows, in the network that outputs come from."""
        sharper = self._sharper()
        return self.neurons.guard if sharper is None else sharper.guard

    @property
    def serving(self) -> Whitener:
        """What brings samples to the network that outputs come from."""
        return self.to_champion if self.course.auditioning else self.whitener

    def _sharper(self) -> Sharpening | None:
        """Return the map of stage two that outputs come from, where they do."""
        if self.course.auditioning:
            return self.champion
        return self.sharpening if self.course.stage == course.SHARPENING else None

    def components(self) -> Matrix:
        """Return the total linear map, each row scaled so that its output fills the limits.

        Returns
        -------
        components : ndarray of shape (n_components, n_features)
        """
        return self.unmixing() @ self.serving.map / self._reach()[:, None]

    def centre(self) -> Vector:
        """Return where the middle of each source's range lies, in the scale of `components`.

        Returns
        -------
        centre : ndarray of shape (n_components,)
        """
        sharper = self._sharper()
        centre = self.neurons.centre if sharper is None else limit_of(self.rates) * sharper.centre
        return centre / self._reach()

    def _gains(self) -> Vector:
        """Return what may still move besides the map: the gains of stage one; stage two has none."""
        return self.neurons.D if self._sharper() is None else self.monitor.gains[1]

    def _reach(self) -> Vector:
        """Return by how much outputs of the linear map exceed the limits."""
        reach = self.neurons.reach
        return np.where((reach > 0.0) & (self._sharper() is None), reach, 1.0)

    def movement(self) -> float:
        """Return how far map and gains have moved over the last part (a third to a half) of the learning.

        Returns
        -------
        movement : float
            See `boundsep.monitor`; infinity while there is nothing yet to compare with.
        """
        return self.monitor.movement(self.unmixing(), self._gains())

    def quality(self) -> float:
        """Return an estimate of the total SIR, from what the network itself sees.

        Returns
        -------
        quality : float
            In dB: the least of what the movement of the map, the sharpness of its faces and the record's length tell.
        """
        turned = self.monitor.turned(self.unmixing())
        sharper = self._sharper()
        return turned if sharper is None else min(turned + course.SINCE, sharper.sharpness(), self.course.known)
