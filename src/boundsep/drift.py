"""Does the mixing drift? Faces that blur again tell; then stage two is given a memory, and it is lengthened by and by.

While the mixing stands, the faces only get sharper, or, where noise blurs them, stay as sharp as they are. While it
drifts, samples go over faces that they did not reach before. So when the faces have lost more of their sharpness than
chance would take, the memory is cut: at first to a part of the samples so far, then by half each time. For as long as
that does not happen again it grows; when it has come to all samples so far, the drift is over.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Final

HITS: Final = 40.0  # over which sharpness is averaged, of all neurons together, beyond those that a neuron averages
AVERAGED: Final = 1.5  # times d^2: that many a neuron averages, times the number of neurons
CHANCE: Final = 26.0  # dB by which one hit's excess may stray, three times over
LEAST: Final = 1.5  # dB that have to be lost at the least
SHARP: Final = 60.0  # dB beyond which more or less sharpness says nothing: some sources have exact faces
PART: Final = 12.0  # the memory is first cut to one part in so many of the samples so far
SHORTEST: Final = 100.0  # samples a source
EASE: Final = 1.5  # by which it is lengthened when twice itself has passed


@dataclass(slots=True)
class Drift:
    """The memory that the drift of the mixing asks for, in samples, and what it is judged by.

    ``lately`` is the sharpness averaged over the last hits, ``best`` the highest that was; ``ripe`` counts averages,
    ``seen`` hits; ``told`` is the count of samples at which the memory was last changed.
    """

    SHAPES: ClassVar[dict[str, tuple[int | str, ...]]] = {}

    memory: float = math.inf
    lately: float = -math.inf
    best: float = -math.inf
    ripe: float = 0.0
    seen: float = 0.0
    told: int = 0

    def watch(self, sharpness: float, hits: float, n_neurons: int, passed: int) -> None:
        """Judge by the sharpness now, after so many hits a neuron and so many samples of stage two."""
        sharpness = min(sharpness, SHARP)
        if self.lately == -math.inf:
            self.lately, self.seen = sharpness, hits
        weight = 1.0 - math.exp((self.seen - hits) * n_neurons / HITS)
        self.seen = hits
        self.ripe += weight
        self.lately += weight * (sharpness - self.lately)
        if self.ripe >= 1.0:
            self.best = max(self.best, self.lately)
        if self.lately < self.best - max(LEAST, CHANCE / math.sqrt(AVERAGED * n_neurons**2 + HITS)):
            self.memory = max(min(passed / PART, 0.5 * self.memory), SHORTEST * n_neurons)
            self.lately, self.best, self.ripe, self.told = -math.inf, -math.inf, 0.0, passed
        elif passed - self.told > 2.0 * self.memory:
            self.memory = EASE * self.memory if self.memory < passed else math.inf
            self.best, self.told = self.lately, passed
