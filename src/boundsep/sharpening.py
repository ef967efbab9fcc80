r"""Stage two: learn on at the faces of the box that the separated outputs fill.

Once separated, outputs fill a box, and its faces tell more than any covariance: they are flat. The total map V and the
centre c go on learning, one sample at a time, y = V x - c. Every neuron grows a little each sample. Where a sample
drives it past its limit it is pushed back by what was too much, along the direction in which all outputs, weighted by
their activity, look; its centre moves by its share; and from then on it grows a little more slowly. So the boxes close
in on the sources as fast as samples touch their faces, at any density of the sources there, and no clock is read.
Derived in ``docs/learning.md``.

What a neuron remembers of its two faces is a column of the matrix ``faces``.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np

from boundsep import guard as g
from boundsep._compile import exact_kernel, exact_part_of_kernel
from boundsep._types import Matrix, Vector

# Where each number stands in ``faces``.
GROWTH: Final = 0  # by how much a neuron grows each sample
SWELL: Final = 1  # what it has grown by since its weights were last written
EXCESS: Final = 2  # by how much a sample that goes over its limit does so, in the mean
SURPRISE: Final = 3  # how much larger that is over the last few samples
NEAR: Final = 4  # samples near a face since one went over it
CROWD: Final = 5  # how many come near for each one that goes over, in the mean
SQUARES: Final = 6  # sum of its squared outputs
FOURTHS: Final = 7  # ... and of their squares
HITS: Final = 8
COUNT: Final = 9  # samples so far, the same for all
SINCE: Final = 10  # samples since the last hit
WAIT: Final = 11  # ... from one to the next, in the mean
WORST: Final = 12  # the largest EXCESS since it was last asked for
ACTIVE: Final = 13  # scratch: its output in the units of its weights
PUSHED: Final = 14  # ... and what it is pushed back by
ROWS: Final = 15

PUSH: Final = 0.5  # the part of an excess that is pushed back
LEAN: Final = 0.125  # the part of an excess that the centre takes
FASTEST: Final = 1.5e-3  # growth at the start
BLUNT: Final = 0.02  # excess at the start
KEEN: Final = 1e-9  # the smallest excess: below, rounding decides
BEYOND: Final = 8.0  # an excess counts for no more than so many of its mean
SOON: Final = 0.125  # share of the latest excess in what surprises
STARTLED: Final = 3.0  # excesses so many times their mean are no accident: the mixing has moved
LOUD: Final = 4.0  # a sample of so many times the mean power is no burst,
LOUDER: Final = 2.0  # ... nor one of so many times what has been seen
AWAITED: Final = 50.0  # samples from one hit to the next, to begin with
OVERDUE: Final = 30.0  # so many times as long without a hit is no accident: the map is too small
RECOVERY: Final = 65.0 / 64.0  # by which growth then rises each sample
BAND: Final = 4.0  # a sample is near a face if less than so many excesses short of it
SHARP: Final = 2.0  # CROWD where a face is flat and sharp, by its geometry; somewhat more while it sharpens
MATURE: Final = 2.0  # a map is mature when its neurons were hit so many times for each of their patience
PATIENCE: Final = 6.0  # a neuron's growth falls by a factor of e^2 while it is hit so many times per component
OFFSET: Final = 9.0  # dB from a mean excess to the interference that it goes with


@exact_part_of_kernel
def push_back(
    linear: Vector, V: Matrix, centre: Vector, faces: Matrix, energy: float, slower: float, follow: float
) -> None:
    """Push back the neurons that a sample drives past their limits. ``linear`` is V x, of this squared norm."""
    q, d = V.shape
    for i in range(d):
        if not 0.5 < faces[SWELL, i] < 2.0:  # written into the weights before it gets out of hand
            for j in range(q):
                V[j, i] *= faces[SWELL, i]
            faces[SWELL, i] = 1.0
        over = linear[i] - centre[i]
        push = 0.0
        if abs(over) > 1.0:
            push = math.copysign(min(abs(over) - 1.0, BEYOND * faces[EXCESS, i]), over)
        faces[PUSHED, i] = PUSH * push / (energy * faces[SWELL, i])
        faces[ACTIVE, i] = faces[SWELL, i] * linear[i]
    # V'y, the direction in which all outputs look, one input at a time. Four sums, for one has to wait for itself.
    for j in range(q):
        back, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for i in range(0, d - 3, 4):
            back += V[j, i] * faces[ACTIVE, i]
            second += V[j, i + 1] * faces[ACTIVE, i + 1]
            third += V[j, i + 2] * faces[ACTIVE, i + 2]
            fourth += V[j, i + 3] * faces[ACTIVE, i + 3]
        for i in range(d - d % 4, d):
            back += V[j, i] * faces[ACTIVE, i]
        back += second + (third + fourth)
        for i in range(d):
            V[j, i] -= faces[PUSHED, i] * back
    for i in range(d):
        excess = abs(linear[i] - centre[i]) - 1.0
        if excess <= 0.0:
            continue
        ratio = min(excess / faces[EXCESS, i], BEYOND)
        centre[i] += LEAN * math.copysign(ratio * faces[EXCESS, i], linear[i] - centre[i])
        faces[CROWD, i] += follow * (faces[NEAR, i] - faces[CROWD, i])
        faces[NEAR, i] = 0.0
        faces[HITS, i] += 1.0
        faces[WAIT, i] += follow * (faces[SINCE, i] - faces[WAIT, i])
        faces[SINCE, i] = 0.0
        faces[GROWTH, i] *= slower
        faces[EXCESS, i] *= 1.0 + follow * (ratio - 1.0)
        faces[SURPRISE, i] += SOON * (ratio - faces[SURPRISE, i])
        if faces[SURPRISE, i] > STARTLED:
            faces[EXCESS, i] *= faces[SURPRISE, i]
            faces[GROWTH, i] = min(FASTEST, faces[GROWTH, i] * faces[SURPRISE, i] ** 2)
            faces[SURPRISE, i] = 1.0
        faces[EXCESS, i] = max(faces[EXCESS, i], KEEN)
        faces[WORST, i] = max(faces[WORST, i], faces[EXCESS, i])


@exact_kernel
def sharpen(
    X: Matrix, Y: Matrix, V: Matrix, centre: Vector, faces: Matrix, guard: Vector, slower: float, regrow: float
) -> None:
    """Separate the rows of X into Y and learn from each. V is stored transposed, (q, d), less what SWELL says.

    A hit multiplies a neuron's growth by ``slower``, and every sample by ``regrow``, at least one.
    """
    q, d = V.shape
    follow = min(0.2, -2.0 * math.log(slower))
    for t in range(X.shape[0]):
        power = 0.0
        for j in range(q):
            power += X[t, j] * X[t, j]
        power /= q
        if not 0.0 < power < math.inf:
            guard[g.SILENT] += 1.0
            for i in range(d):
                Y[t, i] = 0.0 * power - centre[i]
            continue
        quieter = g.admit(power, guard, g.PACE, True, max(LOUD, LOUDER * guard[g.PEAK]))
        learning = guard[g.LEARN] > 0.0
        for i in range(d):
            Y[t, i] = 0.0
        for j in range(q):
            x = quieter * X[t, j]
            for i in range(d):
                Y[t, i] += V[j, i] * x
        energy, over = 0.0, 0
        for i in range(d):
            faces[SWELL, i] *= (1.0 + faces[GROWTH, i] if learning else 1.0) / guard[g.RESCALE]
            Y[t, i] *= faces[SWELL, i]
            square = Y[t, i] * Y[t, i]
            energy += square
            faces[SQUARES, i] += square
            faces[FOURTHS, i] += square * square
            faces[COUNT, i] += 1.0
            faces[SINCE, i] += 1.0
            reached = abs(Y[t, i] - centre[i])
            if reached > 1.0:
                over += 1
            elif reached > 1.0 - BAND * faces[EXCESS, i]:
                faces[NEAR, i] += 1.0
            # Shrunk by a burst, an output no longer reaches its faces.
            overdue = faces[SINCE, i] > OVERDUE * faces[WAIT, i]
            faces[GROWTH, i] = min(FASTEST, faces[GROWTH, i] * (RECOVERY if overdue else regrow))
        if over > 0 and learning:
            push_back(Y[t], V, centre, faces, energy, slower, follow)
        for i in range(d):
            Y[t, i] = min(max(Y[t, i] - centre[i], -1.0), 1.0)
        guard[g.CLIPPED] += over


@dataclass(slots=True, eq=False)
class Sharpening:
    """The map of stage two, stored transposed (q, d), its centre (d,), and what each neuron knows of its faces.

    ``patience`` is how many hits per component it takes for the growth to fall by e^2; ``memory`` how many samples are
    remembered, infinity where it is the mixing that decides.
    """

    SHAPES: ClassVar = {"V": ("q", "d"), "centre": ("d",), "faces": (ROWS, "d"), "guard": (g.LENGTH,)}

    V: Matrix
    centre: Vector
    faces: Matrix
    guard: Vector
    patience: float = PATIENCE
    memory: float = math.inf

    @classmethod
    def blank(cls, n_outputs: int, n_inputs: int) -> Self:
        """Return what stands in for a stage that has not come yet."""
        return cls.start(np.zeros((n_outputs, n_inputs)), np.zeros(n_outputs), np.zeros(g.LENGTH), PATIENCE, math.inf)

    @classmethod
    def start(cls, unmixing: Matrix, centre: Vector, guard: Vector, patience: float, memory: float) -> Self:
        """Return the stage before its first sample, from a map and a centre whose outputs about fill [-1, 1].

        ``guard`` is that of stage one.
        """
        faces = np.zeros((ROWS, len(unmixing)))
        faces[GROWTH] = FASTEST
        faces[SWELL] = faces[SURPRISE] = 1.0
        faces[EXCESS] = BLUNT
        faces[WAIT] = AWAITED
        faces[CROWD] = SHARP
        guard = guard.copy()
        guard[g.ALLOWANCE] = 0.0  # what is a burst is judged more closely from now on
        return cls(np.array(unmixing.T, order="C"), centre.copy(), faces, guard, patience, memory)

    def learn(self, X: Matrix) -> Matrix:
        """Separate the rows of X (white, C-ordered float64) in turn, learning from each; outputs lie in [-1, 1]."""
        Y = np.empty((X.shape[0], len(self.centre)))
        slower = math.exp(-2.0 / (self.patience * len(self.centre)))
        sharpen(X, Y, self.V, self.centre, self.faces, self.guard, slower, 1.0 + 2.0 / self.memory)
        return Y

    def unmixing(self) -> Matrix:
        """Return the linear map from (white) input to output."""
        return (self.V * self.faces[SWELL]).T

    def hits(self) -> float:
        """Return how often a neuron was driven past its limit, in the mean."""
        return float(np.mean(self.faces[HITS]))

    @property
    def mature(self) -> bool:
        """Whether its neurons were hit often enough for what they know of their faces to be believed."""
        return self.hits() >= MATURE * self.patience * len(self.centre)

    def volume(self, whitening: Matrix) -> float:
        """Return what the stage maximises: the logarithm of the volume of its map from the sensors.

        Less what its samples go over the faces, so that young maps and old ones can be compared.
        """
        total = self.unmixing() @ whitening / (1.0 + 2.0 * self.faces[EXCESS])[:, None]
        return float(0.5 * np.linalg.slogdet(total @ total.T)[1])

    def sharpness(self) -> float:
        """Return how far the outputs' faces are from blurred, in dB.

        What goes over a face that is flat and sharp does so in proportion to the interference; where many samples come
        near for each that goes over, the face is not sharp.
        """
        return self._clearance(np.maximum(self.faces[CROWD] / SHARP, 1.0))

    def worst_fit(self) -> float:
        """Return how far samples went over the faces at the worst since this was last asked, in the same dB."""
        worst = np.maximum(self.faces[WORST], self.faces[EXCESS]) / self.faces[EXCESS]
        self.faces[WORST] = 0.0
        return self._clearance(worst)

    def heard(self) -> int:
        """Return how many samples it has learnt from."""
        return int(self.faces[COUNT, 0])

    def _clearance(self, blunter: Vector) -> float:
        size = np.linalg.norm(self.unmixing(), axis=1)
        blur = self.faces[EXCESS] * blunter / np.where(size > 0.0, size, 1.0)
        return float(OFFSET - 10.0 * np.log10(np.mean(blur**2)))

    def bluntness(self) -> float:
        """Return how many samples come near a face for each that goes over it: 2 to 3 where it is sharp."""
        return float(np.mean(self.faces[CROWD]))

    def peakedness(self) -> float:
        """Return the outputs' mean kurtosis so far: 3 for Gaussian ones, more for sparse ones, less for flat ones."""
        return float(np.mean(self.faces[FOURTHS] * self.faces[COUNT] / np.maximum(self.faces[SQUARES] ** 2, 1e-300)))
