"""A missing target means no label where a fit is semi-supervised, and an error elsewhere."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ulmus
from ulmus import (
    ELMClassifier,
    ELMRegressor,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    ManifoldELMClassifier,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
    SparseELMClassifier,
    batches,
)
from ulmus.exceptions import InvalidInputError, UlmusWarning

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3))
CLASSES = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
FEW = np.where(np.arange(60) < 20, CLASSES, -1)
OPTIONAL = [None if label < 0 else int(label) for label in FEW]


def with_nothing(nothing):
    return np.array([nothing if label is None else label for label in OPTIONAL], dtype=object)


UNLABELLED = {
    "None": OPTIONAL,
    "NaN": np.where(FEW < 0, np.nan, FEW),
    "NaN among objects": with_nothing(np.nan),
    "NA": with_nothing(pd.NA),
    "NaT": with_nothing(pd.NaT),
    "-1 among objects": with_nothing(-1),
    "-1 of int8": FEW.astype(np.int8),
    "Int64": pd.Series(OPTIONAL, dtype="Int64"),
    "Int64 with -1": pd.Series(FEW, dtype="Int64"),
    "category": pd.Series(OPTIONAL, dtype="Int64").astype("category"),
    "pandas on Arrow": pd.Series(OPTIONAL, dtype="int64[pyarrow]"),
    "Arrow": pa.array(OPTIONAL),
    "masked": np.ma.MaskedArray(np.abs(FEW), mask=FEW < 0),
}


def few_labels():
    return SemiSupervisedELMClassifier(n_hidden=20, C=[0.1, 10.0], lam=[0.01, 1.0], random_state=0)


@pytest.fixture(scope="module")
def marked():
    return few_labels().fit(X, FEW)


@pytest.mark.parametrize("y", UNLABELLED.values(), ids=UNLABELLED)
def test_every_mark_of_a_row_without_a_label_is_the_same_fit(y, marked):
    model = few_labels().fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.classes_.dtype.kind == (
        "f" if isinstance(y, np.ndarray) and y.dtype == float else "i"
    )
    assert_array_equal(model.beta_, marked.beta_)
    assert_array_equal(model.transduction_, marked.transduction_)
    assert_array_equal(marked.relabel(y).beta_, marked.beta_)


@pytest.mark.parametrize("dtype", ["string", "str", "category", "string[pyarrow]"])
def test_words_may_be_missing(dtype):
    words = pd.Series([None if label is None else "abc"[label] for label in OPTIONAL]).astype(dtype)
    model = few_labels().fit(X, words)
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_booleans_may_be_missing():
    y = pd.Series([None if label is None else label > 0 for label in OPTIONAL], dtype="boolean")
    model = few_labels().fit(X, y)
    assert model.classes_.dtype == bool


def test_a_model_whose_labels_were_missing_is_saved(tmp_path, marked):
    model = few_labels().fit(X, with_nothing(pd.NA))
    ulmus.save(model, tmp_path / "model.ulmus")
    again = ulmus.load(tmp_path / "model.ulmus")
    assert_array_equal(again.transduction_, marked.transduction_)


VALUES = [None if i >= 20 else float(X[i].sum()) for i in range(60)]


@pytest.mark.parametrize(
    "y",
    [VALUES, np.array([pd.NA if v is None else v for v in VALUES], dtype=object),
     pd.Series(VALUES, dtype="Float64"), pd.DataFrame({"y": VALUES}, dtype="Float64")["y"],
     pa.array(VALUES), np.ma.masked_invalid(np.array(VALUES, dtype=float))],
    ids=["None", "NA", "Float64", "frame", "Arrow", "masked"],
)  # fmt: skip
def test_every_mark_of_a_row_without_a_value_is_the_same_fit(y):
    a = SemiSupervisedELMRegressor(n_hidden=20, random_state=0).fit(
        X, np.array(VALUES, dtype=float)
    )
    b = SemiSupervisedELMRegressor(n_hidden=20, random_state=0).fit(X, y)
    assert_array_equal(a.beta_, b.beta_)


def test_minus_one_is_a_value():
    y = np.where(np.arange(60) < 30, -1.0, 1.0)
    model = SemiSupervisedELMRegressor(n_hidden=20, random_state=0).fit(X, y)
    assert_allclose(model.transduction_, y)


# ---------------------------------------------------------------- elsewhere
CLASSIFIERS = [
    ELMClassifier(n_hidden=10),
    GraphELMClassifier(n_hidden=10),
    ManifoldELMClassifier(n_hidden=10),
    KernelELMClassifier(),
    SparseELMClassifier(n_hidden=10),
]
REGRESSORS = [ELMRegressor(n_hidden=10), KernelELMRegressor()]
REFUSED = {name: y for name, y in UNLABELLED.items() if "-1" not in name}


@pytest.mark.parametrize("y", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_a_supervised_classifier_names_what_is_missing(model, y):
    words = "y has 40 missing values, in rows 20, 21, 22, 23, 24 and 35 more"
    with pytest.raises(InvalidInputError, match=f"{words}.*SemiSupervisedELMClassifier"):
        model.fit(X, y)


@pytest.mark.parametrize("y", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: type(m).__name__)
def test_a_supervised_regressor_names_what_is_missing(model, y):
    with pytest.raises(InvalidInputError, match="y has 40 missing.*SemiSupervisedELMRegressor"):
        model.fit(X, y)


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=lambda m: type(m).__name__)
def test_nullable_whole_numbers_without_a_gap_are_whole_numbers(model):
    model.fit(X, pd.Series(CLASSES, dtype="Int64"))
    if hasattr(model, "classes_"):
        assert model.classes_.dtype.kind == "i"
    model.fit(X, np.array(CLASSES.tolist(), dtype=object))
    if hasattr(model, "classes_"):
        assert model.classes_.dtype.kind == "i"


def test_a_score_names_what_is_missing():
    for model in (ELMClassifier(n_hidden=10), SemiSupervisedELMClassifier(n_hidden=10)):
        model.fit(X, CLASSES)
        with pytest.raises(InvalidInputError, match="y has 40 missing values"):
            model.score(X, UNLABELLED["NA"])
    for model in (ELMRegressor(n_hidden=10), SemiSupervisedELMRegressor(n_hidden=10)):
        model.fit(X, CLASSES)
        with pytest.raises(InvalidInputError, match="y has 40 missing values"):
            model.score(X, UNLABELLED["NA"])


def test_a_stream_names_what_is_missing_and_where():
    y = pd.Series(OPTIONAL, dtype="Int64")
    with pytest.raises(InvalidInputError, match="Batch 1 cannot be used. y has 10 missing values"):
        ELMClassifier(n_hidden=10).fit(batches.from_arrays(X, y, rows=30))
    with pytest.raises(InvalidInputError, match="y has 40 missing values"):
        ELMClassifier(n_hidden=10).partial_fit(X, y)


def test_blocks_of_a_dask_frame_follow_the_same_rule(marked):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["y"] = pd.Series(OPTIONAL, dtype="Int64")
    parts = dd.from_pandas(frame, npartitions=3)
    inputs, target = parts[["a", "b", "c"]], parts["y"]
    model = few_labels().fit(inputs, target)
    assert model.classes_.dtype.kind == "i"
    assert_array_equal(model.predict(frame[["a", "b", "c"]]), marked.predict(X))
    # Two of three blocks have no label, and either may be read first.
    with pytest.raises(InvalidInputError, match="Block [12] .*y has 20 missing values"):
        ELMClassifier(n_hidden=10).fit(inputs, target)


def test_minus_one_as_text_is_a_class_and_warned_of():
    names = np.array(["aa", "bb", "cc"])[FEW]
    names[FEW < 0] = -1  # NumPy makes text of it
    with pytest.warns(UlmusWarning, match="the text '-1' is one of the classes"):
        model = few_labels().fit(X, names)
    assert_array_equal(model.classes_, ["-1", "aa", "bb", "cc"])
    given = np.where(FEW < 0, None, names)
    given[:2] = "-1"  # beside rows without a label it is a class like others
    assert "-1" in few_labels().fit(X, given).classes_
