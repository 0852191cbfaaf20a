"""Bytes that were changed, cut off or put together at random are found, or do not matter."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from persistence.forging import forged, units
from ulmus import ELMClassifier, RandomFeatures, load, save
from ulmus.exceptions import ModelFileError
from ulmus.persistence import decoding, describe

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model with a little of everything, its bytes, and a place for changed ones."""
    model = ELMClassifier(
        ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", RandomFeatures(5), [2, 3])]),
        C=[0.1, np.float32(2)],
        random_state=np.random.RandomState(0),
    ).fit(X, np.array(["a", "b", "c"], dtype=object)[Y])
    path = tmp_path_factory.mktemp("fuzz") / "model.ulmus"
    save(model, path)
    return model, path.read_bytes(), path.with_name("changed.ulmus")


def test_every_cut_is_found(saved):
    _, content, path = saved
    for length in {*range(0, len(content), 97), *range(len(content) - 60, len(content))}:
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            load(path)


def assert_refused_or_the_same(model, path):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = load(path)
    except ModelFileError:
        return
    assert type(found) is type(model)
    assert (found.classes_ == model.classes_).all()
    assert found.decision_function(X).tobytes() == model.decision_function(X).tobytes()


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_changed_bytes_are_found_or_do_not_matter(saved, data):
    model, content, path = saved
    changed = bytearray(content)
    # Half of the changes go where the zip's own records are.
    ends = st.integers(len(content) - 2500, len(content) - 1)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.one_of(st.integers(0, len(content) - 1), ends))
        changed[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    assert_refused_or_the_same(model, path)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_bytes_that_are_missing_or_too_many_are_found_or_do_not_matter(saved, data):
    model, content, path = saved
    a, b = sorted(data.draw(st.integers(0, len(content))) for _ in range(2))
    path.write_bytes(
        data.draw(st.sampled_from([content[:a] + content[b:], content[a:] + content[:b]]))
    )
    assert_refused_or_the_same(model, path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*decoding._KINDS, "class", "state", "shape", "data"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(value=JSON, random=st.just([]) | JSON)
def test_any_json_is_read_or_refused(saved, value, random):
    path = saved[2]
    forged(path, units(n_hidden=value), [np.arange(3.0)], random=random)
    for read in (load, describe):
        try:
            read(path)
        except ModelFileError:
            continue
