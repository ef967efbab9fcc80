"""What goes wrong is said: what, where, and what to do; and nothing that was learnt is lost."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest

from boundsep import BSM, NSM, metrics, mixing, sources
from test_state import assert_same

BOTH = pytest.mark.parametrize("kind", [BSM, NSM])
VERBS = pytest.mark.parametrize("verb", ["fit", "partial_fit", "partial_fit_transform"])
unsettled = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def X(rng):
    return rng.uniform(-1.0, 1.0, (200, 3))


# --- parameters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "must_be"),
    [
        ("n_components", 0, "an int in the range [1, inf) or None"),
        ("n_components", 2.0, "an int in the range [1, inf) or None"),
        ("n_components", True, "an int in the range [1, inf) or None"),
        ("forgetting", 1.5, "a float in the range (0.0, 1.0)"),
        ("forgetting", 0.0, "a float in the range (0.0, 1.0)"),
        ("forgetting", np.nan, "a float in the range (0.0, 1.0)"),
        ("forgetting", "fast", "a float in the range (0.0, 1.0)"),
        ("gain_step", -1e-3, "a float in the range [0.0, 1.0)"),
        ("gain_leak", 1.0, "a float in the range [0.0, 1.0)"),
        ("schedule", "magic", "a str among {'auto', 'paper'}"),
        ("sharpen", 1, "a bool"),
        ("tracking", 0, "an int in the range [1, inf) or None"),
        ("leak", "slow", "a str among {'linear', 'log', 'quadratic'} or None"),
        ("sparsity", -0.1, "a float in the range [0.0, inf)"),
        ("limit", 0.0, "a float in the range (1e-30, 1e+30)"),
        ("limit", np.inf, "a float in the range (1e-30, 1e+30)"),
        ("whiten", "zca", "a str among {'auto', 'exact', 'neural', 'online'} or None"),
        ("whiten", True, "a str among {'auto', 'exact', 'neural', 'online'} or None"),
        ("dynamics", None, "a str among {'euler', 'fixed_point'}"),
        ("n_passes", 0, "an int in the range [1, inf) or 'auto'"),
        ("n_passes", "many", "an int in the range [1, inf) or 'auto'"),
        ("tol", -1.0, "a float in the range [0.0, inf)"),
    ],
)
@VERBS
def test_parameters(name, value, must_be, verb, X):
    for kind in (BSM, NSM):
        if name not in kind().get_params():
            continue
        steps = {"schedule": "paper"} if kind is BSM and name in ("forgetting", "gain_step", "gain_leak") else {}
        with pytest.raises(ValueError) as caught:
            getattr(kind(**{name: value} | steps), verb)(X)
        assert (
            str(caught.value) == f"The {name!r} parameter of {kind.__name__} must be {must_be}. Got {value!r} instead."
        )


def test_steps_belong_to_the_papers_schedule(X):
    for name in ("forgetting", "gain_step", "gain_leak"):
        with pytest.raises(ValueError, match=rf"finds its {name} by itself .*Got {name}=0\.01: give it with .*'paper'"):
            BSM(**{name: 0.01}).fit(X)
    with pytest.raises(ValueError, match=r"remembers 1/forgetting samples.*Got tracking=500: give it with .*'auto'"):
        BSM(schedule="paper", tracking=500).fit(X)


# --- values and shapes ------------------------------------------------------------------------------------------


@BOTH
@VERBS
@pytest.mark.parametrize(
    ("value", "what"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity"), (1e200, "a value too large")]
)
def test_samples_that_are_not_numbers(kind, verb, value, what, X):
    X[17, 2] = X[40, 0] = X[40, 1] = value
    with pytest.raises(ValueError, match=rf"contains {what}.* in row 17, channel 2 \(in all, values: 3, rows: 2\)"):
        getattr(kind(), verb)(X)


@BOTH
@VERBS
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros(5), "Expected 2D array, got 1D array instead"),
        (np.zeros((2, 3, 4)), "dim 3"),
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros((5, 0)), "0 feature"),
        (np.array([["a", "b"], ["c", "d"]]), "could not convert string to float"),
        (np.ones((5, 2)) * 1j, "Complex data not supported"),
    ],
)
def test_shapes_and_types(kind, verb, bad, message):
    with pytest.raises(ValueError, match=message):
        getattr(kind(), verb)(bad)


@unsettled
def test_samples_and_channels_swapped(X):
    with pytest.warns(UserWarning, match=r"X has 3 rows and 200 columns.*pass X\.T"):
        BSM(n_components=1).fit(X.T)


@BOTH
def test_another_number_of_channels(kind, X):
    separator = kind(whiten="online").partial_fit(X)
    for verb in (separator.partial_fit, separator.transform):
        with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
            verb(X[:, :2])
    with pytest.raises(ValueError, match=f"Y has 2 columns, but {kind.__name__} separates 3 sources"):
        separator.inverse_transform(X[:, :2])


# --- rank -------------------------------------------------------------------------------------------------------


@unsettled
@BOTH
def test_constant_channels_are_named(kind, X):
    X = np.column_stack([X, np.full(200, 7.1), np.zeros(200)])
    with pytest.warns(UserWarning, match=r"separates 3 components.*rank is 3 of 5: channels 3, 4 constant"):
        assert kind().fit(X).components_.shape == (3, 5)
    with pytest.raises(ValueError, match=r"n_components=4 .* more than the 3 independent channels .* channels 3, 4"):
        kind(n_components=4).fit(X)
    frame = pd.DataFrame(X, columns=["left", "right", "rear", "dead", "off"])
    with pytest.warns(UserWarning, match=r"channels 3 \(dead\), 4 \(off\) constant"):
        kind().fit(frame)


@unsettled
@BOTH
def test_duplicate_channels_are_named(kind, X):
    X = np.column_stack([X, -2.0 * X[:, 0], X[:, 1]])
    with pytest.warns(UserWarning, match="channels 0 and 3, 1 and 4 the same up to scale"):
        kind().fit(X)


@unsettled
def test_mixtures_of_channels_are_told_of(X):
    with pytest.warns(UserWarning, match="rank is 3 of 4: some channels are mixtures of others"):
        BSM().fit(np.column_stack([X, X.sum(axis=1)]))


@BOTH
def test_nothing_varies(kind):
    with pytest.raises(ValueError, match="All channels of X are constant over its 10 samples"):
        kind().fit(np.ones((10, 3)))


@unsettled
def test_fewer_samples_than_channels(X):
    with (
        pytest.warns(UserWarning, match="X has 2 rows and 3 columns"),
        pytest.warns(UserWarning, match="rank is 1 of 3: only 2 samples"),
    ):
        bsm = BSM().fit(X[:2])
    assert bsm.components_.shape == (1, 3)


def test_more_components_than_sensors(X):
    with pytest.raises(ValueError, match="n_components=5 of BSM is more than the 3 channels of X"):
        BSM(n_components=5).fit(X)
    with pytest.raises(ValueError, match="n_components=5 of BSM is more than the 3 channels of X"):
        BSM(n_components=5, whiten="online").partial_fit(X)


def test_a_stream_without_rank_warns_once(rng):
    X = rng.uniform(-1.0, 1.0, (2000, 2)) @ rng.normal(size=(2, 3))
    bsm = BSM(whiten="online")
    with pytest.warns(UserWarning, match="only 2 independent channels, and 3 components"):
        bsm.partial_fit(X)
    bsm.partial_fit(X)  # a second warning would be an error


def test_exact_whitening_needs_a_first_chunk(X):
    for rows in (1, 3):
        with pytest.raises(ValueError, match=rf"from the first chunk, and {rows} samples of 3 channels are too few"):
            BSM(whiten="exact").partial_fit(X[:rows])
    with pytest.warns(UserWarning, match=r"50 samples limit the SIR to about 20 dB.*whiten='online'"):
        BSM(whiten="exact").partial_fit(X[:50])


@unsettled
def test_input_that_is_not_white(rng):
    X = rng.uniform(-1.0, 1.0, (500, 2)) @ [[1.0, 0.9], [0.0, 0.5]]
    with pytest.warns(UserWarning, match=r"whiten=None takes X as white .* correlated by up to 0\.8"):
        BSM(whiten=None).fit(X)
    white = rng.uniform(-1.0, 1.0, (500, 2))
    with pytest.warns(UserWarning, match=r"their means are up to 1\.\d+ standard deviations"):
        BSM(whiten=None).fit(white + 0.7)
    BSM(whiten=None).fit(white)  # a warning would be an error
    NSM(whiten=None).fit(white + 1.0)  # so here, where the mean belongs to the sources


# --- nothing is lost ---------------------------------------------------------------------------------------------


@BOTH
def test_a_failed_partial_fit_leaves_all_as_it_was(kind, X):
    broken = X.copy()
    broken[5, 1] = np.nan
    fresh = kind(whiten="online")
    with pytest.raises(ValueError):
        fresh.partial_fit(broken)
    assert vars(fresh) == vars(kind(whiten="online"))
    separator = kind(whiten="online").partial_fit(X)
    before = deepcopy(separator.state_)
    for bad in (broken, X[:, :2], "text"):
        with pytest.raises(ValueError):
            separator.partial_fit(bad)
    separator.set_params(forgetting=7.0)
    with pytest.raises(ValueError):
        separator.partial_fit(X)
    assert_same(separator.state_, before)


@unsettled
def test_a_failed_fit_keeps_the_last_one(X):
    bsm = BSM(random_state=0).fit(X)
    components = bsm.components_
    with pytest.raises(ValueError):
        bsm.fit(np.ones((10, 7)))
    np.testing.assert_array_equal(bsm.components_, components)
    assert bsm.n_features_in_ == 3


# --- elsewhere ---------------------------------------------------------------------------------------------------


def test_metrics_refuse_what_cannot_be_matched(rng):
    with pytest.raises(ValueError, match="2 outputs can't be matched with 3 sources"):
        metrics.sir(np.ones((2, 3)), np.eye(3))
    with pytest.raises(ValueError, match=r"as many outputs as sources\. Got 2 and 3"):
        metrics.amari(np.ones((2, 3)), np.eye(3))
    with pytest.raises(ValueError, match=r"one row a sample, both. Got shapes \(5, 2\) and \(6, 2\)"):
        metrics.si_sdr(np.ones((5, 2)), np.ones((6, 2)))


def test_sources_refuse_what_they_do_not_know():
    with pytest.raises(ValueError, match="kind must be"):
        sources.sparse(10, 2, kind="other")
    with pytest.raises(ValueError, match=r"order must be a square number\. Got 8"):
        sources.qam(10, 2, order=8)
    with pytest.raises(ValueError, match=r"no photograph 'mona lisa'\. There are: astronaut, "):
        sources.photographs(["mona lisa"])
    with pytest.raises(ValueError, match="'china' has 427 x 640 pixels, fewer than 1000 x 10"):
        sources.photographs(["china"], height=1000, width=10)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skimage", None)
    with pytest.raises(ImportError, match=r"photographs need scikit-image: pip install 'boundsep\[images\]'"):
        sources.photographs(["camera"])


def test_mixing_shapes_must_fit(rng):
    with pytest.raises(ValueError):
        mixing.mix(rng.normal(size=(10, 3)), np.eye(2))


@unsettled
@pytest.mark.compiled
def test_what_the_local_whitener_cannot_resolve_is_said(rng):
    """It takes axes a thousand times weaker than the strongest for none."""
    X = mixing.mix(rng.uniform(-1.0, 1.0, (20_000, 3)), mixing.ill_conditioned(3, 3, condition=1e5, random_state=0)).X
    with pytest.warns(UserWarning, match="only 2 independent channels, and 3 components are asked for"):
        BSM(whiten="neural").fit(X)
    BSM(whiten="online").fit(X)  # this one can: a warning would be an error
