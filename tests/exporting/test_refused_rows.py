"""A graph cannot refuse a row: what Python refuses has no label there, and NaN for every number."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from exporting.runtime import results, session_of
from ulmus import (
    ELMNMF,
    ELMClassifier,
    ELMEmbedding,
    ELMKMeans,
    ELMRegressor,
    ELMSpectralClustering,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    RandomFeatures,
    RBFFeatures,
    to_onnx,
)

X, CLASSES = load_iris(return_X_y=True)
X = X[::2].astype(np.float32).astype(float)
CLASSES = CLASSES[::2]


def classifier(y):
    return ELMClassifier(n_hidden=20, random_state=0).fit(X, y)


def outputs_of(model, rows):
    return results(session_of(to_onnx(model)), rows)


@pytest.mark.parametrize(
    ("names", "none"),
    [
        (np.array([0, 1, 2]), -1),
        (np.array([-1, 1, 2]), np.iinfo(np.int64).min),
        (np.array(["a", "b", "c"]), ""),
        (np.array([0.0, 1.0, 2.0]), np.nan),
    ],
    ids=["int", "int with -1", "text", "float"],
)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_python_refuses_has_no_label_and_no_number(names, none, value):
    model = classifier(names[CLASSES])
    rows = X[:6].astype(np.float32)
    rows[2, 1] = value
    found = outputs_of(model, rows)
    sound = np.arange(6) != 2
    np.testing.assert_array_equal(found["label"][sound], model.predict(rows[sound]))
    np.testing.assert_array_equal(found["label"][2], none)
    for numbers in (found["probabilities"], found["scores"]):
        assert np.isnan(numbers[2]).all()
        assert np.isfinite(numbers[sound]).all()


def test_booleans_have_no_word_for_no_label_and_the_probabilities_tell():
    model = classifier(CLASSES == 1)
    rows = X[:3].astype(np.float32)
    rows[0, 0] = np.nan
    found = outputs_of(model, rows)
    assert not found["label"][0]
    assert np.isnan(found["probabilities"][0]).all()


@pytest.mark.parametrize(
    "model",
    [ELMRegressor(n_hidden=10, random_state=0), KernelELMRegressor(), ELMKMeans(3, n_hidden=10),
     ELMNMF(3, n_hidden=10), ELMSpectralClustering(3, n_hidden=10), ELMEmbedding(n_hidden=10),
     RandomFeatures(10), RBFFeatures(10), KernelFeatures(rank=5)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_every_number_of_such_a_row_is_nan_and_its_cluster_is_none(model):
    model.fit(X, X[:, 0])
    rows = X[:6].astype(np.float32)
    rows[2, 1], rows[4, 0] = np.nan, np.inf
    for name, found in outputs_of(model, rows).items():
        sound = np.isin(np.arange(6), [2, 4], invert=True)
        if name == "label":
            assert found[[2, 4]].tolist() == [-1, -1]
            assert (found[sound] >= 0).all()
        else:
            assert np.isnan(found[[2, 4]]).all()
            assert np.isfinite(found[sound]).all()


def test_blanks_that_a_pipeline_fills_are_no_such_rows():
    holes = X.copy()
    holes[::3, 1] = np.nan
    model = make_pipeline(SimpleImputer(), ELMClassifier(n_hidden=10, random_state=0))
    model.fit(holes, CLASSES)
    found = outputs_of(model, holes.astype(np.float32))
    np.testing.assert_array_equal(found["label"], model.predict(holes))
    assert np.isfinite(found["probabilities"]).all()


def test_outputs_that_overflow_are_no_answer():
    model = KernelELMClassifier("poly", C=1.0).fit(X, CLASSES)
    rows = X[:3].astype(np.float32)
    rows[1] = [3e38, 3e38, -3e38, 3e38]
    found = outputs_of(model, rows)
    assert found["label"][1] == -1
    assert np.isnan(found["scores"][1]).all()
