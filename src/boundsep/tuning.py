"""What a state that tunes itself does when its course decides: another stage, another map, another start."""

import math
from dataclasses import dataclass

import numpy as np

from boundsep import course, kernels
from boundsep import guard as g
from boundsep._types import Vector
from boundsep.course import Course
from boundsep.drift import Drift
from boundsep.monitor import Monitor
from boundsep.neurons import Neurons
from boundsep.sharpening import Sharpening
from boundsep.state_file import LEARNING
from boundsep.whitening import Fixed, Whitener


@dataclass(slots=True, eq=False)
class Tuned:
    """The parts of a `State`, and what it does with them of itself."""

    whitener: Whitener
    neurons: Neurons
    monitor: Monitor
    course: Course
    drift: Drift
    sharpening: Sharpening
    champion: Sharpening
    to_champion: Fixed
    rates: Vector
    whiten: str | None = None
    euler: bool = False
    n_samples: int = 0

    def _look(self) -> None:
        """Let the course decide what comes next, and do what that takes."""
        plan, before = self.course, self.course.stage
        if before == course.SHARPENING:
            plan.look_at_faces(self.sharpening)
            if self.n_samples >= plan.expected:  # a record that is learnt in random order does not drift
                self._follow_drift()
        elif before == course.TRIAL:
            plan.look_at_faces(self.champion, self.sharpening)
        elif before == course.AUDITION and plan.lost(self.champion):
            plan.enter(course.SEPARATING)
        elif self.whitener.rank < len(self.neurons.D) and before != course.SETTLING:  # not all have shown themselves
            plan.enter(before)
        else:
            plan.look_at_map(self.neurons.unmixing(), self.rates[kernels.FORGETTING])
        if plan.stage != before:
            self._enter(before)
        if plan.stage in (course.SEPARATING, course.SETTLING, course.AUDITION):
            self.rates = plan.rates(limit_of(self.rates))

    def _follow_drift(self) -> None:
        """Let stage two remember no more than the drift of the mixing allows."""
        sharpening = self.sharpening
        if sharpening.mature:
            d = len(sharpening.centre)
            self.drift.watch(sharpening.sharpness(), sharpening.hits(), d, sharpening.heard())
        sharpening.memory = min(self.course.memory, self.drift.memory)

    def _enter(self, before: int) -> None:
        """Make what the stage needs that the course has entered, coming from another."""
        after = self.course.stage
        self.drift = Drift()
        if after == course.AUDITION:
            self.champion, self.to_champion = self.sharpening, self._frozen()
            self.sharpening = Sharpening.blank(*self.neurons.W.shape)
            # Blunt faces may come of a whitening frozen too soon; sparse sources rather need a good one at once.
            self._begin(whiten_again=self.course.threshold == 0.0)
        elif after == course.SHARPENING and before == course.TRIAL:
            trial = self.sharpening.volume(self.whitener.map)
            better = course.BETTER + course.BETTER_EACH * len(self.neurons.D)
            if trial < self.champion.volume(self.to_champion.map) + better:
                self.sharpening, self.whitener = self.champion, self.to_champion
            else:
                self.monitor.begin(self.n_samples)
            self.champion = Sharpening.blank(*self.neurons.W.shape)
            self.to_champion = Fixed.blank(*self.whitener.map.shape)
        elif after in (course.SHARPENING, course.TRIAL):
            self._sharpen()
        elif after == course.SEPARATING:
            if isinstance(self.whitener, Fixed) and not self.whitener.idle:
                self.whiten = self.whiten or "online"  # the whitening of a record no longer holds
            self.monitor.begin(self.n_samples)
            self._begin(whiten_again=True)

    def _begin(self, *, whiten_again: bool) -> None:
        """Begin stage one afresh, and with it the whitening, where that is wanted and learns."""
        (d, q), limit = self.neurons.W.shape, limit_of(self.rates)
        self.neurons = Neurons.start(d, q, limit=limit, inverse=bool(self.neurons.P.size))
        if whiten_again and self.whiten is not None:
            self.whitener = LEARNING[self.whiten].start(*self.whitener.map.shape, pace_of(self.course.rates(limit)))

    def _frozen(self) -> Fixed:
        """Return a whitener that goes on whitening as it does now."""
        silences = getattr(self.whitener, "silences", True)  # as those that learn take rows of zeros
        return Fixed(self.whitener.mean.copy(), self.whitener.map.copy(), silences=silences)

    def _sharpen(self) -> None:
        """Begin stage two where stage one has come to. From here on the whitening stays as it is."""
        self.whitener, reach = self._frozen(), self.neurons.reach
        scale = np.where(reach > 0.0, reach, 1.0) * limit_of(self.rates)
        unmixing, centre = self.neurons.unmixing() / scale[:, None], self.neurons.centre / scale
        self.sharpening = Sharpening.start(
            unmixing, centre, self.neurons.guard, self.course.patience, self.course.memory
        )


def pace_of(rates: Vector) -> float:
    """Return the forgetting that a whitener goes by: no faster than can be believed."""
    return min(float(rates[kernels.FORGETTING]), g.PACE)


def limit_of(rates: Vector) -> float:
    """Return the limit of the outputs; 1 where there is none."""
    upper = float(rates[kernels.UPPER])
    return upper if math.isfinite(upper) else 1.0
