"""The three whiteners: white, rightly scaled, continuous, and none the worse for offset, units or q > d."""

import numpy as np
import pytest

from boundsep import mixing
from boundsep.whitening import Fixed, Online, correlation_rank, moments
from boundsep.whitening_local import Neural
from conftest import COMPILED

D = 4
N = 60_000 if COMPILED else 3000


def record(seed, n_sensors, n=N, offset=3.0, units=1.0):
    rng = np.random.default_rng(seed)
    A = mixing.gaussian(n_sensors, D, random_state=rng) * units
    S = rng.uniform(-1.0, 1.0, (n, D)) * np.sqrt(3.0)
    return S @ A.T + offset * rng.normal(size=n_sensors) * units, A


def whiteness_error(whitener, A):
    """Return how far the covariance of the output, for the true covariance of the input, is from the identity."""
    covariance = whitener.map @ A @ A.T @ whitener.map.T
    return np.linalg.norm(covariance - np.eye(len(covariance))) / np.sqrt(len(covariance))


def test_moments_are_those_of_numpy(rng):
    X = rng.normal(size=(40_001, 3)) + 5.0
    mean, covariance = moments(X)
    np.testing.assert_allclose(mean, X.mean(axis=0))
    np.testing.assert_allclose(covariance, np.cov(X.T, bias=True))
    mean32, _ = moments(X.astype(np.float32))
    np.testing.assert_allclose(mean32, mean, rtol=1e-6)


@pytest.mark.parametrize("n_sensors", [D, D + 3])
def test_exact_is_white_within_rounding(n_sensors):
    X, _ = record(0, n_sensors)
    whitener = Fixed.exact(*moments(X), D)
    Z = whitener.learn(X)
    np.testing.assert_allclose(np.cov(Z.T, bias=True), np.eye(D), atol=1e-10)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-10)
    keeping = Fixed.exact(*moments(X), D, keep_mean=True)
    kept = keeping.learn(X)
    np.testing.assert_allclose(kept, X @ keeping.map.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.cov(kept.T, bias=True), np.eye(D), atol=1e-10)
    assert np.all(keeping.map @ keeping.mean >= 0.0)


def test_exact_takes_channels_of_any_units():
    X, _ = record(0, D)
    units = np.array([1e-9, 1.0, 1e6, 1e3])
    Z = Fixed.exact(*moments(X * units), D).learn(X * units)
    np.testing.assert_allclose(np.cov(Z.T, bias=True), np.eye(D), atol=1e-9)


@pytest.mark.parametrize(("kind", "limit"), [(Online, 0.05), (Neural, 0.15)])
@pytest.mark.parametrize("n_sensors", [D, D + 3])
@pytest.mark.parametrize("units", [1.0, 1e-6, 1e6])
def test_streaming_whiteners_become_white(kind, limit, n_sensors, units):
    errors = []
    for seed in range(5):
        X, A = record(seed, n_sensors, units=units)
        whitener = kind.start(D, n_sensors, 4e-3)
        Z = whitener.learn(X)
        assert np.isfinite(Z).all()
        assert whitener.rank == D
        errors.append(whiteness_error(whitener, A))
        np.testing.assert_allclose(whitener.mean, X.mean(axis=0), atol=0.1 * np.linalg.norm(A))
    assert np.median(errors) < (limit if COMPILED else 3.0 * limit)


@pytest.mark.parametrize("kind", [Online, Neural])
def test_what_comes_out_is_the_map_of_what_went_in(kind):
    X, _ = record(1, D + 1)
    whitener = kind.start(D, D + 1, 4e-3)
    whitener.learn(X)
    before, mean = whitener.map.copy(), whitener.mean.copy()
    Z = whitener.learn(X[:1])
    np.testing.assert_allclose(Z[0], before @ (X[0] - mean), atol=1e-2)


@pytest.mark.parametrize("kind", [Online, Neural])
def test_the_mean_can_be_kept(kind):
    X, _ = record(2, D)
    free, kept = kind.start(D, D, 4e-3), kind.start(D, D, 4e-3, keep_mean=True)
    Z, K = free.learn(X), kept.learn(X)
    np.testing.assert_allclose(K[-1] - Z[-1], free.map @ free.mean, atol=1e-2 * np.abs(free.map @ free.mean).max())


def test_the_online_map_never_flips():
    """Between any two samples the map turns a little; a flip of sign or order would turn a row by a right angle."""
    X, A = record(3, D)
    whitener = Online.start(D, D, 4e-3)
    whitener.learn(X[:500])
    for start in range(500, len(X), 50):
        before = whitener.map @ A
        whitener.learn(X[start : start + 50])
        after = whitener.map @ A
        cosines = np.sum(before * after, axis=1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
        assert cosines.min() > 0.9


@pytest.mark.parametrize("kind", [Online, Neural])
def test_lost_rank_is_counted(kind, rng):
    X = rng.uniform(-1.0, 1.0, (N, 2)) @ rng.normal(size=(2, D))
    whitener = kind.start(D, D, 4e-3)
    Z = whitener.learn(X)
    assert whitener.rank == 2
    assert np.isfinite(Z).all()
    assert np.abs(Z[-100:]).max() < 10.0


@pytest.mark.parametrize("kind", [Online, Neural])
def test_a_dead_or_a_loud_channel_breaks_nothing(kind, rng):
    X = rng.uniform(-1.0, 1.0, (2000, D))
    X[:, 1] = 7.0
    X[1000:1010, 2] = 1e6
    X[1500] = np.nan
    whitener = kind.start(D, D, 4e-3)
    with np.errstate(all="ignore"):
        Z = whitener.learn(X)
    assert np.isfinite(np.delete(Z, 1500, axis=0)).all()
    assert np.isnan(Z[1500]).all()
    assert np.isfinite(whitener.map).all()


def test_the_local_whitener_learns_from_what_its_synapses_join(rng):
    """One step of the kernel is the three rules as they are written down."""
    whitener = Neural.start(2, 3, 4e-3)
    X = rng.uniform(-1.0, 1.0, (300, 3))
    whitener.learn(X[:-1])
    V, M, L = whitener.V.copy(), whitener.M.copy(), whitener.L.copy()
    x = whitener.learn(X[-1:])[0]
    e = (X[-1] - whitener.mean) / (1.0 - 1.0 / 300) / np.sqrt(whitener.power)
    h = np.linalg.solve(M, V @ e)
    np.testing.assert_allclose(np.linalg.solve(L, h), x, rtol=1e-8)
    slow, step = 1.0 / 306.0, 1.5 / 312.0
    np.testing.assert_allclose(whitener.V, V + slow * (np.outer(h, e) - V), rtol=1e-8)
    np.testing.assert_allclose(whitener.M, M + slow * (np.outer(h, h) - M), rtol=1e-8)
    np.testing.assert_allclose(whitener.L, L + step * (np.outer(x, x) - np.eye(2)), rtol=1e-8)


def test_rank_does_not_depend_on_units(rng):
    X = rng.normal(size=(1000, 3))
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.zeros(1000)]) * [1.0, 1e-6, 1e8, 1.0, 1.0]
    X[:, 3] = X[:, 0] + X[:, 1] * 1e6
    assert correlation_rank(moments(X)[1], 1000) == 3
    assert correlation_rank(np.zeros((2, 2)), 1000) == 0
