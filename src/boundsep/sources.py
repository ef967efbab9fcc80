"""Bounded sources with known truth. Each function returns S of shape (n_samples, n_sources).

Unless its documentation says otherwise every source has zero mean and fills [-1, 1]. ``random_state`` is whatever
`numpy.random.default_rng` takes; the same one gives the same sources.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundsep._types import Matrix
from boundsep.dependent import copula, l1_ball, shared_amplitude, x_shape
from boundsep.photographs import photographs

__all__ = [
    "clipped_gaussian",
    "copula",
    "l1_ball",
    "nonnegative",
    "pam",
    "photographs",
    "qam",
    "shared_amplitude",
    "sines",
    "sparse",
    "stack_complex",
    "triangles",
    "uniform",
    "unstack_complex",
    "x_shape",
]

Seed: TypeAlias = Any


# --- independent ------------------------------------------------------------------------------------------------


def uniform(
    n_samples: int,
    n_sources: int,
    *,
    widths: tuple[float, float] = (2.0, 7.0),
    random_state: Seed = None,
) -> Matrix:
    """Uniform sources, each of a width drawn at random: the paper's U[0, B] less their mean.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    widths : pair of float
        B is drawn uniformly between these two; source i lies in [-B_i/2, B_i/2].
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> S = uniform(1000, 3, random_state=0)
    >>> S.shape, bool(abs(S).max() <= 3.5)
    ((1000, 3), True)
    """
    rng = np.random.default_rng(random_state)
    B = rng.uniform(*widths, n_sources)
    return rng.uniform(-0.5, 0.5, (n_samples, n_sources)) * B


def nonnegative(n_samples: int, n_sources: int, *, random_state: Seed = None) -> Matrix:
    """Nonnegative sources in [0, 1], silent half of the time: what `NSM` is for.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> S = nonnegative(1000, 3, random_state=0)
    >>> float(S.min()), bool(S.max() <= 1.0)
    (0.0, True)
    """
    rng = np.random.default_rng(random_state)
    return np.maximum(rng.uniform(-1.0, 1.0, (n_samples, n_sources)), 0.0)


def sparse(
    n_samples: int, n_sources: int, *, kind: str = "uniform", active: float = 0.3, random_state: Seed = None
) -> Matrix:
    """Sparse bounded sources: small or zero most of the time, at their bounds seldom.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    kind : {"uniform", "ternary", "laplace"}
        "uniform": zero, or uniform in [-1, 1]. "ternary": zero, or -1 or 1. "laplace": a Laplace density of scale
        ``active`` cut off at -1 and 1.
    active : float
        The share of samples that are not zero; for "laplace", the scale.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> np.unique(sparse(1000, 2, kind="ternary", random_state=0)).tolist()
    [-1.0, 0.0, 1.0]
    """
    rng = np.random.default_rng(random_state)
    shape = (n_samples, n_sources)
    if kind == "laplace":
        highest = 1.0 - np.exp(-1.0 / active)  # of the distribution of the magnitude
        size = -active * np.log1p(-highest * rng.uniform(size=shape))
        return np.minimum(size, 1.0) * rng.choice([-1.0, 1.0], shape)
    on = rng.uniform(size=shape) < active
    if kind == "ternary":
        return np.where(on, rng.choice([-1.0, 1.0], shape), 0.0)
    if kind == "uniform":
        return np.where(on, rng.uniform(-1.0, 1.0, shape), 0.0)
    raise ValueError(f"kind must be 'uniform', 'ternary' or 'laplace'. Got {kind!r} instead.")


def clipped_gaussian(n_samples: int, n_sources: int, *, limit: float = 1.0, random_state: Seed = None) -> Matrix:
    """Gaussian sources that a recorder has clipped at ``limit`` standard deviations, scaled to [-1, 1].

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    limit : float
        Where they are clipped.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> bool((abs(clipped_gaussian(1000, 2, random_state=0)) == 1.0).mean() > 0.2)
    True
    """
    rng = np.random.default_rng(random_state)
    return np.clip(rng.normal(size=(n_samples, n_sources)) / limit, -1.0, 1.0)


# --- signals ----------------------------------------------------------------------------------------------------


def pam(n_samples: int, n_sources: int, *, levels: int = 4, random_state: Seed = None) -> Matrix:
    """Pulse amplitude modulation: symbols on ``levels`` equally spaced levels from -1 to 1.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    levels : int
        How many.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> np.unique(pam(1000, 2, levels=2, random_state=0)).tolist()
    [-1.0, 1.0]
    """
    rng = np.random.default_rng(random_state)
    return np.linspace(-1.0, 1.0, levels)[rng.integers(levels, size=(n_samples, n_sources))]


def qam(n_samples: int, n_sources: int, *, order: int = 16, random_state: Seed = None) -> NDArray[np.complex128]:
    """Square quadrature amplitude modulation: complex symbols whose two parts are PAM.

    Separators are real: `stack_complex` makes two real channels of each complex one, the real parts first.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    order : int
        The number of symbols: a square number.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of complex, shape (n_samples, n_sources)

    Examples
    --------
    >>> S = qam(1000, 2, order=16, random_state=0)
    >>> len(np.unique(S)), stack_complex(S).shape
    (16, (1000, 4))
    """
    levels = round(order**0.5)
    if levels**2 != order:
        raise ValueError(f"order must be a square number. Got {order!r} instead.")
    parts = pam(n_samples, 2 * n_sources, levels=levels, random_state=random_state)
    return unstack_complex(parts)


def stack_complex(Z: NDArray[np.complexfloating[Any, Any]]) -> Matrix:
    """Stack a complex record (n, d) into a real one (n, 2 d): all real parts, then all imaginary parts.

    `mixing.stack_complex` does the same to the matrix that mixes them.

    Parameters
    ----------
    Z : ndarray of complex, shape (n_samples, d)
        The record.

    Returns
    -------
    S : ndarray of shape (n_samples, 2 * d)

    Examples
    --------
    >>> stack_complex(np.array([[1 + 2j, 3 + 4j]])).tolist()
    [[1.0, 3.0, 2.0, 4.0]]
    """
    return np.hstack([Z.real, Z.imag]).astype(np.float64)


def unstack_complex(S: Matrix) -> NDArray[np.complex128]:
    """Undo `stack_complex`.

    Parameters
    ----------
    S : ndarray of shape (n_samples, 2 * d)
        All real parts, then all imaginary parts.

    Returns
    -------
    Z : ndarray of complex, shape (n_samples, d)

    Examples
    --------
    >>> unstack_complex(np.array([[1.0, 3.0, 2.0, 4.0]])).tolist()
    [[(1+2j), (3+4j)]]
    """
    d = S.shape[1] // 2
    return S[:, :d] + 1j * S[:, d:]


def sines(n_samples: int, n_sources: int, *, random_state: Seed = None) -> Matrix:
    """Sines of unrelated frequencies and random phases.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> bool(abs(np.corrcoef(sines(10_000, 3, random_state=0).T) - np.eye(3)).max() < 0.02)
    True
    """
    return np.sin(2.0 * np.pi * _phases(n_samples, n_sources, random_state))


def triangles(n_samples: int, n_sources: int, *, random_state: Seed = None) -> Matrix:
    """Triangle waves of unrelated frequencies and random phases.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> bool(abs(triangles(10_000, 3, random_state=0)).max() > 0.99)
    True
    """
    return 1.0 - 4.0 * np.abs(_phases(n_samples, n_sources, random_state) % 1.0 - 0.5)


def _phases(n_samples: int, n_sources: int, random_state: Seed) -> Matrix:
    """Return phases in turns, the frequencies well apart."""
    rng = np.random.default_rng(random_state)
    frequencies = 0.005 + 0.12 * (rng.permutation(n_sources) + rng.uniform(0.2, 0.8, n_sources)) / n_sources
    return np.arange(n_samples)[:, None] * frequencies + rng.uniform(size=n_sources)
