"""What several tests share: records with known truth, and whether the compiler is on."""

import numpy as np
import pytest
from numba import config

from boundsep import State, metrics, mixing, schedules

COMPILED = not config.DISABLE_JIT


@pytest.fixture
def rng():
    return np.random.default_rng(20201)


def some_weights(rng, d, q=None):
    """Return W, M, D, and the inverse of M, such as a network might have, in no special position."""
    q = d if q is None else q
    Y = rng.uniform(-1.0, 1.0, (20 * d, d))
    M = Y.T @ Y / len(Y)
    return rng.normal(size=(d, q)), M, rng.uniform(0.5, 3.0, d), np.linalg.inv(M)


def white_uniform(n_samples, d, seed):
    """Return the paper's example: uniform sources, their orthogonal mixture, white by its true covariance."""
    rng = np.random.default_rng(seed)
    B = rng.uniform(2.0, 7.0, d)
    S = rng.uniform(-0.5, 0.5, (n_samples, d)) * B
    Q = mixing.orthogonal(d, random_state=rng)
    return np.ascontiguousarray((S / B * np.sqrt(12.0)) @ Q.T), Q


def start(d, q=None, *, whiten=None, euler=False, **rates):
    """Return the state of a network with the paper's rates, or others."""
    return State.start(d, q or d, whiten=whiten, rates=schedules.paper(**rates), euler=euler)


def total_sir(state, A):
    return metrics.sir(state.components(), A).total
