"""The estimators: scikit-learn's own checks, the verbs, and what they say of how it went."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from boundsep import BSM, NSM, State, StateFileError, metrics, mixing, sources
from conftest import COMPILED, start, white_uniform

N = 20_000 if COMPILED else 2500
BOTH = pytest.mark.parametrize("kind", [BSM, NSM])
SCHEDULES = pytest.mark.parametrize("schedule", ["auto", "paper"])
STREAMS = pytest.mark.parametrize("whiten", ["online", "neural"])
unsettled = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def mixture():
    S = sources.uniform(N, 3, random_state=1)
    return mixing.mix(S, mixing.gaussian(4, 3, random_state=2), snr=60.0, random_state=3)


# --- scikit-learn's checks ------------------------------------------------------------------------------------


@parametrize_with_checks([BSM(), NSM()])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")  # of the records of a few rows that the checks are made on
def test_scikit_learn(estimator, check):
    check(estimator)


@BOTH
def test_as_many_checks_as_fastica_meets(kind):
    assert len(list(estimator_checks_generator(kind()))) == 47


# --- the verbs ----------------------------------------------------------------------------------------------


@unsettled
@BOTH
def test_transform_is_the_linear_map_and_learns_nothing(kind, mixture):
    separator = kind(n_components=3, n_passes=1, random_state=0).fit(mixture.X)
    before = deepcopy(separator.state_)
    Y = separator.transform(mixture.X)
    offset = separator.mean_ if kind is BSM else 0.0
    np.testing.assert_allclose(Y, (mixture.X - offset) @ separator.components_.T - separator.centre_, atol=1e-12)
    np.testing.assert_array_equal(separator.W_, before.neurons.W)
    assert separator.components_.shape == (3, 4)
    assert separator.mixing_.shape == (4, 3)
    assert separator.whitening_.shape == (3, 4)
    assert (separator.W_.shape, separator.M_.shape, separator.D_.shape) == ((3, 3), (3, 3), (3,))
    assert separator.n_samples_seen_ == N


@unsettled
@BOTH
def test_inverse_transform_undoes_transform(kind, mixture):
    separator = kind(n_components=3, random_state=0).fit(mixture.X)
    back = separator.inverse_transform(separator.transform(mixture.X))
    # Four sensors, three sources: the noise across them is lost, and with the mean kept, its part across them.
    scale = np.abs(mixture.X).max()
    np.testing.assert_allclose(back, mixture.X, atol=0.02 * scale if kind is BSM else 0.05 * scale)
    np.testing.assert_allclose(separator.transform(back), separator.transform(mixture.X), atol=1e-9)


@unsettled
@BOTH
def test_float32_comes_out_as_float32(kind, mixture):
    X = mixture.X.astype(np.float32)
    separator = kind(n_components=3, random_state=0).fit(X)
    assert separator.transform(X).dtype == np.float32
    assert separator.inverse_transform(separator.transform(X)).dtype == np.float32
    assert separator.partial_fit_transform(X[:5]).dtype == np.float32
    assert separator.components_.dtype == np.float64


@STREAMS
@BOTH
def test_a_stream_can_start_with_its_first_sample(kind, whiten, mixture):
    whole = kind(n_components=3, whiten=whiten)
    drops = kind(n_components=3, whiten=whiten)
    Y = whole.partial_fit_transform(mixture.X[:60])
    single = np.concatenate([drops.partial_fit_transform(x[None]) for x in mixture.X[:60]])
    np.testing.assert_array_equal(single, Y)
    np.testing.assert_array_equal(
        drops.partial_fit(mixture.X[60:70]).components_, whole.partial_fit(mixture.X[60:70]).components_
    )


def test_partial_fit_transform_gives_the_settled_outputs(mixture):
    Y = BSM(n_components=3, limit=0.5).partial_fit_transform(mixture.X)
    assert np.abs(Y).max() == pytest.approx(0.5)
    np.testing.assert_array_equal(State.start(3, 4, whiten="online", limit=0.5).learn(mixture.X), Y)
    Y = BSM(n_components=3, schedule="paper", whiten="online").partial_fit_transform(mixture.X)
    np.testing.assert_array_equal(start(3, 4, whiten="online").learn(mixture.X), Y)


@SCHEDULES
def test_limit_only_scales_the_outputs(schedule, mixture):
    """The same course of learning in units of the limit."""
    options = {"schedule": schedule, "n_components": 3, "whiten": "online"}
    one, other = BSM(**options), BSM(**options, limit=7.0)
    Y, Z = one.partial_fit_transform(mixture.X), other.partial_fit_transform(mixture.X)
    np.testing.assert_allclose(Z / 7.0, Y, atol=1e-4)
    np.testing.assert_allclose(other.components_ / 7.0, one.components_, atol=1e-3 * np.abs(one.components_).max())


@unsettled
def test_partial_fit_goes_on_after_fit(mixture):
    bsm = BSM(n_components=3, n_passes=1, random_state=0).fit(mixture.X)
    whitening = bsm.whitening_
    bsm.partial_fit(mixture.X[:10])
    assert bsm.n_samples_seen_ == N + 10
    np.testing.assert_array_equal(bsm.whitening_, whitening)


@unsettled
def test_passes_add_up_and_the_seed_repeats(mixture):
    X = mixture.X[:300]
    one = BSM(n_components=3, n_passes=4, random_state=5).fit(X)
    assert one.n_samples_seen_ == 1200
    again = BSM(n_components=3, n_passes=4, random_state=5).fit(X)
    other = BSM(n_components=3, n_passes=4, random_state=6).fit(X)
    np.testing.assert_array_equal(one.components_, again.components_)
    assert not np.array_equal(one.components_, other.components_)


def test_steps_can_be_changed_between_chunks(mixture):
    bsm = BSM(n_components=3, schedule="paper", whiten="online").partial_fit(mixture.X[:100])
    W = bsm.W_
    bsm.set_params(forgetting=1e-12, gain_step=0.0, gain_leak=0.0).partial_fit(mixture.X[100:200])
    np.testing.assert_allclose(bsm.W_, W, atol=1e-8)


@unsettled
def test_what_a_stream_began_with_stays(mixture):
    bsm = BSM(n_components=3, whiten="online", random_state=0).partial_fit(mixture.X[:100])
    for name, value in (
        ("n_components", 2),
        ("whiten", None),
        ("limit", 2.0),
        ("sparsity", 0.1),
        ("dynamics", "euler"),
    ):
        changed = clone(bsm)
        changed.__dict__.update(deepcopy(bsm.__dict__))
        changed.set_params(**{name: value})
        with pytest.raises(ValueError, match=f"{name} of BSM was .* can't become .* in the middle of it"):
            changed.partial_fit(mixture.X[100:200])
    bsm.set_params(limit=0.5).fit(mixture.X)
    with pytest.raises(ValueError, match=r"limit of BSM was 0\.5"):
        bsm.set_params(limit=1.0).partial_fit(mixture.X)


def test_a_whitener_forgets_at_the_rate_of_its_network(mixture):
    bsm = BSM(n_components=3, schedule="paper", whiten="online").partial_fit(mixture.X[:100])
    bsm.set_params(forgetting=2e-3).partial_fit(mixture.X[100:200])
    assert bsm.state_.whitener.forgetting == pytest.approx(2e-5)


def test_streams_in_threads_do_not_meet(mixture):
    alone = BSM(n_components=3, whiten="online").partial_fit_transform(mixture.X)
    with ThreadPoolExecutor(4) as pool:
        streams = [BSM(n_components=3, whiten="online") for _ in range(4)]
        for together in pool.map(lambda bsm: bsm.partial_fit_transform(mixture.X), streams):
            np.testing.assert_array_equal(together, alone)


@unsettled
@pytest.mark.parametrize("how", ["read-only", "Fortran", "strided", "list", "memmap", "integers"])
def test_any_layout_will_do(how, mixture, tmp_path):
    X = np.round(1000.0 * mixture.X[:500]) if how == "integers" else mixture.X[:500].copy()
    given = X.copy()
    if how == "read-only":
        given.flags.writeable = False
    elif how == "Fortran":
        given = np.asfortranarray(X)
    elif how == "strided":
        given = np.repeat(X, 2, axis=1)[:, ::2]
    elif how == "list":
        given = X.tolist()
    elif how == "integers":
        given = X.astype(np.int32)
    else:
        np.save(tmp_path / "x.npy", X)
        given = np.load(tmp_path / "x.npy", mmap_mode="r")
    one, other = BSM(3, whiten="online"), BSM(3, whiten="online")
    np.testing.assert_array_equal(one.partial_fit_transform(given), other.partial_fit_transform(X))
    np.testing.assert_allclose(
        BSM(3, random_state=0).fit_transform(given), BSM(3, random_state=0).fit_transform(X), rtol=1e-9
    )


# --- frames, pickles, clones, files -----------------------------------------------------------------------------


@unsettled
def test_pandas_and_polars(mixture):
    frame = pd.DataFrame(mixture.X, columns=["a", "b", "c", "d"], index=np.arange(N) + 5)
    bsm = BSM(n_components=3, random_state=0).set_output(transform="pandas").fit(frame)
    out = bsm.transform(frame)
    assert list(out.columns) == ["bsm0", "bsm1", "bsm2"]
    assert out.index.equals(frame.index)
    assert list(bsm.feature_names_in_) == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names should match"):
        bsm.transform(frame[["b", "a", "c", "d"]])
    as_polars = NSM(n_components=3, random_state=0).set_output(transform="polars").fit_transform(pl.from_pandas(frame))
    assert isinstance(as_polars, pl.DataFrame)
    assert as_polars.columns == ["nsm0", "nsm1", "nsm2"]


@unsettled
def test_in_a_pipeline(mixture):
    pipeline = make_pipeline(StandardScaler(), BSM(n_components=3, random_state=0))
    Y = pipeline.fit_transform(mixture.X)
    np.testing.assert_allclose(pipeline.transform(mixture.X), Y)
    np.testing.assert_allclose(pipeline.inverse_transform(Y), mixture.X, atol=0.02 * np.abs(mixture.X).max())


@BOTH
def test_pickles_and_clones_go_their_own_way(kind, mixture):
    separator = kind(n_components=3, whiten="online").partial_fit(mixture.X[:200])
    twin = pickle.loads(pickle.dumps(separator))
    blank = clone(separator)
    with pytest.raises(NotFittedError):
        blank.transform(mixture.X)
    separator.partial_fit(mixture.X[200:300])
    assert twin.n_samples_seen_ == 200
    twin.partial_fit(mixture.X[200:300])
    np.testing.assert_array_equal(twin.components_, separator.components_)


@BOTH
def test_saved_and_loaded(kind, mixture, tmp_path):
    frame = pd.DataFrame(mixture.X, columns=list("abcd"))
    steps = {"forgetting": np.float64(0.01)} | ({"schedule": "paper"} if kind is BSM else {})
    separator = kind(n_components=np.int64(3), whiten="online", random_state=np.int32(4), **steps)
    separator.partial_fit(frame[:200]).save(tmp_path / "a.state")
    loaded = kind.load(tmp_path / "a.state")
    assert loaded.get_params() == separator.get_params()
    assert list(loaded.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(
        loaded.partial_fit_transform(frame[200:]), separator.partial_fit_transform(frame[200:])
    )
    np.testing.assert_array_equal(loaded.components_, separator.components_)


def test_a_generator_is_not_kept_in_a_file(mixture, tmp_path):
    bsm = BSM(n_components=3, whiten="online", random_state=np.random.RandomState(0)).partial_fit(mixture.X[:50])
    bsm.save(tmp_path / "a.state")
    assert BSM.load(tmp_path / "a.state").random_state is None


def test_a_file_of_another_estimator_is_refused(mixture, tmp_path):
    NSM(n_components=3, whiten="online").partial_fit(mixture.X[:50]).save(tmp_path / "a.state")
    with pytest.raises(StateFileError, match="saved by NSM, not by BSM"):
        BSM.load(tmp_path / "a.state")
    State.start(2, 2).save(tmp_path / "b.state")
    with pytest.raises(StateFileError, match="saved by a bare State, not by BSM"):
        BSM.load(tmp_path / "b.state")


@pytest.mark.parametrize(
    "about",
    [
        {"method": "BSM"},
        {"method": "BSM", "params": {"speed": 3}, "feature_names": None},
        {"method": "BSM", "params": {"limit": "wide"}, "feature_names": None},
        {"method": "BSM", "params": {}},
    ],
)
def test_a_file_with_strange_parameters_is_refused(about, tmp_path):
    State.start(2, 2).save(tmp_path / "a.state", about)
    with pytest.raises(StateFileError, match="its parameters are missing or unknown"):
        BSM.load(tmp_path / "a.state")


def test_warnings_point_at_the_users_line(rng):
    X = rng.uniform(0.0, 1.0, (100, 2))
    short = {"schedule": "paper", "whiten": "exact"}
    calls = (lambda: BSM(**short).fit(X), lambda: BSM(**short).fit_transform(X), lambda: BSM(**short).partial_fit(X))
    for call in calls:
        with pytest.warns(UserWarning, match="samples") as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}


def test_saving_needs_something_learnt(tmp_path):
    with pytest.raises(NotFittedError):
        BSM().save(tmp_path / "a.state")


# --- how it went -------------------------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize(("schedule", "stage"), [("paper", "constant"), ("auto", "sharpening")])
def test_a_settled_network_says_so(schedule, stage):
    X, A = white_uniform(100_000, 3, 0)
    bsm = BSM(schedule=schedule, random_state=0).fit(X)  # a warning would be an error here
    assert bsm.converged_
    assert bsm.stage_ == stage
    assert 0.0 < bsm.movement_ < 0.1
    assert 0.0 < bsm.clip_share_ < 0.3
    assert 0.0 < bsm.sweeps_ < 5.0
    assert abs(bsm.estimated_sir_ - metrics.sir(bsm.components_, A).total) < 12.0


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("paper", r"gains or its map moved by 0\.\d+ \(tol=0.2\).*n_passes="),
        ("auto", r"10000 samples were too few to separate by.*n_passes="),
    ],
)
def test_one_that_still_moves_warns(schedule, message):
    X, _ = white_uniform(10_000, 20, 0)
    with pytest.warns(ConvergenceWarning, match=message):
        bsm = BSM(schedule=schedule, n_passes=1, random_state=0).fit(X)
    assert not bsm.converged_


@pytest.mark.parametrize("separator", [BSM(schedule="paper", random_state=0), NSM(random_state=0)])
def test_too_few_samples_warn(separator, rng):
    with pytest.warns(ConvergenceWarning, match="200 samples are too few at this forgetting, which needs 2500"):
        separator.fit(rng.uniform(0.0, 1.0, (200, 2)))
    assert not separator.converged_


@pytest.mark.parametrize(
    ("n", "d", "passes"), [(1000, 5, 100), (10_000, 30, 10), (60_000, 3, 2), (100_000, 31, 1), (200_000, 50, 2)]
)
def test_a_short_record_is_gone_over_again(n, d, passes):
    assert BSM()._passes(n, d) == passes
    assert BSM(schedule="paper")._passes(n, d) == NSM()._passes(n, d) == 1


def test_before_the_second_mark_movement_is_unknown(rng):
    assert BSM(whiten="online").partial_fit(rng.normal(size=(20, 2))).movement_ == np.inf


@unsettled
@pytest.mark.parametrize("dynamics", ["fixed_point", "euler"])
def test_both_dynamics_learn_the_same(dynamics, rng):
    X = rng.uniform(-1.7, 1.7, (1000, 3))
    reference = BSM(schedule="paper", whiten=None, random_state=0).fit(X)
    bsm = BSM(schedule="paper", whiten=None, dynamics=dynamics, random_state=0).fit(X)
    np.testing.assert_allclose(bsm.components_, reference.components_, atol=1e-4)
    assert (bsm.sweeps_ > 5.0) == (dynamics == "euler")


@unsettled
def test_sparse_networks_put_out_zeros(rng):
    bsm = BSM(sparsity=0.3, whiten="online")
    Y = bsm.partial_fit_transform(rng.uniform(-1.0, 1.0, (1000, 3)))
    assert 0.05 < np.mean(Y[100:] == 0.0) < 0.95


def test_rectified_outputs_are_not_negative(rng):
    Y = NSM(whiten="online").partial_fit_transform(rng.uniform(0.0, 1.0, (1000, 3)) @ rng.normal(size=(3, 3)))
    assert Y.min() == 0.0


@unsettled
def test_the_total_map_separates(mixture):
    """Not a floor, only that the parts are multiplied in the right order; the floors are in test_recovery."""
    bsm = BSM(n_components=3, random_state=0, n_passes=3).fit(mixture.X)
    assert metrics.sir(bsm.components_, mixture.A, mixture.power).total > (25.0 if COMPILED else 10.0)
    reach = np.abs(bsm.transform(mixture.X)).max(axis=0)
    np.testing.assert_allclose(reach, 1.0, atol=0.1 if COMPILED else 0.2)
