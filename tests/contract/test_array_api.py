"""Estimators that say they take arrays of other libraries pass scikit-learn's checks of it.

The tag makes `test_estimator_checks` ask for scikit-learn's own list; here are the same checks with
values compared, and what the list leaves out.
"""

import array_api_strict
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import FunctionTransformer, PowerTransformer, StandardScaler
from sklearn.utils import estimator_checks as checks
from sklearn.utils import get_tags

import ulmus
from ulmus import (
    ELMClassifier,
    ELMEmbedding,
    ELMRegressor,
    ELMSpectralClustering,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    ManifoldELMClassifier,
    RandomFeatures,
    RBFFeatures,
    RowFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
    to_device,
    to_host,
)

PLACES = [
    ("array_api_strict", "CPU_DEVICE", "float64"),
    ("array_api_strict", "device1", "float32"),
    ("torch", "cpu", "float64"),
    ("torch", "cpu", "float32"),
]


def at(*precisions):
    """The places where arrays are of these precisions; PyTorch's are run by `make torch`."""
    marks = {"torch": [pytest.mark.torch]}
    found = [place for place in PLACES if place[2] in precisions]
    cases = [pytest.param(p, marks=marks.get(p[0], []), id=" ".join(p)) for p in found]
    return pytest.mark.parametrize("place", cases)


# Every point of the default's 169 is the same work, which the strict library does slowly.
GRID = {"C": [0.1, 10.0], "lam": [0.01, 1.0]}
MODELS = {
    "ridge": ELMClassifier(n_hidden=10),
    "ridge, more units than rows": ELMClassifier(n_hidden=100, C=1.0),
    "ridge, balanced": ELMClassifier(n_hidden=10, class_weight="balanced"),
    "numbers": ELMRegressor(n_hidden=10),
    "radial units": ELMClassifier(RBFFeatures(10), C=1.0),
    "kernel units": ELMRegressor(KernelFeatures(rank=10), C=1.0),
    "GELM": GraphELMClassifier(n_hidden=10),
    "MELM": ManifoldELMClassifier(n_hidden=10, C=1.0),
    "kernel": KernelELMClassifier(C=1.0),
    "kernel, low rank": KernelELMClassifier(rank=10, C=1.0),
    "kernel, numbers": KernelELMRegressor(rank=10),
    "few labels, tight": SemiSupervisedELMClassifier(n_hidden=10, coupling="published", **GRID),
    "few labels, free": SemiSupervisedELMClassifier(n_hidden=10, coupling="free"),
    "few values, tight": SemiSupervisedELMRegressor(n_hidden=10, coupling="published", **GRID),
    "few values, free": SemiSupervisedELMRegressor(n_hidden=10, coupling="free"),
    "embedding": ELMEmbedding(n_hidden=10, coupling="tight"),
    "embedding, free": ELMEmbedding(n_hidden=10, coupling="free"),
    "clusters": ELMSpectralClustering(2, n_hidden=10),
    "random map": RandomFeatures(10),
    "relu map": RandomFeatures(10, activation="relu", scaling=None),
    "map of rows": RowFeatures(11),
    "map of smooth units": RowFeatures(11, node="gaussian"),
    "radial map": RBFFeatures(10),
    "robust map": RBFFeatures(10, node="robust", centers="normal"),
    "kernel map": KernelFeatures(rank=10),
    "kernel map, by eigenvectors": KernelFeatures("poly", 10, method="eig"),
}
HOST_ALONE = {"ELMKMeans", "ELMLayout", "ELMNMF", "SparseELMClassifier"}
PUBLIC = [name for name in ulmus.__all__ if hasattr(getattr(ulmus, name), "fit")]


@pytest.mark.parametrize("name", PUBLIC)
def test_the_tag_says_whether_rows_may_be_on_a_device(name):
    assert get_tags(getattr(ulmus, name)()).array_api_support == (name not in HOST_ALONE)


def test_a_transformer_decides_for_the_estimator_around_it():
    assert get_tags(ELMClassifier(StandardScaler())).array_api_support == (
        get_tags(StandardScaler()).array_api_support
    )
    assert not get_tags(ELMClassifier(PowerTransformer())).array_api_support


@at("float32")
@pytest.mark.parametrize("name", MODELS)
def test_scikit_learn_s_check_of_places_shapes_and_types(name, place):
    model = MODELS[name]
    checks.check_array_api_input(type(model).__name__, model, *place)


@at("float64")
@pytest.mark.parametrize("name", MODELS)
def test_scikit_learn_s_check_of_values(name, place):
    model = MODELS[name]
    checks.check_array_api_input_and_values(type(model).__name__, model, *place)


# ------------------------------------------------------------------ beyond the list
@pytest.fixture
def device():
    """Puts arrays on a device that refuses to be mixed with the host's, as a GPU does."""
    there = array_api_strict.Device("device1")
    with sklearn.config_context(array_api_dispatch=True):
        yield lambda x: array_api_strict.asarray(x, device=there)


X = np.random.default_rng(0).standard_normal((37, 3))
Y = np.arange(37) % 3


@at("float32", "float64")
def test_the_score_is_the_same_float_in_every_library(place):
    xp, there = checks._array_api_for_tests(*place)
    A = X.astype(place[2])
    for model in (ELMClassifier(n_hidden=3, C=1.0), GraphELMClassifier(n_hidden=3)):
        model.set_params(random_state=0)
        expected = clone(model).fit(A, Y).score(A, Y)
        assert 0 < expected < 1
        B, z = (xp.asarray(x, device=there) for x in (A, Y))
        with sklearn.config_context(array_api_dispatch=True):
            assert clone(model).fit(B, z).score(B, z) == expected


@pytest.mark.parametrize("name", MODELS)
def test_rows_that_are_not_where_the_model_is_are_refused(device, name):
    y = Y.astype(float) if isinstance(MODELS[name], SemiSupervisedELMRegressor) else Y
    here, there = clone(MODELS[name]).fit(X, y), clone(MODELS[name]).fit(device(X), device(y))
    method = "predict" if hasattr(here, "predict") else "transform"
    said = rf"{type(here).__name__}.{method}\(\) must use the same namespace"
    for model, rows in ((here, device(X)), (there, X)):
        with pytest.raises(ValueError, match=said):
            getattr(model, method)(rows)
    assert to_host(getattr(there, method)(device(X))).shape[0] == len(X)
    assert getattr(to_host(there), method)(X).shape[0] == len(X)
    getattr(to_device(here, device(X)), method)(device(X))


def test_rows_of_the_host_are_taken_where_arrays_are_not_dispatched(device):
    model = ELMClassifier(n_hidden=10, random_state=0).fit(device(X), Y)
    expected = to_host(model.predict(device(X)))
    with sklearn.config_context(array_api_dispatch=False):
        np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("name", MODELS)
def test_labels_and_weights_may_be_anywhere(device, name):
    other = array_api_strict.Device("device2")
    y = Y.astype(float) if isinstance(MODELS[name], SemiSupervisedELMRegressor) else Y
    model = clone(MODELS[name])
    model.set_params(random_state=0)
    expected = clone(model).fit(device(X), y)
    found = model.fit(device(X), array_api_strict.asarray(y, device=other))
    method = "predict" if hasattr(model, "predict") else "transform"
    A, B = (to_host(getattr(each, method)(device(X))) for each in (expected, found))
    np.testing.assert_array_equal(A, B)


def test_a_map_fitted_on_the_host_serves_an_estimator_on_a_device(device):
    units = FrozenEstimator(RandomFeatures(10, random_state=0).fit(X))
    expected = ELMClassifier(units, C=1.0).fit(X, Y).decision_function(X)
    found = ELMClassifier(units, C=1.0).fit(device(X), Y).decision_function(device(X))
    np.testing.assert_allclose(to_host(found), expected, atol=1e-8)


def test_a_transformer_of_scikit_learn_does_too(device):
    model = ELMRegressor(FunctionTransformer(), C=1.0)
    expected = model.fit(X, Y).predict(X)
    found = model.fit(device(X), Y).predict(device(X))
    np.testing.assert_allclose(to_host(found), expected, atol=1e-8)
