"""Measures on constructions whose answer is known in closed form, and against fast_bss_eval."""

import fast_bss_eval
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundsep import metrics


def orthogonal_signals(n, d, seed=0):
    """Return d signals of zero mean and unit power that are exactly uncorrelated."""
    rng = np.random.default_rng(seed)
    S = rng.uniform(-1.0, 1.0, (n, d))
    S -= S.mean(axis=0)
    return np.linalg.qr(S)[0] * np.sqrt(n)


def decibels(ratio):
    return 10.0 * np.log10(ratio)


def test_sir_in_closed_form():
    """Rows of G are known, and so is each ratio."""
    components = np.array([[0.1, 3.0, 0.0], [2.0, 0.0, 0.2], [0.0, 0.0, -5.0]])
    scores = metrics.sir(components, np.eye(3))
    np.testing.assert_array_equal(scores.output_of_source, [1, 0, 2])
    np.testing.assert_allclose(scores.per_source, [decibels(4.0 / 0.04), decibels(9.0 / 0.01), np.inf])
    assert scores.total == pytest.approx(decibels((4.0 + 9.0 + 25.0) / 0.05))


def test_sir_takes_the_power_of_the_sources():
    scores = metrics.sir(np.array([[1.0, 1.0], [0.0, 1.0]]), np.eye(2), np.array([100.0, 1.0]))
    np.testing.assert_allclose(scores.per_source, [20.0, np.inf])


def test_sinr_is_sir_and_noise():
    n, d = 1000, 3
    signals = orthogonal_signals(n, 2 * d)
    S, noise = signals[:, :d], 0.1 * signals[:, d:]
    G = np.array([[1.0, 0.2, 0.0], [0.0, 2.0, 0.0], [0.3, 0.0, 1.0]])
    scores = metrics.sinr(S, S @ G.T + noise)
    expected = [decibels(1.0 / (0.04 + 0.01)), decibels(4.0 / 0.01), decibels(1.0 / (0.09 + 0.01))]
    np.testing.assert_allclose(scores.per_source, expected)
    np.testing.assert_allclose(metrics.sir(G, np.eye(d)).per_source, metrics.sinr(S, S @ G.T).per_source)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 12), extra=st.integers(0, 3))
def test_order_sign_scale_and_offset_do_not_matter(seed, d, extra):
    rng = np.random.default_rng(seed)
    S = rng.uniform(-1.0, 1.0, (300, d))
    order, signs = rng.permutation(d), rng.choice([-1.0, 1.0], d)
    noisy = S + 0.05 * rng.normal(size=S.shape)
    changed = noisy[:, order] * signs * rng.uniform(0.1, 10.0, d) + rng.normal(size=d)
    changed = np.hstack([changed, rng.normal(size=(300, extra))])
    for measure in (metrics.sinr, metrics.si_sdr):
        before, after = measure(S, noisy), measure(S, changed)
        np.testing.assert_allclose(after.per_source, before.per_source, rtol=1e-6)
        np.testing.assert_array_equal(after.output_of_source, np.argsort(order))
    A = rng.normal(size=(d, d)) + 3.0 * np.eye(d)
    unmixing = np.linalg.inv(A + 0.01 * rng.normal(size=A.shape))
    shuffled = (unmixing * rng.uniform(0.1, 10.0, d)[:, None])[rng.permutation(d)]
    np.testing.assert_allclose(metrics.sir(shuffled, A).per_source, metrics.sir(unmixing, A).per_source, rtol=1e-6)
    assert metrics.amari(unmixing[rng.permutation(d)], A) == pytest.approx(metrics.amari(unmixing, A))
    np.testing.assert_allclose(metrics.align(S, changed), metrics.align(S, noisy), atol=1e-9)


def test_matching_is_one_to_one():
    """Both outputs hold more of the first source; a greedy match would take it twice, or the worse way round."""
    scores = metrics.sir(np.array([[1.0, 0.9], [1.0, 0.1]]), np.eye(2))
    np.testing.assert_array_equal(scores.output_of_source, [1, 0])


def test_a_dead_output_is_worth_nothing():
    scores = metrics.sir(np.array([[1.0, 0.0], [0.0, 0.0]]), np.eye(2))
    np.testing.assert_array_equal(scores.per_source, [np.inf, -np.inf])


def test_amari_in_closed_form():
    assert metrics.amari(np.eye(4)[::-1] * 3.0, np.eye(4)) == 0.0
    assert metrics.amari(np.ones((5, 5)), np.eye(5)) == 1.0
    assert metrics.amari(np.array([[7.0]]), np.eye(1)) == 0.0
    # One entry e off the diagonal: it is counted once along its row and once along its column.
    G = np.eye(3)
    G[0, 1] = 0.6
    assert metrics.amari(G, np.eye(3)) == pytest.approx(2 * 0.6 / (2 * 3 * 2))


def test_si_sdr_in_closed_form():
    S = orthogonal_signals(500, 4)
    scores = metrics.si_sdr(S[:, :2], np.column_stack([3.0 * S[:, 0] + 0.3 * S[:, 2], S[:, 1] + 0.01 * S[:, 3]]))
    np.testing.assert_allclose(scores.per_source, [20.0, 40.0])


def test_si_sdr_is_that_of_fast_bss_eval(rng):
    S = rng.normal(size=(2000, 4)) + 1.0
    Y = (S @ (np.eye(4) + 0.2 * rng.normal(size=(4, 4))))[:, [2, 0, 3, 1]]
    expected, order = fast_bss_eval.numpy.si_sdr(S.T, Y.T, zero_mean=True, return_perm=True)
    scores = metrics.si_sdr(S, Y)
    np.testing.assert_allclose(scores.per_source, expected, rtol=1e-6)
    np.testing.assert_array_equal(scores.output_of_source, order)


@pytest.mark.parametrize("filter_length", [1, 16, 128])
def test_sdr_is_that_of_fast_bss_eval(rng, filter_length):
    S = rng.normal(size=(4000, 3))
    echo = S + 0.4 * np.roll(S, 5, axis=0)
    Y = (echo @ (np.eye(3) + 0.2 * rng.normal(size=(3, 3))))[:, [1, 2, 0]]
    expected, order = fast_bss_eval.sdr(
        S.T, Y.T, filter_length=filter_length, zero_mean=True, return_perm=True, use_cg_iter=None
    )
    scores = metrics.sdr(S, Y, filter_length=filter_length)
    np.testing.assert_allclose(scores.per_source, expected, rtol=1e-3)
    np.testing.assert_array_equal(scores.output_of_source, order)


def test_sdr_forgives_a_filter_as_short_as_asked():
    rng = np.random.default_rng(0)
    S = rng.normal(size=(5000, 1))
    delayed = np.vstack([np.zeros((20, 1)), S[:-20]])
    assert metrics.sdr(S, delayed, filter_length=21).total > 20.0
    assert metrics.sdr(S, delayed, filter_length=20).total < 0.0


def test_dead_outputs_and_constant_sources(rng):
    S = rng.normal(size=(100, 2))
    dead = S * [1.0, 0.0]
    np.testing.assert_allclose(metrics.align(S, dead)[:, 1], np.mean(S[:, 1]))
    assert metrics.amari(np.diag([1.0, 0.0]), np.eye(2)) == pytest.approx(0.25)
    for measure in (metrics.si_sdr, metrics.sdr):
        with pytest.raises(ValueError, match="Source 1 is constant"):
            measure(S * [1.0, 0.0], S)
