"""The compiled twins against the oracle, and the outputs they settle at against SciPy's solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize

from boundsep import guard as g
from boundsep import kernels, rules, schedules
from conftest import some_weights, start

BOUNDS = [(-1.0, 1.0), (-0.8, 0.8), (0.0, np.inf)]


def work(d):
    return np.zeros(d), np.zeros(d), np.zeros(d)


def off_centre(rng, d):
    return rng.uniform(-0.4, 0.4, d)


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
@pytest.mark.parametrize("size", [0.5, 3.0, 30.0])
def test_settled_outputs_are_those_of_the_oracle(rng, lower, upper, size):
    for d in (1, 2, 5, 12):
        _, M, D, P = some_weights(rng, d)
        a = size * rng.normal(size=d)
        z, push, u = work(d)
        centre = off_centre(rng, d)
        least, most = centre + lower, centre + upper

        kernels.settle_descent(a, z, push, P, D, centre, lower, upper)
        np.testing.assert_allclose(
            np.clip(z / D, least, most), rules.settle_descent(a, M, D, least, most)[0], rtol=0, atol=1e-12
        )
        for threshold in (0.0, 0.3):
            kernels.settle_sweeping(a, z, push, M, D, centre, threshold, lower, upper)
            y, _ = rules.settle_sweeping(a, M, D, threshold, least, most)
            np.testing.assert_allclose(z / D, y, rtol=0, atol=1e-12)
            kernels.settle_euler(a, z, push, u, M, D, centre, threshold, lower, upper)
            y, _ = rules.settle_euler(a, M, D, threshold, least, most)
            np.testing.assert_allclose(z / D, y, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_settled_outputs_solve_the_box_constrained_problem(rng, lower, upper):
    """min z'Mz/2 - a'z in the box is a bounded least-squares problem in the Cholesky factor of M."""
    for d in (2, 6, 15):
        _, M, D, P = some_weights(rng, d)
        a = 4.0 * rng.normal(size=d)
        root = np.linalg.cholesky(M)
        centre = off_centre(rng, d)
        box = ((centre + lower) * D, (centre + upper) * D)
        solved = lsq_linear(root.T, np.linalg.solve(root, a), box, tol=1e-14, method="bvls")
        assert solved.success
        z, push, _ = work(d)
        kernels.settle_descent(a, z, push, P, D, centre, lower, upper)
        np.testing.assert_allclose(z / D, solved.x / D, atol=20 * kernels.TOLERANCE)
        kernels.settle_sweeping(a, z, push, M, D, centre, 0.0, lower, upper)
        np.testing.assert_allclose(z / D, solved.x / D, atol=20 * kernels.TOLERANCE)


def test_sparse_outputs_solve_the_penalised_problem(rng):
    """With a threshold the resting state has the price ``threshold M_ii D_i |z_i|`` more."""
    d, threshold, limit = 6, 0.5, 0.8
    _, M, D, _ = some_weights(rng, d)
    a = 3.0 * rng.normal(size=d)
    price = threshold * np.diag(M) * D

    def cost(parts):  # z as the difference of two nonnegative parts
        z = parts[:d] - parts[d:]
        slope = M @ z - a
        return 0.5 * z @ M @ z - a @ z + price @ (parts[:d] + parts[d:]), np.concatenate([slope + price, price - slope])

    options = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 100_000}
    box = [(0.0, limit * gain) for gain in D] * 2
    solved = minimize(cost, np.zeros(2 * d), jac=True, bounds=box, method="L-BFGS-B", options=options)
    z, residual, _ = work(d)
    kernels.settle_sweeping(a, z, residual, M, D, np.zeros(d), threshold, -limit, limit)
    np.testing.assert_allclose(z, solved.x[:d] - solved.x[d:], atol=1e-5)


@pytest.mark.parametrize("leak", schedules.LEAKS)
@pytest.mark.parametrize("way", ["descent", "sweeping", "euler", "sparse", "nonnegative"])
def test_learning_is_that_of_the_oracle(rng, way, leak):
    """Two hundred samples, weights and outputs, sample by sample; where there is a limit, with a moving centre."""
    d, q = 4, 6
    rates = {"sparsity": 0.2 if way == "sparse" else 0.0}
    if way == "nonnegative":
        rates |= {"lower": 0.0, "upper": np.inf, "gain_step": 0.0, "gain_leak": 0.0}
    rates = {"gain_step": 0.01, "gain_leak": 1e-4, "centring": 0.2, "leak": leak} | rates
    state = start(d, q, euler=way == "euler", forgetting=0.03, **rates)
    if way == "sweeping":
        state.neurons.P = np.zeros((0, 0))
    X = rng.uniform(-1.7, 1.7, (200, q)) + 0.3
    Y = state.learn(X)

    forgetting, gain_step, gain_leak, power, step, threshold, lower, upper = state.rates
    W, M, D, centre = np.eye(d, q), np.eye(d), np.ones(d), np.zeros(d)
    expected = np.empty_like(Y)
    for t, x in enumerate(X):
        a = rules.drive(W, x)
        if way == "euler":
            y, free = rules.settle_euler(a, M, D, threshold, centre + lower, centre + upper)
        elif way in ("sweeping", "sparse"):
            y, free = rules.settle_sweeping(a, M, D, threshold, centre + lower, centre + upper)
        else:
            y, free = rules.settle_descent(a, M, D, centre + lower, centre + upper)
        expected[t] = y - centre
        if way != "nonnegative":
            cut = rules.cut_off(free, y, threshold, centre + lower, centre + upper)
            centre = rules.update_centre(centre, cut, step, upper)
        W, M = rules.update_W(W, x, y, forgetting), rules.update_M(M, y, forgetting)
        D = rules.update_D(W, M, D, gain_step, gain_leak, power, upper)
    assert way == "nonnegative" or np.ptp(centre) > 0.01
    neurons = state.neurons
    pairs = ((Y, expected), (neurons.W, W), (neurons.M, M), (neurons.D, D), (neurons.centre, centre))
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    assert state.neurons.guard[g.LIMITED] == state.neurons.guard[g.RESCALED] == 0.0


def test_the_inverse_stays_the_inverse(rng):
    state = start(6)
    state.learn(rng.uniform(-1.7, 1.7, (3000, 6)))
    P = state.neurons.P
    np.testing.assert_array_equal(P, P.T)
    np.testing.assert_allclose(state.neurons.M @ P, np.eye(6), atol=1e-9)
    assert state.neurons.guard[g.REPAIRED] == 0.0


def test_a_spoilt_inverse_is_found_and_mended(rng):
    X = rng.uniform(-1.7, 1.7, (1000, 5))
    spoilt, good = start(5), start(5)
    for state in (spoilt, good):
        state.learn(X[:500])
    spoilt.neurons.P *= 1.01
    np.testing.assert_allclose(spoilt.learn(X[500:]), good.learn(X[500:]), atol=1e-3)
    assert spoilt.neurons.guard[g.REPAIRED] >= 1.0
    np.testing.assert_allclose(spoilt.neurons.M @ spoilt.neurons.P, np.eye(5), atol=1e-9)


def test_the_ways_to_settle_agree(rng):
    """What the default computes is what the paper's differential equation comes to."""
    X = rng.uniform(-1.7, 1.7, (1000, 4))
    outputs = {}
    for way in ("descent", "sweeping", "euler"):
        state = start(4, euler=way == "euler")
        if way == "sweeping":
            state.neurons.P = np.zeros((0, 0))
        outputs[way] = state.learn(X)
    np.testing.assert_allclose(outputs["sweeping"], outputs["descent"], atol=1e-4)
    np.testing.assert_allclose(outputs["euler"], outputs["descent"], atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(
    d=st.integers(1, 5),
    extra=st.integers(0, 3),
    n=st.integers(1, 60),
    size=st.floats(-6.0, 6.0),
    seed=st.integers(0, 2**32 - 1),
    sparsity=st.sampled_from([0.0, 0.4]),
    centring=st.sampled_from([0.0, 0.2, 2.0]),
    repeat=st.booleans(),
)
def test_invariants(d, extra, n, size, seed, sparsity, centring, repeat):
    """Outputs stay in their box, M positive semidefinite, gains positive, whatever comes in."""
    rng = np.random.default_rng(seed)
    X = 10.0**size * rng.normal(size=(n, d + extra)) * rng.choice([0.0, 1.0, 100.0], (n, 1))
    if repeat:
        X = np.repeat(X[:1], n, axis=0)
    state = start(d, d + extra, sparsity=sparsity, centring=centring, forgetting=0.05, gain_step=0.02)
    Y = state.learn(np.ascontiguousarray(X))
    neurons = state.neurons
    assert np.all(np.abs(Y) <= 1.0)
    assert np.all(neurons.D > 0.0)
    assert np.all(np.abs(neurons.centre) < 1.0)
    np.testing.assert_array_equal(neurons.M, neurons.M.T)
    spread = np.linalg.eigvalsh(neurons.M)
    assert spread[0] >= -1e-12 * spread[-1]
    assert all(np.isfinite(part).all() for part in (Y, neurons.W, neurons.M, neurons.D, neurons.P))
    assert neurons.guard[g.SWEEPS] <= kernels.MOST_SWEEPS * n
