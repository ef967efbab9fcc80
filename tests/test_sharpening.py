"""Stage two: the compiled loop against the oracle, what it descends on, and what it does to a map."""

import math

import numpy as np
import pytest

from boundsep import metrics, mixing, rules, sources
from boundsep import sharpening as sh
from boundsep.sharpening import Sharpening
from conftest import COMPILED, white_uniform


def begin(unmixing, *, patience=sh.PATIENCE, memory=math.inf, centre=None):
    """Return stage two behind a guard that has heard enough to judge, at unit power."""
    d = len(unmixing)
    guard = np.zeros(sh.g.LENGTH)
    guard[sh.g.HEARD], guard[sh.g.POWER] = 1000.0, 1.0
    return Sharpening.start(unmixing, np.zeros(d) if centre is None else centre, guard, patience, memory)


def near(Q, decibels, seed, fill=0.55):
    """Return an unmixing matrix that is so many dB off, its outputs about filling [-1, 1]."""
    d = len(Q)
    noise = np.random.default_rng(seed).normal(size=(d, d)) / math.sqrt(d)
    return fill * (np.eye(d) + 10.0 ** (-decibels / 20.0) * noise) @ Q.T


def oracle(V, centre, X, patience, memory):
    """Stage two in NumPy: one sample after the other, by the functions of `rules.py`."""
    d = len(V)
    growth, excess, surprise = np.full(d, sh.FASTEST), np.full(d, sh.BLUNT), np.ones(d)
    slower, regrow = math.exp(-2.0 / (patience * d)), 1.0 + 2.0 / memory
    follow = min(0.2, 4.0 / (patience * d))
    Y = np.empty((len(X), d))
    for t, x in enumerate(X):
        V = rules.grow(V, growth)
        growth = np.minimum(sh.FASTEST, growth * regrow)
        Y[t] = rules.clip(V @ x - centre)
        over = rules.excess(V, centre, x)
        hit = over != 0.0
        if not hit.any():
            continue
        ratio = np.minimum(np.abs(over) / excess, sh.BEYOND)
        over = np.sign(over) * ratio * excess
        V = rules.push_back(V, over, x, sh.PUSH)
        centre = centre + sh.LEAN * over
        growth[hit] *= slower
        excess[hit] *= 1.0 + follow * (ratio[hit] - 1.0)
        surprise[hit] += sh.SOON * (ratio[hit] - surprise[hit])
        startled = hit & (surprise > sh.STARTLED)
        excess[startled] *= surprise[startled]
        growth[startled] = np.minimum(sh.FASTEST, growth[startled] * surprise[startled] ** 2)
        surprise[startled] = 1.0
    return Y, V, centre, growth, excess


@pytest.mark.parametrize("memory", [math.inf, 500.0])
@pytest.mark.parametrize(("d", "q"), [(1, 1), (4, 4), (3, 5)])
def test_learning_is_that_of_the_oracle(rng, d, q, memory):
    X = rng.uniform(-1.7, 1.7, (400, q)) + 0.2
    X[200] *= 1.5  # one that surprises
    X *= 1.0 / np.sqrt(np.mean(X**2))
    V = 0.6 * np.eye(d, q) + 0.05 * rng.normal(size=(d, q))
    centre = rng.uniform(-0.1, 0.1, d)
    stage = begin(V, patience=8.0, memory=memory, centre=centre)
    Y = stage.learn(X)
    expected = oracle(V, centre, X, 8.0, memory)
    found = (Y, stage.unmixing(), stage.centre, stage.faces[sh.GROWTH], stage.faces[sh.EXCESS])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert stage.guard[sh.g.LIMITED] == 0.0
    assert stage.hits() > 10.0


def test_the_updates_descend_on_the_cost(rng):
    """Growth and push, in the mean over samples, are the relative gradient of the cost; the centre's is its own."""
    d, growth, part = 4, 0.01, 0.5
    X = rng.uniform(-2.0, 2.0, (300, d))
    V, centre = np.eye(d) + 0.1 * rng.normal(size=(d, d)), rng.uniform(-0.2, 0.2, d)
    weights = part / np.sum((X @ V.T) ** 2, axis=1)
    step = np.mean([rules.push_back(V, rules.excess(V, centre, x), x, part) - V for x in X], axis=0) + growth * V

    def slope(of, size=1e-6):
        gradient = np.zeros_like(of)
        for index in np.ndindex(of.shape):
            moved = of.copy()
            moved[index] += size
            up = rules.sharpening_cost(*((moved, centre) if of is V else (V, moved)), X, weights, growth)
            moved[index] -= 2.0 * size
            down = rules.sharpening_cost(*((moved, centre) if of is V else (V, moved)), X, weights, growth)
            gradient[index] = (up - down) / (2.0 * size)
        return gradient

    np.testing.assert_allclose(step, -slope(V) @ V.T @ V, atol=1e-8)
    pull = np.mean([w * rules.excess(V, centre, x) for w, x in zip(weights, X, strict=True)], axis=0)
    np.testing.assert_allclose(pull, -slope(centre), atol=1e-8)


def test_a_whole_push_lands_the_sample_on_the_face(rng):
    V, centre, x = rng.normal(size=(3, 3)), rng.uniform(-0.2, 0.2, 3), 3.0 * rng.normal(size=3)
    over = rules.excess(V, centre, x)
    assert np.any(over != 0.0)
    np.testing.assert_allclose(rules.excess(rules.push_back(V, over, x, 1.0), centre, x), 0.0, atol=1e-12)


def test_the_mixing_does_not_matter(rng):
    """The total map moves by itself: whatever the sensors, if the start is the same for the sources."""
    X, Q = white_uniform(3000, 4, 0)
    T = rng.normal(size=(4, 4)) + 3.0 * np.eye(4)
    T /= math.sqrt(np.mean((X @ T.T) ** 2))
    one, other = begin(near(Q, 20.0, 0)), begin(near(Q, 20.0, 0) @ np.linalg.inv(T))
    np.testing.assert_allclose(other.learn(X @ T.T), one.learn(X), atol=1e-9)


@pytest.mark.compiled
def test_the_error_falls_as_one_over_the_samples():
    """By 20 dB a decade, where covariances allow 10."""
    reached = []
    for seed in range(5):
        X, Q = white_uniform(100_000, 5, seed)
        stage = begin(near(Q, 20.0, seed))
        stage.learn(X[:10_000])
        early = metrics.sir(stage.unmixing(), Q).total
        stage.learn(X[10_000:])
        reached.append((early, metrics.sir(stage.unmixing(), Q).total))
    early, late = np.median(reached, axis=0)
    assert early > 45.0
    assert late - early > 15.0


@pytest.mark.compiled
def test_growth_falls_by_the_hits_at_any_density_of_the_faces():
    """Levels that are reached by half of the samples, and faces that are reached linearly: both get sharp."""
    for kind, floor in ((sources.pam, 33.0), (sources.shared_amplitude, 33.0)):
        for seed in range(3):
            S = kind(50_000, 4, random_state=seed)
            Q = mixing.orthogonal(4, random_state=seed)
            X = np.ascontiguousarray(S / S.std(axis=0) @ Q.T)
            stage = begin(near(Q, 20.0, seed))
            stage.learn(X)
            assert metrics.sir(stage.unmixing(), Q).total > floor


def test_silence_and_what_is_not_finite_teach_nothing(rng):
    stage = begin(0.5 * np.eye(3))
    before = stage.unmixing()
    X = np.zeros((50, 3))
    X[10], X[20] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        Y = stage.learn(X)
    np.testing.assert_array_equal(stage.unmixing(), before)
    assert np.isnan(Y[[10, 20]]).all()
    assert not Y[:10].any()
    assert stage.guard[sh.g.SILENT] == 50.0


@pytest.mark.compiled
@pytest.mark.parametrize("loud", [2.0, 3.0, 10.0, 100.0, 1e6])
@pytest.mark.parametrize("long", [1, 100])
def test_a_burst_is_survived(loud, long):
    """One sample costs little; a hundred that pass for a new mixing are made good in the samples that follow."""
    for seed in range(3):
        X, Q = white_uniform(100_000, 5, seed)
        stage = begin(near(Q, 25.0, seed))
        stage.learn(X[:50_000])
        stage.learn(loud * X[50_000 : 50_000 + long])
        stage.learn(X[50_000 + long :])
        assert metrics.sir(stage.unmixing(), Q).total > (60.0 if long == 1 else 40.0)


@pytest.mark.compiled
@pytest.mark.parametrize("scale", [1e-3, 0.3, 3.0, 1e3])
def test_a_change_of_scale_is_followed(scale):
    X, Q = white_uniform(100_000, 4, 0)
    stage = begin(near(Q, 25.0, 0))
    stage.learn(X[:50_000])
    Y = stage.learn(scale * X[50_000:])[-1000:]
    assert metrics.sir(stage.unmixing(), Q).total > 40.0
    assert 0.5 < Y.std() < 0.65  # as uniform outputs in [-1, 1] have it


@pytest.mark.skipif(not COMPILED, reason="long")
def test_sharpness_is_about_the_sir():
    for seed in range(3):
        for d in (5, 20):
            X, Q = white_uniform(60_000, d, seed)
            stage = begin(near(Q, 25.0, seed))
            stage.learn(X)
            assert abs(stage.sharpness() - metrics.sir(stage.unmixing(), Q).total) < 6.0
            assert 2.0 < stage.bluntness() < 6.0
            assert abs(stage.peakedness() - 1.8) < 0.1  # the kurtosis of uniform sources
