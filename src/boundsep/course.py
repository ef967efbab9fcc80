"""What a network that tunes itself does next: separate, sharpen, try again otherwise, or start over.

It is looked at where counts of samples say, never where a chunk ends. What it goes by is what the network itself sees:

* *still*: while it separates, the map turns; once it has, it only trembles. When its rows have turned by little over
  the last third of the samples, twice in a row, stage one is done.
* *peaked* or *blunt*: sparse sources are those that stage one may mistake. Where sharpened outputs are no flatter than
  Gaussian ones, it separates once more, by a network with a threshold; and where their faces are not sharp, by one like
  the first. Of the two maps the one of the larger volume, which is what both maximise, wins.
* *lost*: faces that were sharp have been blurred for long. The mixing has changed: start over. (Where it drifts, they
  blur a little: see ``drift.py``.)
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np

from boundsep import schedules
from boundsep._types import Matrix, Vector
from boundsep.monitor import agreement, directions, turning
from boundsep.sharpening import PATIENCE, Sharpening

# Stages.
CONSTANT: Final = 0  # nothing to decide: the rates are the user's
SEPARATING: Final = 1
SETTLING: Final = 2  # separated; its rates fall
SHARPENING: Final = 3
AUDITION: Final = 4  # separating once more, by another network; outputs come from the first map
TRIAL: Final = 5  # sharpening what came of that; likewise

FIRST_LOOK: Final = 2  # times d^2 samples, but no fewer than ...
FEWEST: Final = 200
APART: Final = 1.225  # looks are so far apart, as a ratio: over two of them there are half as many samples again
STILL: Final = 0.03  # mean squared sine of the angle by which rows may turn meanwhile
MEMORIES: Final = 30  # so many times the network's memory have to have passed
SPARSE_LEAST: Final = 200  # times d^2 samples, in which sparse sources separate
PEAKED: Final = 2.95  # kurtosis
BLUNT: Final = 6.0  # samples near a face for each that goes over it
LOOK: Final = 16  # samples a source between looks while sharpening, but no fewer than ...
LOOK_AT_LEAST: Final = 256
LOOK_AT_MOST: Final = 1024  # ... and, in between, one part in so many of the samples of the stage
SELDOM: Final = 16
SINCE: Final = 4.0  # dB by which the error of stage two falls while its map turns by what is measured
GOOD: Final = 15.0  # dB by which samples have to fit before they can fit ill
FALLEN: Final = 12.0  # dB short of the best: so ill do they fit when the mixing has changed ...
ILL: Final = 25.0  # ... but no better than this
OTHER: Final = 10.0  # dB by which a map that agrees no better with what it was is another one
BETTER: Final = 0.1  # by which the volume of a map on trial, a logarithm, has to be the larger,
BETTER_EACH: Final = 0.02  # ... and so much for each source
RESTING: Final = 1.5  # after one trial, the next comes when so many times as many samples were heard
RECORD: Final = 2500.0  # a record of so many samples a source is sharpened with patience 1, and a longer one with more
RECORD_KNOWS: Final = 6.5  # dB short of 20 log10(n/d): how far the largest box of n samples is off, by docs/accuracy.md
MOST_PATIENT: Final = 60.0


@dataclass(slots=True, eq=False)
class Course:
    """The stage, and the counts of samples at which it began and is to be looked at: of those that were not silent.

    ``expected`` is how many samples come in all where that is known, else 0, and ``distinct`` how many of them are not
    repeated; ``memory`` how many the user wants to be remembered, infinity where the mixing decides; ``took`` how many
    the last stage took, ``begun`` the count at which it last started over; ``marks`` (2, d, q) the directions of the
    map's rows at the last two looks, ``fitting`` (d, q) at the last one at which samples fitted; ``auditions`` how many
    trials there were, and ``rest`` the count of samples until which there is no other.
    """

    SHAPES: ClassVar = {"marks": (2, "d", "q"), "fitting": ("d", "q")}

    marks: Matrix
    fitting: Matrix
    stage: int = CONSTANT
    sharpens: bool = True
    leak: float = -1.0
    sparsity: float = 0.0
    expected: int = 0
    distinct: int = 0
    memory: float = math.inf
    heard: int = 0
    since: int = 0
    took: int = 0
    due: int = 2**62
    looks: int = 0
    streak: int = 0
    best: float = -math.inf
    blurred: int = 0
    begun: int = 0
    threshold: float = 0.0
    auditions: int = 0
    rest: int = 0

    @classmethod
    def start(cls, n_outputs: int, n_inputs: int, **settings: object) -> Self:
        """Return the course of a network that is to tune itself, before the first sample."""
        course = cls(np.zeros((2, n_outputs, n_inputs)), np.zeros((n_outputs, n_inputs)), **settings)  # type: ignore[arg-type]
        course.enter(SEPARATING)
        return course

    @classmethod
    def constant(cls, n_outputs: int, n_inputs: int) -> Self:
        """Return the course of a network whose rates its user chose."""
        return cls(np.zeros((2, n_outputs, n_inputs)), np.zeros((n_outputs, n_inputs)))

    @property
    def patience(self) -> float:
        """How patiently to sharpen."""
        return min(max(self.expected / (RECORD * self.marks.shape[1]), PATIENCE), MOST_PATIENT)

    @property
    def known(self) -> float:
        """The SIR in dB that a record, gone over again and again, can vouch for at the most."""
        if self.distinct == self.expected:  # gone over once, or not a record
            return math.inf
        distinct = self.distinct + max(self.heard - self.expected, 0)
        return 20.0 * math.log10(distinct / self.marks.shape[1]) - RECORD_KNOWS

    @property
    def tunes(self) -> bool:
        """Whether there is anything to decide."""
        return self.stage != CONSTANT

    @property
    def auditioning(self) -> bool:
        """Whether another map is being tried, while outputs come from the champion."""
        return self.stage in (AUDITION, TRIAL)

    @property
    def separated(self) -> bool:
        """Whether stage one is done."""
        return self.stage > SEPARATING

    def enter(self, stage: int) -> None:
        """Go over to a stage."""
        self.took = self.heard - self.since
        self.stage, self.since, self.looks, self.streak = stage, self.heard, 0, 0
        if stage in (SEPARATING, SHARPENING):
            self.fitting[:] = 0.0  # another map serves, or may
        d = self.marks.shape[1]
        if stage in (SEPARATING, AUDITION):
            self.due = self.heard + max(FEWEST, FIRST_LOOK * d**2)
        else:
            self.due = self.heard + max(LOOK_AT_LEAST, LOOK * d)

    def rates(self, limit: float) -> Vector:
        """Return the rates of the network of stage one, now."""
        passed, d = self.heard - self.since, self.marks.shape[1]
        if self.stage == SETTLING:
            before = schedules.separating(d, self.took, leak_power=self.leak, sparsity=self.sparsity, limit=limit)
            return schedules.settling(before, passed, memory=self.memory)
        threshold = self.threshold if self.stage == AUDITION else self.sparsity
        return schedules.separating(d, passed, leak_power=self.leak, sparsity=threshold, limit=limit)

    def look_at_map(self, unmixing: Matrix, forgetting: float) -> None:
        """Go over to the next stage if the map of stage one is still; say when to look again."""
        passed = self.heard - self.since
        if self.stage == SETTLING:
            self.due = self.heard + max(FEWEST, passed // 32)
            return
        now = directions(unmixing)
        turned = np.mean(turning(self.marks[0], now))
        self.marks[0] = self.marks[1]
        self.marks[1] = now
        self.looks += 1
        self.streak = self.streak + 1 if turned < STILL and self.looks > 2 else 0
        self.due = self.since + math.ceil(passed * APART)
        sparse = self.stage == AUDITION and self.threshold > 0.0
        least = SPARSE_LEAST * self.marks.shape[1] ** 2 if sparse else 0
        if self.streak >= 2 and passed >= max(least, MEMORIES / forgetting):
            after = TRIAL if self.stage == AUDITION else SHARPENING if self.sharpens else SETTLING
            self.enter(after)

    def look_at_faces(self, serving: Sharpening, trial: Sharpening | None = None) -> None:
        """Go over to another stage if the map that serves is lost, or mature and not trusted; say when to look again.

        Where another one is on ``trial``, that is what has to mature.
        """
        d = self.marks.shape[1]
        apart = min(max((self.heard - self.since) // SELDOM, LOOK_AT_LEAST), LOOK_AT_MOST)
        self.due = self.heard + max(apart, LOOK * d)
        if self.lost(serving):
            self.enter(SEPARATING)
            return
        young = serving if trial is None else trial
        if not young.mature:
            return
        if trial is not None:
            self.auditions += 1
            self.rest = self.begun + math.ceil(RESTING * (self.heard - self.begun))
            self.enter(SHARPENING)
            return
        left = self.auditions < len(schedules.THRESHOLDS) and self.heard >= self.rest
        peaked = serving.peakedness() > PEAKED
        if left and self.blurred == 0 and (peaked or serving.bluntness() > BLUNT):
            tries = schedules.THRESHOLDS if peaked else (0.0, *schedules.THRESHOLDS)
            self.threshold = tries[self.auditions] if self.sparsity == 0.0 else self.sparsity
            self.enter(AUDITION)

    def lost(self, serving: Sharpening) -> bool:
        """Say whether the mixing has changed: samples went far over faces that they fitted.

        Twice in a row; or once, and the map is not the one any more that it was when they last fitted.
        """
        fit, now = serving.worst_fit(), directions(serving.unmixing())
        if not serving.mature:
            return False
        if self.best < GOOD or not self.fitting.any():
            self.best, self.fitting[:] = max(self.best, fit), now
            return False
        ill = fit < min(self.best - FALLEN, ILL)
        lately = ill + self.blurred  # at how many of the last two looks
        self.blurred = int(ill)
        if lately < 2 and (lately == 0 or agreement(self.fitting, now) >= OTHER):
            if not ill:
                self.best, self.fitting[:] = max(self.best, fit), now
            return False
        self.best, self.blurred, self.auditions, self.rest = -math.inf, 0, 0, 0
        self.expected = self.distinct = 0
        self.begun = self.heard
        return True
