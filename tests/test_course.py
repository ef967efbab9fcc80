"""The network that tunes itself: its stages, when it goes from one to another, and what it says of itself."""

import itertools
import math
import warnings

import numpy as np
import pytest

from boundsep import BSM, State, course, metrics, mixing, schedules, sources
from boundsep.drift import Drift
from boundsep.sharpening import Sharpening
from conftest import white_uniform

compiled = pytest.mark.compiled


def mixture_of(kind, n, d, seed):
    return mixing.mix(kind(n, d, random_state=seed), mixing.gaussian(d, d, random_state=500 + seed))


def sir_of(state, mixture, sample=None):
    A = mixture.A if sample is None else mixture.matrix_at(sample)
    return metrics.sir(state.components(), A, mixture.power).total


# --- rates --------------------------------------------------------------------------------------------------------


def test_the_window_scales_with_the_sources_and_grows_where_they_are_slow_to_separate():
    for d in (2, 10, 100):
        first = schedules.separating(d, 0)
        np.testing.assert_allclose(1.0 / first[0], schedules.WINDOW * d)
        np.testing.assert_array_equal(schedules.separating(d, int(schedules.UNTIL * d * d)), first)
        assert schedules.separating(d, 1000 * d * d)[0] < first[0]
    windows = [1.0 / schedules.separating(3, n)[0] for n in range(0, 20_000, 100)]
    assert all(b >= a for a, b in itertools.pairwise(windows))
    assert max(windows) <= 20_000 * schedules.SHARE


@pytest.mark.parametrize("leak", schedules.LEAKS.values())
def test_rates_are_those_of_a_limit_of_one_in_units_of_the_limit(leak):
    """Gains go with 1/T^2: of each part of their update, step and leak, so do the rates."""
    one, other = (schedules.separating(4, 300, leak_power=leak, sparsity=0.2, limit=T) for T in (1.0, 3.0))
    gain, norm = 2.0, 0.7  # a gain, and a squared norm of weights, which goes with T^2
    np.testing.assert_allclose(one[1] * norm, 3.0**2 * other[1] * 3.0**2 * norm)
    np.testing.assert_allclose(one[2] * gain**leak, 3.0**2 * other[2] * (gain / 3.0**2) ** leak)
    np.testing.assert_allclose(3.0 * one[5:], other[5:])


def test_rates_fall_once_it_has_separated_and_no_further_than_the_memory():
    before = schedules.separating(5, 400)
    rates = [schedules.settling(before, n) for n in (0, 100, 10_000, 1_000_000)]
    np.testing.assert_array_equal(rates[0], before)
    assert all(a[0] > b[0] and a[1] > b[1] and a[2] > b[2] for a, b in itertools.pairwise(rates))
    np.testing.assert_allclose(1.0 / rates[-1][0], 1_000_000 / schedules.FALLING, rtol=0.01)
    assert 1.0 / schedules.settling(before, 1_000_000, memory=300.0)[0] == pytest.approx(300.0)


# --- stages -------------------------------------------------------------------------------------------------------


@compiled
def test_stages_follow_each_other_and_each_is_better():
    for seed in range(5):
        mixture = mixture_of(sources.uniform, 30_000, 6, seed)
        state, stages, reached = State.start(6, 6), [], []
        for start in range(0, 30_000, 500):
            state.learn(mixture.X[start : start + 500])
            stages.append(state.course.stage)
            reached.append(sir_of(state, mixture))
        assert stages == sorted(stages)
        assert set(stages) == {course.SEPARATING, course.SHARPENING}
        assert reached[stages.index(course.SHARPENING)] > 12.0
        assert reached[-1] > 48.0


@compiled
def test_it_is_no_sooner_done_than_it_has_separated():
    """Thirty sources take about fifteen thousand samples: the map turns until then."""
    for seed in range(3):
        mixture = mixture_of(sources.uniform, 40_000, 30, seed)
        state = State.start(30, 30)
        while state.course.stage == course.SEPARATING:
            state.learn(mixture.X[state.n_samples : state.n_samples + 200])
        assert state.n_samples > 10_000
        assert sir_of(state, mixture) > 12.0


@compiled
def test_without_sharpening_the_steps_fall():
    X, Q = white_uniform(100_000, 5, 0)
    state = State.start(5, 5, whiten=None, sharpen=False)
    state.learn(X)
    assert state.course.stage == course.SETTLING
    assert state.rates[0] < 1e-3
    assert metrics.sir(state.components(), Q).total > 50.0


def test_silence_is_not_counted(rng):
    X = rng.uniform(-1.0, 1.0, (300, 3))
    plain, broken = State.start(3, 3), State.start(3, 3)
    plain.learn(X)
    broken.learn(np.vstack([X[:100], np.zeros((500, 3)), X[100:]]))
    assert broken.n_samples == 800
    assert broken.course.heard == plain.course.heard == 299  # of the first, the whitener makes nothing
    assert broken.course.due == plain.course.due
    np.testing.assert_array_equal(broken.neurons.W, plain.neurons.W)


def test_constant_steps_are_never_looked_at(rng):
    state = State.start(2, 2, rates=schedules.paper())
    state.learn(rng.uniform(-1.0, 1.0, (1000, 2)))
    assert not state.course.tunes
    np.testing.assert_array_equal(state.rates, schedules.paper())


@compiled
def test_the_map_on_trial_has_to_be_larger():
    """A bad map is replaced by that of a second attempt; a good one stays, to the last bit."""
    mixture = mixture_of(sources.uniform, 60_000, 4, 0)
    for spoilt in (True, False):
        state = State.start(4, 4)
        state.learn(mixture.X[:20_000])
        if spoilt:
            turn = mixing.orthogonal(4, random_state=0)
            bad = 0.5 * turn @ state.sharpening.unmixing()
            state.sharpening = Sharpening.start(bad, np.zeros(4), state.neurons.guard, 6.0, math.inf)
        state.course.enter(course.AUDITION)
        state._enter(course.SHARPENING)
        kept = state.champion
        while state.course.stage != course.SHARPENING:
            state.learn(mixture.X[state.n_samples : state.n_samples + 100])
        assert (state.sharpening is kept) == (not spoilt)
        state.learn(mixture.X[state.n_samples :])
        assert sir_of(state, mixture) > 40.0


@compiled
@pytest.mark.parametrize("kind", ["uniform", "ternary", "laplace"])
def test_sparse_sources_are_found_to_be_sparse(kind):
    for seed in range(3):
        S = sources.sparse(60_000, 4, kind=kind, random_state=seed)
        mixture = mixing.mix(S, mixing.gaussian(4, 4, random_state=500 + seed))
        state = State.start(4, 4)
        state.learn(mixture.X)
        assert state.course.auditions > 0
        assert sir_of(state, mixture) > 30.0


# --- mixings that move ----------------------------------------------------------------------------------------------


@compiled
def test_a_new_mixing_is_noticed():
    for seed in range(3):
        one, other = mixture_of(sources.uniform, 50_000, 6, seed), mixture_of(sources.uniform, 50_000, 6, 90 + seed)
        state = State.start(6, 6)
        state.learn(one.X)
        state.learn(other.X[:20_000])
        assert sir_of(state, other) > 30.0


@compiled
@pytest.mark.parametrize(("tracking", "floor"), [(None, 22.0), (3000, 25.0)])
def test_a_drift_is_followed(tracking, floor):
    A = mixing.gaussian(10, 10, random_state=3)
    mixture = mixing.mix_drifting(sources.uniform(60_000, 10, random_state=3), A, angle=0.3 * np.pi, random_state=3)
    state, reached = State.start(10, 10, tracking=tracking), []
    for start in range(0, 60_000, 2000):
        state.learn(mixture.X[start : start + 2000])
        reached.append(sir_of(state, mixture, start + 1999))
    assert min(reached[10:]) > floor


def test_drift_is_what_takes_sharpness_away():
    """Sharpness that rises, wavers or stands still leaves the memory as it is; what fades cuts it, then it grows."""
    for course_of in (lambda n: 20.0 + 0.01 * n, lambda n: 35.0, lambda n: 35.0 + np.sin(n)):
        drift = Drift()
        for n in range(1, 2000):
            drift.watch(course_of(n), 2.0 * n, 10, 100 * n)
        assert drift.memory == math.inf
    drift, memories = Drift(), []
    for n in range(1, 4000):
        drift.watch(40.0 - 0.02 * max(0, min(n, 1500) - 1000), 2.0 * n, 10, 100 * n)
        memories.append(drift.memory)
    assert memories[999] == math.inf
    assert min(memories) < 10_000
    assert memories[-1] > 4.0 * min(memories)


# --- what it says of itself -------------------------------------------------------------------------------------------


@compiled
def test_the_estimate_follows_the_truth():
    for kind in (sources.uniform, sources.copula, sources.x_shape):
        for n in (2000, 10_000, 50_000):
            mixture = mixture_of(kind, n, 4, 1)
            bsm = BSM(4).partial_fit(mixture.X)
            assert abs(bsm.estimated_sir_ - sir_of(bsm.state_, mixture)) < 12.0


@compiled
@pytest.mark.parametrize("why", ["Gaussian", "more sources than sensors", "heavy tails"])
def test_a_stream_that_does_not_separate_says_so_once(why, rng):
    n = 50_000
    if why == "Gaussian":
        X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4))
    elif why == "heavy tails":
        X = rng.standard_t(2.5, size=(n, 4)) @ rng.normal(size=(4, 4))
    else:
        X = rng.uniform(-1.0, 1.0, (n, 12)) @ rng.normal(size=(12, 4))
    bsm = BSM(4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for chunk in np.split(X, 100):
            bsm.partial_fit(chunk)
    said = [str(warning.message) for warning in caught]
    assert len(said) == 1
    assert "has not separated" in said[0]
    assert bsm.estimated_sir_ < 10.0


@compiled
def test_a_record_that_does_not_separate_says_so(rng):
    with pytest.warns(UserWarning, match=r"BSM has not (separated|settled)"):
        bsm = BSM(random_state=0).fit(rng.normal(size=(50_000, 4)))
    assert not bsm.converged_


@compiled
def test_a_stream_that_separates_says_nothing():
    mixture = mixture_of(sources.uniform, 60_000, 4, 0)
    bsm = BSM(4)
    for chunk in np.split(mixture.X, 60):
        bsm.partial_fit(chunk)  # a warning would be an error
    assert bsm.converged_


@compiled
def test_a_record_that_is_followed_by_another_mixing():
    """The whitening of the record no longer holds: from then on it is learnt online."""
    one, other = mixture_of(sources.uniform, 30_000, 5, 1), mixture_of(sources.uniform, 40_000, 5, 91)
    bsm = BSM(5, random_state=0).fit(one.X)
    bsm.partial_fit(other.X)
    assert metrics.sir(bsm.components_, other.A, other.power).total > 35.0


@compiled
def test_dropouts_are_survived_in_stage_two():
    """Rows of zeros, which a frozen whitening would take for samples, and a burst after them."""
    mixture = mixture_of(sources.uniform, 120_000, 4, 2)
    X = mixture.X + 10.0
    state = State.start(4, 4)
    state.learn(X[:40_000])
    before = sir_of(state, mixture)
    state.learn(np.zeros((2000, 4)))
    assert sir_of(state, mixture) == before
    state.learn(np.ascontiguousarray(X[40_000:60_000]))
    assert sir_of(state, mixture) > before - 3.0


@compiled
def test_dropouts_at_the_start_do_not_open_the_guard():
    mixture = mixture_of(sources.uniform, 100_000, 4, 3)
    X = mixture.X + 3.0
    X[:2000][np.random.default_rng(0).uniform(size=2000) < 0.01] = 0.0
    state = State.start(4, 4)
    state.learn(X)
    assert sir_of(state, mixture) > 55.0


@compiled
def test_levels_are_found_again_in_a_new_mixing():
    """Few levels: a wrong box fits them soon, but it is another one."""
    reached = []
    for seed in range(6):
        one, other = mixture_of(sources.pam, 30_000, 4, seed), mixture_of(sources.pam, 50_000, 4, 90 + seed)
        state = State.start(4, 4)
        state.learn(one.X)
        state.learn(other.X)
        reached.append(sir_of(state, other))
    assert np.median(np.nan_to_num(reached, nan=np.inf)) > 40.0
