"""The same answers from every array library, and on every device that is here."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_digits
from sklearn.preprocessing import FunctionTransformer

from ulmus import ELMClassifier, ELMRegressor, RandomFeatures, RBFFeatures, reservoir
from ulmus.backends.namespace import to_numpy

X, Y = load_digits(return_X_y=True)
X = X / 16.0
WEIGHT = np.random.default_rng(0).uniform(0.5, 2.0, len(Y))


def fitted(model, asarray, n, dtype=np.float64, **more):
    A, y = X[:n].astype(dtype), Y[:n]
    with sklearn.config_context(array_api_dispatch=False):
        here = sklearn.clone(model).fit(A, y, **more)
    there = sklearn.clone(model).fit(asarray(A), asarray(y), **more)
    return here, there, A, asarray(A)


MODELS = {
    "loo": ELMClassifier(n_hidden=100, random_state=0),
    "one C": ELMClassifier(n_hidden=100, C=10.0, random_state=0),
    "radial": ELMClassifier(RBFFeatures(80), C=1.0, random_state=0),
    "balanced": ELMClassifier(
        n_hidden=50, C=[0.1, 10.0, 1e3], class_weight="balanced", random_state=0
    ),
    "width": ELMClassifier(RandomFeatures(64), n_hidden="loo", random_state=0),
    "values": ELMRegressor(n_hidden=100, random_state=0),
    "values, one C": ELMRegressor(n_hidden=100, C=10.0, random_state=0),
    "no intercept": ELMRegressor(n_hidden=60, fit_intercept=False, random_state=0),
    "rows as they are": ELMRegressor(FunctionTransformer(), C=1.0),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n", [60, 500])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_answers(library, name, n, weighted):
    more = {"sample_weight": WEIGHT[:n]} if weighted else {}
    here, there, A, B = fitted(MODELS[name], library, n, **more)
    assert type(there.beta_) is type(B)
    assert there.C_ == here.C_
    assert there.solver_ == here.solver_
    np.testing.assert_allclose(to_numpy(there.beta_), here.beta_, rtol=1e-6, atol=1e-7)
    found = there.predict(B)
    assert type(found) is type(B)
    np.testing.assert_allclose(to_numpy(found), here.predict(A), rtol=1e-7)
    if hasattr(here, "predict_proba"):
        P = there.predict_proba(B)
        np.testing.assert_allclose(to_numpy(P), here.predict_proba(A), atol=1e-8)
    if "loo_path_" in vars(here):
        ours, theirs = here.loo_path_["squared_error"], there.loo_path_["squared_error"]
        np.testing.assert_allclose(theirs, ours, rtol=1e-4)


@pytest.mark.parametrize("features", [RandomFeatures(100), None])
def test_single_precision(library, features):
    model = ELMClassifier(features, n_hidden=None if features else 100, C=10.0, random_state=0)
    here, there, A, B = fitted(model, library, 500, np.float32)
    assert there.predict_proba(B).dtype == B.dtype
    F, G = here.decision_function(A), to_numpy(there.decision_function(B))
    np.testing.assert_allclose(G, F, atol=2e-3)


def test_the_map_alone(library):
    units = RandomFeatures(30, random_state=0)
    ours = units.fit_transform(X)
    theirs = units.fit(library(X)).transform(library(X))
    np.testing.assert_allclose(to_numpy(theirs), ours, atol=1e-12)


def test_streams(library):
    here, there = (ELMClassifier(n_hidden=50, C=1.0, random_state=0) for _ in range(2))
    for rows in (slice(0, 300), slice(300, 600)):
        with sklearn.config_context(array_api_dispatch=False):
            here.partial_fit(X[rows], Y[rows])
        there.partial_fit(library(X[rows]), library(Y[rows]))
    np.testing.assert_allclose(to_numpy(there.beta_), here.beta_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("model", [ELMClassifier, ELMRegressor])
@pytest.mark.parametrize("room", [0, 2**20], ids=["a sample", "all rows"])
def test_streams_that_are_kept_summed_faded_and_forgotten(library, model, room, monkeypatch):
    monkeypatch.setattr(reservoir, "_LEAST", 60)
    monkeypatch.setattr(reservoir, "_BYTES", room)
    here, there = (model(n_hidden=20, random_state=0) for _ in range(2))
    steps = [
        (slice(0, 1), {}),
        (slice(1, 50), {}),
        (slice(50, 300), {}),
        (slice(300, 600), {"decay": 0.5}),
        (slice(300, 400), {"forget": True}),
    ]
    for rows, options in steps:
        with sklearn.config_context(array_api_dispatch=False):
            here.partial_fit(X[rows], Y[rows], **options)
        there.partial_fit(library(X[rows]), library(Y[rows]), **options)
        assert type(there._kept.X) is type(library(X))
        np.testing.assert_allclose(to_numpy(there.beta_), here.beta_, rtol=1e-6, atol=1e-8)
        assert there.C_ == here.C_
    with pytest.raises(ValueError, match="not (all )?fitted"):
        there.partial_fit(library(X[:100] + 5.0), library(Y[:100]), forget=True)


def test_labels_may_stay_on_the_host(library):
    words = np.array([f"digit {y}" for y in Y])
    model = ELMClassifier(n_hidden=50, random_state=0).fit(library(X), words)
    assert model.predict(library(X[:5])).tolist() == words[:5].tolist()


def test_without_dispatch_a_model_of_a_device_answers_rows_of_the_host(library):
    model = ELMClassifier(n_hidden=50, random_state=0).fit(library(X), library(Y))
    expected = to_numpy(model.predict(library(X)))
    with sklearn.config_context(array_api_dispatch=False):
        ours = model.predict(X)
    assert isinstance(ours, np.ndarray)
    np.testing.assert_array_equal(ours, expected)


def test_whole_numbers(library):
    whole = (16 * X).astype(np.int64)
    model = ELMClassifier(n_hidden=50, random_state=0)
    ours = model.fit(16 * X, Y).decision_function(16 * X)
    theirs = model.fit(library(whole), library(Y)).decision_function(library(whole))
    np.testing.assert_allclose(to_numpy(theirs), ours, atol=1e-9)
