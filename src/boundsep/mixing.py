"""S -> X: mixing matrices, fixed or drifting, and noise. ``X = S A' + noise``, with A of shape (sensors, sources)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundsep._types import Matrix, Vector

# --- matrices -----------------------------------------------------------------------------------------------


def orthogonal(n_sources: int, *, random_state: Any = None) -> Matrix:
    """Return a random orthogonal matrix, uniformly distributed.

    Parameters
    ----------
    n_sources : int
        Its size.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    A : ndarray of shape (n_sources, n_sources)

    Examples
    --------
    >>> A = orthogonal(4, random_state=0)
    >>> bool(np.allclose(A @ A.T, np.eye(4)))
    True
    """
    rng = np.random.default_rng(random_state)
    Q, R = np.linalg.qr(rng.normal(size=(n_sources, n_sources)))
    return Q * np.sign(np.diag(R))


def gaussian(n_sensors: int, n_sources: int, *, random_state: Any = None) -> Matrix:
    """Return a matrix of independent standard normal entries.

    Parameters
    ----------
    n_sensors, n_sources : int
        Its shape.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    A : ndarray of shape (n_sensors, n_sources)

    Examples
    --------
    >>> gaussian(5, 3, random_state=0).shape
    (5, 3)
    """
    return np.random.default_rng(random_state).normal(size=(n_sensors, n_sources))


def ill_conditioned(n_sensors: int, n_sources: int, *, condition: float = 1e3, random_state: Any = None) -> Matrix:
    """Return a random matrix of a given condition, its singular values falling geometrically from 1.

    Parameters
    ----------
    n_sensors, n_sources : int
        Its shape.
    condition : float
        The largest singular value over the smallest.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    A : ndarray of shape (n_sensors, n_sources)

    Examples
    --------
    >>> A = ill_conditioned(5, 3, condition=1e4, random_state=0)
    >>> f"{np.linalg.cond(A):.0f}"
    '10000'
    """
    rng = np.random.default_rng(random_state)
    rank = min(n_sensors, n_sources)
    left = orthogonal(n_sensors, random_state=rng)[:, :rank]
    right = orthogonal(n_sources, random_state=rng)[:, :rank]
    return left * np.geomspace(1.0, 1.0 / condition, rank) @ right.T


def stack_complex(A: NDArray[np.complexfloating[Any, Any]]) -> Matrix:
    """Return the real matrix that mixes stacked real and imaginary parts as the complex A mixes complex sources.

    Parameters
    ----------
    A : ndarray of complex, shape (q, d)
        The complex matrix.

    Returns
    -------
    A : ndarray of shape (2 * q, 2 * d)

    Examples
    --------
    >>> stack_complex(np.array([[1 + 2j]])).tolist()
    [[1.0, -2.0], [2.0, 1.0]]
    """
    return np.block([[A.real, -A.imag], [A.imag, A.real]]).astype(np.float64)


# --- mixtures -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """A record with its truth.

    ``X`` is what the sensors saw, ``S`` the sources, ``A`` the matrix that mixed them, ``noise`` what was added.
    Where the matrix drifts, ``A`` is the one at the end, ``planes`` are those it turns in, and ``angle`` how far.
    """

    X: Matrix
    S: Matrix
    A: Matrix
    noise: Matrix
    planes: Matrix | None = None
    angle: float = 0.0

    @property
    def power(self) -> Vector:
        """The variance of each source, which `metrics.sir` takes."""
        return self.S.var(axis=0)

    def matrix_at(self, sample: int) -> Matrix:
        """Return the matrix that mixed one sample."""
        if self.planes is None:
            return self.A
        left = self.angle * (sample / max(1, len(self.S) - 1) - 1.0)
        return self.A @ _rotation(self.planes, left)


def mix(S: Matrix, A: Matrix, *, snr: float = np.inf, random_state: Any = None) -> Mixture:
    """Mix sources, and add white Gaussian noise.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_sources)
        The sources.
    A : ndarray of shape (n_sensors, n_sources)
        The matrix.
    snr : float
        Power of the mixtures over that of the noise, in dB, summed over all sensors.
    random_state : seed
        Of the noise; see `numpy.random.default_rng`.

    Returns
    -------
    Mixture

    Examples
    --------
    >>> S = np.random.default_rng(0).uniform(-1, 1, (1000, 2))
    >>> mixture = mix(S, orthogonal(2, random_state=0), snr=20.0, random_state=1)
    >>> clean = mixture.X - mixture.noise
    >>> f"{10 * np.log10(clean.var() / mixture.noise.var()):.0f} dB"
    '20 dB'
    """
    return _with_noise(S @ A.T, S, A, snr, random_state)


def mix_drifting(
    S: Matrix, A: Matrix, *, angle: float = np.pi / 2.0, snr: float = np.inf, random_state: Any = None
) -> Mixture:
    """Mix sources by a matrix that turns steadily while they stream past.

    At sample t of n it is ``A R(t)``, where R turns by ``angle * t / (n - 1)`` in random planes of the source space:
    the condition of A never changes. `Mixture.matrix_at` gives the matrix at any time.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_sources)
        The sources.
    A : ndarray of shape (n_sensors, n_sources)
        The matrix at the start.
    angle : float
        How far it turns in all, in radians.
    snr : float
        As in `mix`.
    random_state : seed
        Of the planes and of the noise.

    Returns
    -------
    Mixture

    Examples
    --------
    >>> S = np.random.default_rng(0).uniform(-1, 1, (1000, 2))
    >>> mixture = mix_drifting(S, np.eye(2), random_state=0)
    >>> bool(np.allclose(mixture.X[0], S[0])), bool(np.allclose(mixture.X[-1], S[-1] @ mixture.A.T))
    (True, True)
    """
    rng = np.random.default_rng(random_state)
    planes = orthogonal(S.shape[1], random_state=rng)
    angles = angle * np.linspace(0.0, 1.0, len(S))
    turned = _turn(S @ planes, angles) @ planes.T
    last = A @ _rotation(planes, angle)
    return _with_noise(turned @ A.T, S, last, snr, rng, planes, angle)


def _rotation(planes: Matrix, angle: float) -> Matrix:
    """Return the rotation by one angle in the planes of columns 0 and 1, 2 and 3, and so on."""
    d = len(planes)
    # Rows of a record turn by the transpose of what turns columns.
    return planes @ _turn(np.eye(d), np.full(d, angle)).T @ planes.T


def _turn(S: Matrix, angles: Vector) -> Matrix:
    """Turn each row of S by its angle in the planes of its coordinates 0 and 1, 2 and 3, and so on."""
    turned = S.copy()
    even = S.shape[1] // 2 * 2
    first, second = S[:, 0:even:2], S[:, 1:even:2]
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    turned[:, 0:even:2] = cosine * first - sine * second
    turned[:, 1:even:2] = sine * first + cosine * second
    return turned


def _with_noise(
    clean: Matrix,
    S: Matrix,
    A: Matrix,
    snr: float,
    random_state: Any,
    planes: Matrix | None = None,
    angle: float = 0.0,
) -> Mixture:
    rng = np.random.default_rng(random_state)
    noise = np.zeros_like(clean)
    if np.isfinite(snr):
        noise = rng.normal(size=clean.shape)
        noise *= np.sqrt(np.mean(clean.var(axis=0)) / np.mean(noise.var(axis=0)) * 10.0 ** (-snr / 10.0))
    return Mixture(clean + noise, S, A, noise, planes, angle)
