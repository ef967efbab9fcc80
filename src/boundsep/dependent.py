"""Bounded sources that depend on each other; all but `copula` with ``rho`` are uncorrelated all the same.

``sources`` exports them and states the conventions.
"""

from typing import Any

import numpy as np
from scipy.linalg import toeplitz
from scipy.special import stdtr

from boundsep._types import Matrix


def shared_amplitude(n_samples: int, n_sources: int, *, quietest: float = 0.2, random_state: Any = None) -> Matrix:
    """Uniform sources that grow loud and quiet together: ``r_t u_t`` with one r_t in [quietest, 1] for all.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    quietest : float
        The smallest amplitude.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> S = shared_amplitude(50_000, 2, random_state=0)
    >>> bool(abs(np.corrcoef(S.T)[0, 1]) < 0.02), bool(np.corrcoef(S.T**2)[0, 1] > 0.1)
    (True, True)
    """
    rng = np.random.default_rng(random_state)
    amplitude = rng.uniform(quietest, 1.0, (n_samples, 1))
    return amplitude * rng.uniform(-1.0, 1.0, (n_samples, n_sources))


def l1_ball(n_samples: int, n_sources: int, *, corners: float = 0.02, random_state: Any = None) -> Matrix:
    """Return sources uniform in the ball ``sum |s_i| <= 1``, and a few samples at corners of the cube around it.

    The ball is a rotated support: in two dimensions a square that stands on its corner. Without the corners
    nothing tells the two squares apart.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    corners : float
        The share of samples at corners of the cube.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> S = l1_ball(1000, 3, corners=0.0, random_state=0)
    >>> bool(abs(S).sum(axis=1).max() <= 1.0)
    True
    """
    rng = np.random.default_rng(random_state)
    # The first d of d + 1 normalised exponentials are uniform in the simplex; signs make it a ball.
    parts = rng.exponential(size=(n_samples, n_sources + 1))
    signs = rng.choice([-1.0, 1.0], (n_samples, n_sources))
    at_corner = rng.uniform(size=(n_samples, 1)) < corners
    inside = parts[:, :-1] / parts.sum(axis=1, keepdims=True)
    return signs * np.where(at_corner, 1.0, inside)


def x_shape(n_samples: int, n_sources: int, *, random_state: Any = None) -> Matrix:
    """Pairs of sources of one magnitude and two signs, ``|s_1| = |s_2|``: two of them fill the letter X.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape; where the number is odd, the last source is by itself.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> S = x_shape(1000, 2, random_state=0)
    >>> bool(np.all(abs(S[:, 0]) == abs(S[:, 1])))
    True
    """
    rng = np.random.default_rng(random_state)
    magnitude = np.repeat(rng.uniform(size=(n_samples, (n_sources + 1) // 2)), 2, axis=1)[:, :n_sources]
    return magnitude * rng.choice([-1.0, 1.0], (n_samples, n_sources))


def copula(n_samples: int, n_sources: int, *, rho: float = 0.0, dof: float = 4.0, random_state: Any = None) -> Matrix:
    """Uniform sources joined by a copula of Student's t: dependent in the tails, and correlated where rho is not 0.

    Parameters
    ----------
    n_samples, n_sources : int
        The shape.
    rho : float
        Neighbours' correlation before the copula; the matrix is Toeplitz, 1, rho, rho^2 and so on.
    dof : float
        Degrees of freedom: the fewer, the more the extremes come together.
    random_state : seed
        See `numpy.random.default_rng`.

    Returns
    -------
    S : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> S = copula(50_000, 2, rho=0.5, random_state=0)
    >>> bool(0.4 < np.corrcoef(S.T)[0, 1] < 0.55)
    True
    """
    rng = np.random.default_rng(random_state)
    correlation = toeplitz(rho ** np.arange(n_sources))
    normal = rng.normal(size=(n_samples, n_sources)) @ np.linalg.cholesky(correlation).T
    student = normal / np.sqrt(rng.chisquare(dof, (n_samples, 1)) / dof)
    return 2.0 * stdtr(dof, student) - 1.0
