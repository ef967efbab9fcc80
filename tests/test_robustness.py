"""What a stream can do to a network: silence, repeats, lost rank, scale, bursts, broken samples."""

import numpy as np
import pytest

from boundsep import guard as g
from boundsep import kernels, metrics, mixing, sources
from conftest import start, total_sir, white_uniform

D = 4
FRESH = 14_000  # samples in which a fresh network of this size separates, whichever way its input is turned


def finite(state):
    neurons = state.neurons
    return all(np.isfinite(part).all() for part in (neurons.W, neurons.M, neurons.D, neurons.P, neurons.guard))


def interruptions(X):
    """Return what may come between two good parts of a stream, each in the shape of that stream."""
    n, rng = 3000, np.random.default_rng(5)
    return {
        "silence": np.zeros((20_000, D)),
        "one sample repeated": np.repeat(X[:1], n, axis=0),
        "rank one": rng.uniform(-1.7, 1.7, (n, 1)) * np.ones((1, D)),
        "one channel dead": X[:n] * (np.arange(D) > 0),
        "a burst": 100.0 * X[:100],
        "a constant offset burst": np.full((100, D), 100.0),
        "a single spike": np.full((1, D), 1e9),
        "nearly silent": 1e-9 * X[:100],
        "not a number": np.full((50, D), np.nan),
        "infinite": np.full((50, D), np.inf),
    }


def test_nothing_that_comes_between_breaks_the_network():
    X, _ = white_uniform(400, D, 0)
    for name, gap in interruptions(X).items():
        gap = gap[:300]
        state = start(D)
        state.learn(X[:300])
        with np.errstate(all="ignore"):  # uncompiled, NumPy warns of what is not finite
            Y = state.learn(np.ascontiguousarray(gap))
        assert finite(state), name
        assert np.array_equal(np.isnan(Y).all(axis=1), ~np.isfinite(gap).all(axis=1)), name
        assert np.isfinite(state.learn(X)).all(), name


@pytest.mark.compiled
@pytest.mark.parametrize("name", list(interruptions(np.ones((1, D)))))
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_separation_is_back_within_a_fresh_start(name, seed):
    X, A = white_uniform(100_000 + FRESH, D, seed)
    state = start(D)
    state.learn(X[:100_000])
    before = total_sir(state, A)
    Y = state.learn(np.ascontiguousarray(interruptions(X)[name]))
    assert finite(state)
    assert state.neurons.guard[g.SWEEPS] <= kernels.MOST_SWEEPS * state.n_samples
    assert len(Y) == len(interruptions(X)[name])
    state.learn(X[100_000:])
    assert total_sir(state, A) > min(before, slowest_fresh_start(X[100_000:], A)) - 3.0


def slowest_fresh_start(X, A):
    """Return the SIR of the worst of ten fresh networks, each with the same samples turned its own way."""
    reached = []
    for seed in range(10):
        turn = mixing.orthogonal(D, random_state=seed)
        fresh = start(D)
        fresh.learn(np.ascontiguousarray(X @ turn.T))
        reached.append(total_sir(fresh, turn @ A))
    assert min(reached) > 30.0
    return min(reached)


@pytest.mark.compiled
@pytest.mark.parametrize("scale", [1e-8, 1e-3, 0.2, 0.35, 0.5, 0.65, 1.3, 2.0, 5.0, 1e3, 1e8])
@pytest.mark.parametrize("sparsity", [0.0, 0.02])
@pytest.mark.parametrize("seed", [3, 4])
def test_scale_does_not_matter(scale, sparsity, seed):
    X, A = white_uniform(40_000, D, seed)
    state = start(D, sparsity=sparsity)
    state.learn(np.ascontiguousarray(scale * X))
    assert finite(state)
    assert total_sir(state, A) > 35.0
    assert state.neurons.guard[g.RESCALED] == 1.0 or abs(np.log(scale)) < 0.3


@pytest.mark.compiled
@pytest.mark.parametrize("change", [1e-3, 1.0 / 50.0, 0.2, 0.5, 2.0, 5.0, 10.0, 50.0, 1e3])
@pytest.mark.parametrize("turned", [False, True])
def test_a_change_of_scale_is_followed(change, turned):
    """And learning goes on after it: where the mixing changes as well, that is learnt anew."""
    for seed in (4, 5):
        X, A = white_uniform(120_000, D, seed)
        turn = mixing.orthogonal(D, random_state=seed) if turned else np.eye(D)
        X[40_000:] = change * X[40_000:] @ turn.T
        state = start(D)
        state.learn(X)
        assert total_sir(state, turn @ A) > 30.0


@pytest.mark.compiled
@pytest.mark.parametrize("factor", [2.0, 4.0, 30.0])
def test_a_gain_too_high_comes_down(factor):
    """The balance of excitation and inhibition can't bring it down: the paper's leak takes a million samples."""
    X, A = white_uniform(100_000, D, 5)
    state = start(D)
    state.learn(X[:60_000])
    settled = state.neurons.D.copy()
    state.neurons.D[1] *= factor
    state.learn(X[60_000:])
    assert state.neurons.D[1] < 1.6 * settled[1]
    assert total_sir(state, A) > 30.0


@pytest.mark.compiled
def test_a_deaf_neuron_keeps_its_gain(rng):
    X = np.column_stack([rng.uniform(-1.7, 1.7, (200_000, 2)), np.zeros(200_000)])
    state = start(3)
    state.learn(X)
    assert state.neurons.D.min() > 0.1


@pytest.mark.compiled
@pytest.mark.parametrize(("corners", "floor"), [(0.02, -np.inf), (0.05, 20.0), (0.1, 30.0)])
def test_rare_corners_are_no_bursts(corners, floor):
    """What tells this ball from the cube around it are a few samples far larger than the others."""
    for seed in range(5):
        S = sources.l1_ball(100_000, 5, corners=corners, random_state=seed)
        Q = mixing.orthogonal(5, random_state=seed)
        state = start(5)
        state.learn(np.ascontiguousarray(S / S.std(axis=0) @ Q.T))
        assert state.neurons.guard[g.LIMITED] == 0.0
        assert total_sir(state, Q) > floor


@pytest.mark.compiled
def test_rank_deficient_input_costs_no_more_than_the_cap_of_sweeps(rng):
    X = rng.uniform(-1.7, 1.7, (20_000, 2)) @ rng.normal(size=(2, 5))
    state = start(5)
    Y = state.learn(X)
    assert finite(state)
    assert np.abs(Y).max() <= 1.0
    assert state.neurons.guard[g.SWEEPS] / state.n_samples < kernels.MOST_SWEEPS


def test_a_steady_stream_is_never_touched(rng):
    state = start(3)
    state.learn(rng.uniform(-1.7, 1.7, (2000, 3)))
    assert state.neurons.guard[g.LIMITED] == 0.0
    assert state.neurons.guard[g.RESCALED] == 0.0


def test_a_broken_sample_teaches_nothing(rng):
    X = rng.uniform(-1.7, 1.7, (200, 3))
    broken = np.insert(X, [50, 50, 120], [[np.nan] * 3, [np.inf, 0.0, 0.0], [0.0] * 3], axis=0)
    whole, holed = start(3), start(3)
    whole.learn(X)
    with np.errstate(all="ignore"):
        Y = holed.learn(broken)
    np.testing.assert_array_equal(whole.neurons.W, holed.neurons.W)
    assert np.isnan(Y[50:52]).all()
    np.testing.assert_array_equal(Y[122], 0.0)
    assert holed.neurons.guard[g.SILENT] == 3.0


@pytest.mark.compiled
def test_no_guard_acts_on_the_papers_example():
    for seed in range(5):
        X, _ = white_uniform(50_000, 10, seed)
        state = start(10)
        state.learn(X)
        guard = state.neurons.guard
        assert guard[g.LIMITED] == guard[g.RESCALED] == guard[g.REPAIRED] == guard[g.COLLAPSED] == 0.0
        assert state.neurons.reach.min() > g.IDLE  # no gain leaks faster


@pytest.mark.compiled
@pytest.mark.parametrize("way", ["descent", "euler"])
def test_euler_settles_where_the_others_do_on_input_of_rank_one(rng, way):
    X = rng.uniform(-1.7, 1.7, (300, 1)) * np.ones((1, 20))
    swept = start(20)
    swept.neurons.P = np.zeros((0, 0))
    expected = swept.learn(X)
    np.testing.assert_allclose(start(20, euler=way == "euler").learn(X)[:100], expected[:100], atol=1e-2)


@pytest.mark.compiled
@pytest.mark.parametrize("whiten", ["online", "neural"])
@pytest.mark.parametrize(("loud", "lost"), [(3.0, 3.0), (10.0, 15.0), (30.0, 15.0), (100.0, 3.0), (1e6, 3.0)])
def test_a_burst_does_not_spoil_the_whitening(whiten, loud, lost):
    """One of ten times the amplitude can't be told from a signal that seldom visits its corners, and costs more."""
    for seed in range(3):
        S = sources.uniform(80_000, D, random_state=seed)
        mixture = mixing.mix(S, mixing.ill_conditioned(D, D, condition=10.0, random_state=seed))
        state = start(D, whiten=whiten)
        state.learn(mixture.X[:60_000])
        state.learn(loud * mixture.X[:100])
        state.learn(mixture.X[60_000:])
        calm = start(D, whiten=whiten)
        calm.learn(mixture.X)
        reached = [metrics.sir(s.components(), mixture.A, mixture.power).total for s in (state, calm)]
        assert reached[0] > min(reached[1], 35.0) - lost
