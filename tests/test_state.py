"""A state is a value: cut, copied, saved or resumed, it goes on bit for bit; what is not a state is refused."""

import json
import os
from copy import deepcopy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundsep import State, StateFileError, course, schedules, sharpening, state_file
from boundsep.whitening import Fixed, moments
from conftest import start

KINDS = ["exact", "online", "neural", None, "sparse", "euler", "nonnegative", "auto", "settling", "sharpening", "trial"]


def some_state(kind, X, d=3):
    if kind == "exact":
        mean, covariance = moments(X)
        return State.start(d, X.shape[1], whiten=Fixed.exact(mean, covariance, d), rates=schedules.paper())
    if kind in ("auto", "settling"):
        state = State.start(d, X.shape[1], sharpen=kind == "auto")
        state.course.due = 20
        return state
    if kind in ("sharpening", "trial"):
        return a_sharpening_state(kind, X, d)
    if kind == "sparse":
        return start(d, X.shape[1], sparsity=0.2, forgetting=0.02)
    if kind == "euler":
        return start(d, X.shape[1], euler=True)
    if kind == "nonnegative":
        rates = schedules.paper(0.02, 0.0, 0.0, lower=0.0, upper=np.inf)
        return State.start(d, X.shape[1], whiten="online", rates=rates, keep_mean=True)
    return State.start(d, X.shape[1], whiten=kind, rates=schedules.paper(forgetting=0.02))


def a_sharpening_state(kind, X, d):
    """Return a state in stage two, which is looked at after a few samples; its map need not separate."""
    state = State.start(d, X.shape[1])
    state.learn(X[:150])
    state.course.enter(course.SHARPENING)
    state._enter(course.SEPARATING)
    state.course.due = state.course.heard + 7
    if kind == "trial":
        state.champion, state.course.stage = deepcopy(state.sharpening), course.TRIAL
        state.sharpening.faces[sharpening.HITS] = 1e6
    return state


def everything(state):
    """Return every number of a state, by name."""
    numbers = {name: getattr(state, name) for name in ("rates", "whiten", "euler", "n_samples")}
    for part in ("whitener", *State.PARTS):
        value = getattr(state, part)
        for name in value.__slots__:
            if not name.startswith("_"):
                numbers[f"{part}.{name}"] = getattr(value, name)
    return numbers


def assert_same(one, other):
    one, other = everything(one), everything(other)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.fixture
def X(rng):
    mixed = rng.uniform(-1.0, 1.0, (400, 3)) @ rng.normal(size=(3, 4))
    return mixed + 1e-3 * rng.normal(size=mixed.shape) + 2.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 7, 128])
def test_chunks_change_no_bit(kind, size, X):
    whole, cut = some_state(kind, X), some_state(kind, X)
    Y = whole.learn(X)
    pieces = [cut.learn(X[i : i + size]) for i in range(0, len(X), size)]
    np.testing.assert_array_equal(np.concatenate(pieces), Y)
    assert_same(whole, cut)


@settings(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(0, 400), max_size=6), kind=st.sampled_from(KINDS), seed=st.integers(0, 2**32 - 1))
def test_no_way_of_cutting_changes_a_bit(cuts, kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (400, 4)) * rng.choice([0.0, 1.0, 50.0], (400, 1), p=[0.05, 0.94, 0.01])
    whole, cut = some_state(kind, X), some_state(kind, X)
    Y = whole.learn(X)
    edges = [0, *sorted(cuts), 400]
    pieces = [cut.learn(X[a:b]) for a, b in pairwise(edges)]
    np.testing.assert_array_equal(np.concatenate(pieces), Y)
    assert_same(whole, cut)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded_it_goes_on_bit_for_bit(kind, X, tmp_path):
    state = some_state(kind, X)
    state.learn(X[:250])
    state.save(tmp_path / "a.state", {"name": "ä", "number": 3})
    resumed, about = State.load(tmp_path / "a.state")
    assert about == {"name": "ä", "number": 3}
    assert_same(state, resumed)
    np.testing.assert_array_equal(resumed.learn(X[250:]), state.learn(X[250:]))
    assert_same(state, resumed)


def test_a_copy_shares_nothing(X):
    state = some_state("online", X)
    state.learn(X[:100])
    kept = deepcopy(state)
    state.learn(X[100:])
    again = some_state("online", X)
    again.learn(X[:100])
    assert_same(kept, again)


def test_input_is_left_as_it_was(X):
    before = X.copy()
    Y = some_state(None, X, d=4).learn(X)
    np.testing.assert_array_equal(X, before)
    assert not np.shares_memory(X, Y)


def test_a_bare_state_checks_what_a_kernel_would_trip_over(X):
    state = State.start(2, 3)
    for bad in (X, X[:, :2], X[0, :3], "text"):
        with pytest.raises(ValueError, match=r"takes rows of 3 channels\. Got shape"):
            state.learn(bad)
    with pytest.raises(ValueError, match=r"n_components must be from 1 to n_features=3\. Got 4\."):
        State.start(4, 3)
    with pytest.raises(ValueError, match="'whiten' parameter of State must be a str among"):
        State.start(2, 3, whiten="exact")
    with pytest.raises(ValueError, match="keep_mean needs rates"):
        State.start(2, 3, keep_mean=True)
    with pytest.raises(ValueError, match="Threshold and limits of a network can't change"):
        state.set_rates(schedules.paper(upper=2.0, lower=-2.0))


def test_an_empty_chunk_changes_nothing(X):
    state, same = some_state("online", X), some_state("online", X)
    assert state.learn(X[:0]).shape == (0, 3)
    assert_same(state, same)


def test_memory_does_not_grow_with_the_stream(X, tmp_path):
    state = some_state("online", X)
    sizes = []
    for _ in range(3):
        for _ in range(5):
            state.learn(X)
        state.save(tmp_path / "a.state")
        sizes.append((tmp_path / "a.state").stat().st_size)
    assert max(sizes) - min(sizes) < 64  # digits of the counts


# --- files that are not what they should be -------------------------------------------------------------------


@pytest.fixture
def saved(X, tmp_path):
    path = tmp_path / "a.state"
    state = some_state("online", X)
    state.learn(X)
    state.save(path)
    return path


def with_header(path, **changes):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["header"] = np.array(json.dumps(json.loads(str(arrays["header"])) | changes))
    with path.open("wb") as file:
        np.savez(file, **arrays)


def with_array(path, name, value):
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    arrays[name] = value
    with path.open("wb") as file:
        np.savez(file, **{key: array for key, array in arrays.items() if array is not None})


def test_another_version_is_refused(saved):
    with_header(saved, version=99)
    with pytest.raises(StateFileError, match="version 99, and this boundsep reads version 2"):
        State.load(saved)


def test_another_format_is_refused(saved):
    with_header(saved, format="something else")
    with pytest.raises(StateFileError, match="'something else', not 'boundsep state'"):
        State.load(saved)


@pytest.mark.parametrize("changes", [{"about": None}, {"n_samples": "many"}])
def test_a_header_of_wrong_types_is_refused(saved, changes):
    with_header(saved, **changes)
    with pytest.raises(StateFileError, match="values of the wrong type"):
        State.load(saved)


def test_an_unknown_whitener_is_refused(saved):
    with_header(saved, whitener="quantum")
    with pytest.raises(StateFileError, match="quantum"):
        State.load(saved)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("neurons.W", np.zeros((3, 9)), "neurons.W should have size 3 along axis 1, not 9"),
        ("neurons.W", np.zeros(3), "neurons.W should have 2 dimensions"),
        ("neurons.M", np.zeros((3, 3), dtype=np.float32), "neurons.M should be a float64 array in C order"),
        ("neurons.M", np.asfortranarray(np.arange(9.0).reshape(3, 3)), "neurons.M should be a float64 array in C"),
        ("neurons.D", None, "neurons.D"),
        ("neurons.P", np.zeros((2, 2)), "neurons.P should have size 3 along axis 0, not 2"),
        ("neurons.guard", np.zeros(3), "neurons.guard should have size"),
        ("whitener.forgetting", np.zeros(2), "whitener.forgetting should have 0 dimensions"),
        ("rates", np.zeros(99), "rates should have size 8 along axis 0, not 99"),
        ("header", None, "header"),
        ("header", np.array("{"), "Expecting property name"),
        ("monitor.at", np.zeros(3), "counts contradict each other"),
        ("course.due", np.array(0), "counts contradict each other"),
        ("course.stage", np.array(9), "it is in a stage 9 that there is not"),
        ("sharpening.V", np.zeros((2, 3)), "sharpening.V should have size 3 along axis 0, not 2"),
        ("champion.faces", np.zeros((3, 3)), "champion.faces should have size 15 along axis 0, not 3"),
    ],
)
def test_arrays_that_a_kernel_would_trip_over_are_refused(saved, name, value, message):
    with_array(saved, name, value)
    with pytest.raises(StateFileError, match=message):
        State.load(saved)


def test_files_of_other_kinds_are_refused(tmp_path):
    path = tmp_path / "other"
    for content in (b"", b"hello", b"PK\x03\x04", os.urandom(1000)):
        path.write_bytes(content)
        with pytest.raises(StateFileError, match="can't be loaded as a boundsep state: it is damaged or not"):
            State.load(path)
    np.save(tmp_path / "plain.npy", np.zeros(3))
    with pytest.raises(StateFileError, match="damaged or not a state"):
        State.load(tmp_path / "plain.npy")
    np.savez(tmp_path / "object.npz", header=np.array([{}], dtype=object))
    with pytest.raises(StateFileError, match="damaged or not a state"):
        State.load(tmp_path / "object.npz")


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        State.load(tmp_path / "nothing")


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_refused_or_was_not_damaged(data, tmp_path_factory):
    """Cut off anywhere, or with any bytes changed: an error in our words, or the very same state."""
    folder = tmp_path_factory.mktemp("damaged")
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2))
    state = some_state("online", X, d=2)
    state.learn(X)
    path = folder / "a.state"
    state.save(path)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        loaded, _ = State.load(path)
    except StateFileError:
        return
    assert_same(loaded, state)


# --- never half a file ------------------------------------------------------------------------------------------


def test_a_failed_save_leaves_the_older_file(saved, X, monkeypatch):
    before = saved.read_bytes()

    def full(*args, **kwargs):
        args[0].write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(state_file.np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        some_state("online", X).save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_folder_that_is_not_there(X, tmp_path):
    with pytest.raises(FileNotFoundError):
        some_state("online", X).save(tmp_path / "nowhere" / "a.state")
