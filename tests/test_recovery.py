"""Does it separate? Floors over seeds, in total SIR of the linear map."""

import numpy as np
import pytest

from boundsep import BSM, NSM, metrics, mixing, sources
from conftest import start, total_sir, white_uniform

pytestmark = pytest.mark.compiled


def recovered(separator, S, seed, n_sensors=None):
    d = S.shape[1]
    mixture = mixing.mix(S, mixing.ill_conditioned(n_sensors or d, d, condition=20.0, random_state=100 + seed))
    separator.set_params(random_state=seed).fit(mixture.X)
    return metrics.sir(separator.components_, mixture.A, mixture.power).total


def test_the_papers_example():
    """Ten uniform sources, the paper's numbers, white by the true covariance, W = M = D = I: ten seeds."""
    reached = []
    for seed in range(10):
        X, A = white_uniform(100_000, 10, seed)
        state = start(10)
        state.learn(X)
        reached.append(total_sir(state, A))
        assert np.all((state.neurons.D > 2.3) & (state.neurons.D < 3.0))
    assert min(reached) >= 38.0
    assert np.median(reached) >= 41.0


@pytest.mark.parametrize(("whiten", "floor"), [("exact", 35.0), ("online", 35.0), ("neural", 25.0)])
def test_from_raw_mixtures(whiten, floor):
    reached = [recovered(BSM(whiten=whiten), sources.uniform(60_000, 4, random_state=seed), seed) for seed in range(10)]
    assert np.median(reached) > floor
    assert min(reached) > floor - 5.0


def test_more_sensors_than_sources():
    reached = [
        recovered(BSM(n_components=4), sources.uniform(60_000, 4, random_state=seed), seed, n_sensors=7)
        for seed in range(5)
    ]
    assert min(reached) > 33.0


@pytest.mark.parametrize(
    ("make", "floor"),
    [
        (sources.pam, 35.0),
        (sources.sines, 35.0),
        (sources.clipped_gaussian, 30.0),
        (sources.shared_amplitude, 25.0),
        (sources.copula, 30.0),
    ],
)
def test_other_bounded_sources(make, floor):
    """Dependent ones among them: where only correlation is absent."""
    reached = [recovered(BSM(), make(60_000, 3, random_state=seed), seed) for seed in range(5)]
    assert np.median(reached) > floor


def test_nonnegative_sources():
    reached = [recovered(NSM(), sources.nonnegative(60_000, 5, random_state=seed), seed) for seed in range(10)]
    assert np.median(reached) > 40.0
    assert min(reached) > 30.0


@pytest.mark.parametrize(("whiten", "floor"), [("online", 35.0), ("neural", 28.0)])
def test_nonnegative_sources_in_a_stream(whiten, floor):
    """Not one of them with a rectifier that never fires."""
    reached = []
    for seed in range(20):
        S = sources.nonnegative(60_000, 3, random_state=seed)
        mixture = mixing.mix(S, mixing.gaussian(3, 3, random_state=100 + seed))
        nsm = NSM(whiten=whiten).partial_fit(mixture.X)
        reached.append(metrics.sir(nsm.components_, mixture.A, mixture.power).total)
    assert min(reached) > floor


def test_no_stream_is_spoilt_at_its_start():
    """Whatever the first samples happen to be, and whatever the condition of the mixing."""
    reached = []
    for seed in range(40):
        S = sources.uniform(20_000, 3, random_state=seed)
        mixture = mixing.mix(S, mixing.gaussian(3, 3, random_state=100 + seed))
        bsm = BSM(3, whiten="online").partial_fit(mixture.X)
        reached.append(metrics.sir(bsm.components_, mixture.A, mixture.power).total)
    assert min(reached) > 30.0


@pytest.mark.parametrize("whiten", ["online", "neural"])
@pytest.mark.parametrize("silent", [1, 30, 1000])
def test_a_stream_may_begin_with_rows_all_alike(whiten, silent):
    for seed in range(5):
        S = sources.uniform(60_000, 3, random_state=seed)
        mixture = mixing.mix(S, mixing.ill_conditioned(3, 3, condition=10.0, random_state=100 + seed))
        bsm = BSM(3, whiten=whiten)
        bsm.partial_fit(np.vstack([np.tile([4.0, 5.0, 6.0], (silent, 1)), mixture.X]))
        assert metrics.sir(bsm.components_, mixture.A, mixture.power).total > 25.0


@pytest.mark.parametrize("whiten", ["exact", "online", "neural"])
@pytest.mark.parametrize("decades", [3, 6])
def test_units_do_not_matter(whiten, decades):
    S = sources.uniform(60_000, 3, random_state=0)
    A = mixing.ill_conditioned(3, 3, condition=10.0, random_state=1) * [[10.0**-decades], [1.0], [10.0**decades]]
    mixture = mixing.mix(S, A)
    bsm = BSM(3, whiten=whiten).partial_fit(mixture.X)
    assert metrics.sir(bsm.components_, A, mixture.power).total > 30.0


@pytest.mark.filterwarnings("ignore:BSM separates 3 components")
def test_units_do_not_matter_where_rank_is_lost():
    S = sources.uniform(60_000, 3, random_state=0)
    A = mixing.gaussian(3, 3, random_state=1) * [[1e-6], [1.0], [1e6]]
    A = np.vstack([A, A[2:]])
    mixture = mixing.mix(S, A)
    bsm = BSM(random_state=0).fit(mixture.X)
    assert metrics.sir(bsm.components_, A, mixture.power).total > 35.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sparse_sources_take_a_threshold():
    """Zero most of the time: a network that only clips does not separate them, one with a threshold does.

    The one that tunes itself finds that out.
    """
    clipped, shrunk, tuned = [], [], []
    for seed in range(5):
        S = sources.sparse(60_000, 3, random_state=seed)
        clipped.append(recovered(BSM(schedule="paper"), S, seed))
        shrunk.append(recovered(BSM(schedule="paper", sparsity=0.3), S, seed))
        tuned.append(recovered(BSM(), S, seed))
    assert max(clipped) < 10.0
    assert min(shrunk) > 25.0
    assert min(tuned) > 30.0


def test_the_largest_clip_input_comes_down_to_the_limit():
    X, _ = white_uniform(100_000, 5, 0)
    state = start(5)
    state.learn(X[:2000])
    early = state.neurons.reach.max()
    state.learn(X[2000:])
    assert early > 1.5
    assert 0.95 < state.neurons.reach.min() <= state.neurons.reach.max() < 1.2


def test_excitation_and_inhibition_balance():
    X, _ = white_uniform(100_000, 5, 1)
    state = start(5)
    state.learn(X)
    neurons = state.neurons
    excitation = np.sum(neurons.W**2, axis=1)
    inhibition = (neurons.M**2) @ neurons.D
    np.testing.assert_allclose(excitation, inhibition, rtol=0.15)
