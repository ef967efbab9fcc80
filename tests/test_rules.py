"""The oracle itself: its gradients against finite differences, its recursions against what they sum up."""

import numpy as np
import pytest

from boundsep import rules
from conftest import some_weights

FORGETTING = 0.02
ALPHA = 0.3


def finite_difference(function, at, step=1e-6):
    gradient = np.empty_like(at)
    for i in range(len(at)):
        shift = np.zeros_like(at)
        shift[i] = step
        gradient[i] = (function(at + shift) - function(at - shift)) / (2.0 * step)
    return gradient


@pytest.fixture
def network(rng):
    W, M, D, _ = some_weights(rng, 5, 7)
    return rng.normal(size=7), rng.uniform(-1.0, 1.0, 5), W, M, D


def test_gradient_in_y_is_that_of_the_online_cost(network):
    x, y, W, M, D = network
    numeric = finite_difference(lambda at: rules.online_cost(x, at, W, M, D, FORGETTING, ALPHA), y)
    np.testing.assert_allclose(rules.gradient_y(x, y, W, M, D), numeric / 4.0, rtol=1e-6, atol=1e-8)


def test_descent_direction_is_the_gradient_without_the_gains(network):
    x, y, W, M, D = network
    np.testing.assert_allclose(-D * rules.descent_direction(x, y, W, M, D), rules.gradient_y(x, y, W, M, D))


def test_gradient_in_D_is_that_of_the_relaxed_cost(rng):
    """Eq. (15) holds for the weights that contain the present sample, so it is checked on a whole record."""
    X, Y, D = rng.normal(size=(40, 4)), rng.uniform(-1.0, 1.0, (40, 3)), rng.uniform(0.5, 2.0, 3)
    W, M = rules.correlations(X, Y, FORGETTING)
    # h is kappa times the similarity cost, and the price of the gains as it stands.
    kappa = 1.0 / FORGETTING
    numeric = finite_difference(
        lambda at: kappa * rules.similarity_cost(X, Y, at, FORGETTING) + 2.0 * ALPHA * np.sum(at**2), D
    )
    np.testing.assert_allclose(rules.gradient_D(W, M, D, FORGETTING, ALPHA), numeric / 4.0, rtol=1e-6)


def test_updates_sum_up_to_the_correlations(rng):
    X, Y = rng.normal(size=(50, 4)), rng.uniform(-1.0, 1.0, (50, 3))
    W, M = np.zeros((3, 4)), np.zeros((3, 3))
    for x, y in zip(X, Y, strict=True):
        W, M = rules.update_W(W, x, y, FORGETTING), rules.update_M(M, y, FORGETTING)
    expected_W, expected_M = rules.correlations(X, Y, FORGETTING)
    weights = (1.0 - FORGETTING) ** np.arange(49, -1, -1.0)
    np.testing.assert_allclose(W, FORGETTING * (Y * weights[:, None]).T @ X)
    np.testing.assert_allclose(M, FORGETTING * (Y * weights[:, None]).T @ Y)
    np.testing.assert_allclose(expected_W, W)
    np.testing.assert_allclose(expected_M, M)


def test_relaxed_cost_is_the_similarity_cost_and_the_price_of_gains(rng):
    X, Y, D = rng.normal(size=(10, 4)), rng.uniform(-1.0, 1.0, (10, 3)), np.array([1.0, 2.0, 3.0])
    difference = rules.relaxed_cost(X, Y, D, FORGETTING, ALPHA) - rules.similarity_cost(X, Y, D, FORGETTING)
    assert difference == pytest.approx(2.0 * ALPHA * 14.0)


def test_similarity_cost_vanishes_where_outputs_match(rng):
    Y, D = rng.uniform(-1.0, 1.0, (10, 3)), np.array([1.0, 2.0, 3.0])
    assert rules.similarity_cost(Y * np.sqrt(D), Y, D, FORGETTING) == pytest.approx(0.0, abs=1e-20)


@pytest.mark.parametrize("size", [0.3, 1.0, 10.0])
def test_three_ways_to_rest_end_at_the_same_outputs(rng, size):
    for _ in range(20):
        _, M, D, _ = some_weights(rng, 4)
        a = size * rng.normal(size=4)
        options = {"tolerance": 1e-12, "most": 100_000}
        swept, _ = rules.settle_sweeping(a, M, D, **options)
        np.testing.assert_allclose(rules.settle_descent(a, M, D, **options)[0], swept, atol=1e-9)
        np.testing.assert_allclose(rules.settle_euler(a, M, D, **options)[0], swept, atol=1e-9)


def test_at_rest_the_differential_equation_stands_still(rng):
    _, M, D, _ = some_weights(rng, 6)
    a = 3.0 * rng.normal(size=6)
    y, _ = rules.settle_sweeping(a, M, D, tolerance=1e-14, most=10_000)
    u = a - M @ (D * y) + np.diag(M) * D * y
    np.testing.assert_allclose(rules.membrane_flow(u, y, a, M, D), 0.0, atol=1e-12)
    np.testing.assert_allclose(rules.activation(u, M, D, 0.0, -1.0, 1.0), y, atol=1e-12)


def test_without_clipping_the_network_is_its_linear_map(rng):
    W, M, D, _ = some_weights(rng, 4)
    x = 1e-3 * rng.normal(size=4)
    y, _ = rules.settle_sweeping(rules.drive(W, x), M, D, tolerance=1e-15, most=10_000)
    np.testing.assert_allclose(y, rules.unclipped_map(W, M, D) @ x, rtol=1e-9)


def test_the_two_activations_agree_and_do_what_they_say():
    z = np.array([-3.0, -0.7, -0.2, 0.0, 0.4, 5.0])
    np.testing.assert_array_equal(rules.clip(z, 0.8), [-0.8, -0.7, -0.2, 0.0, 0.4, 0.8])
    np.testing.assert_array_equal(rules.shrink_and_clip(z, 0.0, -0.8, 0.8), rules.clip(z, 0.8))
    np.testing.assert_allclose(rules.shrink_and_clip(z, 0.5, -0.8, 0.8), [-0.8, -0.2, 0.0, 0.0, 0.0, 0.8])


def test_a_gain_loses_at_most_half_a_step(rng):
    W, M, D = np.zeros((2, 2)), 10.0 * np.eye(2), np.ones(2)
    np.testing.assert_array_equal(rules.update_D(W, M, D, 1.0, 0.0), [0.5, 0.5])


@pytest.mark.parametrize("power", [1.0, 0.0, -1.0])
def test_each_leak_descends_on_its_cost(rng, power):
    """With nothing to balance, gains go down the gradient of half the sum of squares, of the sum, of the logarithms."""
    D, leak, size = rng.uniform(1.1, 3.0, 4), 1e-3, 1e-6
    nothing = np.zeros((4, 4))
    slope = [
        (rules.leak_cost(D + size * e, power) - rules.leak_cost(D - size * e, power)) / (2.0 * size) for e in np.eye(4)
    ]
    np.testing.assert_allclose(
        rules.update_D(nothing, nothing, D, 0.0, leak, power), D - leak * np.array(slope), atol=1e-9
    )


def test_a_small_gain_does_not_run_away(rng):
    """The logarithm's leak would take ever more of a gain that is small already."""
    D = np.full(3, 1e-3)
    for _ in range(2000):
        D = rules.update_D(np.zeros((3, 3)), np.zeros((3, 3)), D, 0.0, 1e-3, -1.0)
    assert np.all(D > 1e-4)
