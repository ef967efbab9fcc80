"""X -> x: mean removal and whitening, on a record at once or sample by sample.

Each whitener carries ``mean`` (q,) and ``map`` (d, q) and answers one verb, ``learn``: whiten the rows of a
chunk in turn, learning from each where there is something to learn. ``x = map @ (X - mean)``, or ``map @ X``
for methods whose sources are nonnegative and must keep their mean. The third whitener, which learns by local
rules alone, is in ``whitening_local.py``.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final, Protocol, Self

import numpy as np

from boundsep import guard as g
from boundsep._compile import exact_kernel
from boundsep._types import Floats, Matrix, Vector

BLOCK: Final = 16384  # rows converted to float64 at a time when a record is summed
REFRESH: Final = 8  # the online map is renewed when its memory has moved on by one part in so many
CERTAIN: Final = 1e-3  # share of isotropic samples in the covariance below which its rank is believed
ROUNDING: Final = 1e-13  # what rounding leaves of a power that is zero, relative to the strongest
MEMORY: Final = 100  # the whitener remembers so many times as long as the network


class Whitener(Protocol):
    """What stands between the sensors and the network."""

    mean: Vector
    keep_mean: bool

    @property
    def map(self) -> Matrix:
        """Return the whitening map as it is now."""
        ...

    @property
    def rank(self) -> int:
        """Return how many independent axes the input has shown, n_components at most."""
        ...

    def learn(self, X: Matrix) -> Matrix:
        """Whiten the rows of X in turn, learning from each."""
        ...


@exact_kernel
def whiten_rows(X: Matrix, Z: Matrix, mean: Vector, whiten: Matrix, kept: float, silences: float) -> None:
    """Whiten the rows of X into Z, each alone, so that no bit depends on how they come in chunks.

    With ``silences`` a row of zeros is a dropout, and stays one.
    """
    d, q = whiten.shape
    for t in range(X.shape[0]):
        if silences > 0.0:
            size = 0.0
            for j in range(q):
                size += abs(X[t, j])
            if size == 0.0:
                for i in range(d):
                    Z[t, i] = 0.0
                continue
        for i in range(d):
            white = 0.0
            for j in range(q):
                white += whiten[i, j] * (X[t, j] - (1.0 - kept) * mean[j])
            Z[t, i] = white


@dataclass(slots=True, eq=False)
class Fixed:
    """A whitener that no longer learns: none at all, or the exact one of a record."""

    SHAPES: ClassVar = {"mean": ("n",), "map": ("q", "n")}

    mean: Vector
    map: Matrix
    keep_mean: bool = False
    silences: bool = False  # whether rows of zeros are dropouts
    idle: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        q, n = self.map.shape
        self.idle = q == n and not self.mean.any() and np.array_equal(self.map, np.eye(n))

    @property
    def rank(self) -> int:
        """Return how many axes are live: all, for a whitener was made with so many as there were."""
        return len(self.map)

    @classmethod
    def blank(cls, n_outputs: int, n_features: int) -> Self:
        """Return what stands in for a whitener that has not been made yet."""
        return cls(np.zeros(n_features), np.zeros((n_outputs, n_features)))

    @classmethod
    def nothing(cls, n_features: int) -> Self:
        """Return the whitener that leaves its input as it is."""
        return cls(np.zeros(n_features), np.eye(n_features))

    @classmethod
    def exact(
        cls,
        mean: Vector,
        covariance: Matrix,
        n_components: int,
        rank: int | None = None,
        *,
        keep_mean: bool = False,
    ) -> Self:
        """Return the whitener of a record from its moments: white within rounding, on the strongest axes.

        Unless an axis that has power (``rank`` of them, all by default) is left out, the channels are first brought to
        one scale, so that their units do not matter. Where the mean is kept, axes point to where it is.
        """
        every = n_components >= (len(mean) if rank is None else rank)
        unit = _units(covariance) if every else np.ones_like(mean)
        power, axes = np.linalg.eigh(covariance / np.outer(unit, unit))
        strongest = np.argsort(power)[::-1][:n_components]
        axes = axes[:, strongest]
        towards = axes.T @ (mean / unit) if keep_mean else axes[np.abs(axes).argmax(axis=0), np.arange(n_components)]
        axes = axes * np.where(towards < 0.0, -1.0, 1.0)
        return cls(mean, (axes / np.sqrt(power[strongest])).T / unit, keep_mean)

    def learn(self, X: Matrix) -> Matrix:
        """Whiten the rows of X."""
        if self.idle:
            return X
        Z = np.empty((X.shape[0], self.map.shape[0]))
        whiten_rows(X, Z, self.mean, self.map, float(self.keep_mean), float(self.silences))
        return Z


def moments(X: Floats) -> tuple[Vector, Matrix]:
    """Return mean and covariance of a record, in float64 whatever it holds, in memory bounded by a block."""
    n, q = X.shape
    blocks = [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]
    origin = X[0].astype(np.float64)  # near the mean, so that no digits are lost; exact where nothing varies
    mean = np.zeros(q)
    for block in blocks:
        mean += (X[block] - origin).sum(axis=0) / n
    covariance = np.zeros((q, q))
    for block in blocks:
        centred = X[block] - origin - mean
        covariance += centred.T @ centred / n
    return origin + mean, covariance


def correlation_rank(covariance: Matrix, n_samples: int) -> int:
    """Return how many independent channels there are, whatever the units of each."""
    live = np.flatnonzero(np.diag(covariance))
    if len(live) == 0:
        return 0
    unit = np.sqrt(np.diag(covariance)[live])
    correlation = covariance[np.ix_(live, live)] / np.outer(unit, unit)
    power = np.linalg.eigvalsh(correlation)
    noise = power[-1] * max(n_samples, len(power)) * np.finfo(np.float64).eps
    return int(np.sum(power > noise))


def _units(covariance: Matrix) -> Vector:
    """Return the standard deviation of each channel, 1 for those that have none."""
    unit = np.sqrt(np.diag(covariance))
    return np.where(unit > 0.0, unit, 1.0)


@exact_kernel
def follow_moments(
    X: Matrix,
    Z: Matrix,
    mean: Vector,
    covariance: Matrix,
    whiten: Matrix,
    clock: Vector,
    forgetting: float,
    kept: float,
    guard: Vector,
    e: Vector,
) -> int:
    """Whiten the rows of X into Z, mean and covariance following.

    Stops, and returns which row it was, when it has learnt from a row for which the map is due for renewal: that row
    is whitened by the new map, and so is never too loud, for the map knows of it.

    ``clock`` holds the count of samples and the count at which the map is due.
    """
    d, q = whiten.shape
    for t in range(X.shape[0]):
        size = 0.0
        for j in range(q):
            size += abs(X[t, j])
        # A dropout has nothing to teach; but where means count, a sample of zeros is one like any other.
        if not size < math.inf or (size == 0.0 and kept == 0.0):
            for i in range(d):
                Z[t, i] = 0.0 * size
            continue
        power = 0.0
        for j in range(q):
            e[j] = X[t, j] - mean[j]
            power += e[j] * e[j]
        if clock[0] == 1.0 and power == 0.0:  # as long as nothing varies, the stream has not begun
            for i in range(d):
                Z[t, i] = 0.0
            continue
        clock[0] += 1.0
        w = max(forgetting, 1.0 / clock[0])
        if clock[0] > 1.0 and power > 0.0 and g.admit(power / q, guard, forgetting, False, g.RARE) < 1.0:
            w = 0.0  # a burst teaches nothing
        for j in range(q):
            mean[j] += w * e[j]
        for i in range(q):
            for j in range(q):
                covariance[i, j] = (1.0 - w) * (covariance[i, j] + w * e[i] * e[j])
        if clock[0] >= clock[1]:
            return t
        for i in range(d):
            white = 0.0
            for j in range(q):
                white += whiten[i, j] * (X[t, j] - (1.0 - kept) * mean[j])
            Z[t, i] = white
    return X.shape[0]


@dataclass(slots=True, eq=False)
class Online:
    """Running mean and covariance with forgetting, and the map that whitens by them.

    ``rank`` tells how many axes of the map had power when it was last renewed.
    The map is renewed ever more seldom as the memory grows. Each time it is turned to lie as close as possible
    to the one before (orthogonal Procrustes), so that signs and order never flip while the network learns on.
    """

    SHAPES: ClassVar = {
        "mean": ("n",),
        "map": ("q", "n"),
        "covariance": ("n", "n"),
        "clock": (2,),
        "guard": (g.LENGTH,),
    }

    mean: Vector
    map: Matrix
    covariance: Matrix
    clock: Vector
    guard: Vector
    forgetting: float
    keep_mean: bool = False
    rank: int = 0

    @classmethod
    def start(cls, n_components: int, n_features: int, forgetting: float, *, keep_mean: bool = False) -> Self:
        """Return the whitener before the first sample of a network that forgets at this rate."""
        return cls(
            np.zeros(n_features),
            np.zeros((n_components, n_features)),
            np.zeros((n_features, n_features)),
            np.array([0.0, 1.0]),
            np.zeros(g.LENGTH),
            forgetting / MEMORY,
            keep_mean,
            n_components,
        )

    def learn(self, X: Matrix) -> Matrix:
        """Whiten the rows of X in turn, learning from each."""
        Z = np.empty((X.shape[0], self.map.shape[0]))
        done = 0
        while done < X.shape[0]:
            done += follow_moments(
                X[done:],
                Z[done:],
                self.mean,
                self.covariance,
                self.map,
                self.clock,
                self.forgetting,
                float(self.keep_mean),
                self.guard,
                np.empty_like(self.mean),
            )
            if done < X.shape[0]:
                self._renew()
                whiten_rows(X[done : done + 1], Z[done : done + 1], self.mean, self.map, float(self.keep_mean), 0.0)
                done += 1
        return Z

    def _renew(self) -> None:
        """Whiten by the covariance so far; early on, as if a few isotropic samples had been seen as well."""
        d, q = self.map.shape
        seen = self.clock[0]
        self.clock[1] = seen + max(1.0, np.floor(min(seen, 1.0 / self.forgetting) / REFRESH))
        doubt = min(1.0, (q / seen) ** 4)
        # With all axes kept the channels are brought to one scale first, so that their units do not matter.
        unit = _units(self.covariance) if d == q else np.ones(q)
        covariance = self.covariance / np.outer(unit, unit)
        isotropic = np.trace(covariance) / q
        if isotropic == 0.0:
            return
        power, axes = np.linalg.eigh(covariance)
        power, axes = power[::-1][:d], axes[:, ::-1][:, :d]
        supported = power > power[0] * q * ROUNDING
        if doubt > CERTAIN:
            supported[:] = True
        power = (1.0 - doubt) * power + doubt * isotropic
        self.rank = int(np.count_nonzero(supported))
        root = np.sqrt(np.where(supported, power, np.inf))
        fresh = (axes / root).T / unit
        left, _, right = np.linalg.svd(self.map * unit @ (axes * np.where(supported, root, 0.0)))
        self.map[:] = (left @ right) @ fresh if self.map.any() else fresh
