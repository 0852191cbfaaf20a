"""Models that move, and arrays that are not where they should be."""

import array_api_strict
import numpy as np
import pytest
import sklearn
from array_api_compat import is_array_api_obj
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from ulmus import (
    ELMClassifier,
    ELMSpectralClustering,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelFeatures,
    ManifoldELMClassifier,
    SemiSupervisedELMClassifier,
    on_device,
    to_device,
    to_host,
)
from ulmus.exceptions import InvalidInputError

N = 150
X, Y = load_digits(n_class=4, return_X_y=True)
X, Y = X[:N] / 16.0, Y[:N]
FEW = np.where(np.arange(N) < 60, Y, -1)

MODELS = {
    "ridge": ELMClassifier(n_hidden=40, random_state=0),
    "more units than rows": ELMClassifier(n_hidden=200, random_state=0),
    "kernel": KernelELMClassifier(C=1.0),
    "low rank": KernelELMClassifier(rank=30, random_state=0),
    "kernel units": ELMClassifier(KernelFeatures(rank=30), random_state=0),
    "GELM": GraphELMClassifier(n_hidden=40, random_state=0),
    "MELM": ManifoldELMClassifier(n_hidden=40, C=1.0, random_state=0),
    "few labels": SemiSupervisedELMClassifier(
        n_hidden=40, C=[0.1, 10.0], lam=[0.01, 1.0], random_state=0
    ),
    "clusters": ELMSpectralClustering(4, n_hidden=40, random_state=0),
    "pipeline": make_pipeline(FunctionTransformer(), ELMClassifier(n_hidden=40, random_state=0)),
}


def arrays(x, seen=None):
    """Every array reached from x."""
    seen = set() if seen is None else seen
    if id(x) in seen:
        return
    seen.add(id(x))
    if is_array_api_obj(x):
        yield x
    elif isinstance(x, dict):
        yield from (a for part in x.values() for a in arrays(part, seen))
    elif isinstance(x, list | tuple):
        yield from (a for part in x for a in arrays(part, seen))
    elif hasattr(x, "__dict__") and not isinstance(x, type):
        yield from arrays(vars(x), seen)


def target(name):
    return FEW if name == "few labels" else Y


@pytest.mark.parametrize("name", MODELS)
def test_home_from_a_device(library, name):
    model = sklearn.clone(MODELS[name]).fit(library(X), library(target(name)))
    expected = to_host(model.predict(library(X)))
    home = to_host(model)
    assert all(isinstance(x, np.ndarray | np.generic) for x in arrays(home))
    with sklearn.config_context(array_api_dispatch=False):
        np.testing.assert_array_equal(home.predict(X), expected)
    # The model itself stays where it was.
    np.testing.assert_array_equal(to_host(model.predict(library(X))), expected)
    assert any(type(x) is type(library(X)) for x in arrays(model))


@pytest.mark.parametrize("name", MODELS)
def test_to_a_device_and_back(library, name):
    model = sklearn.clone(MODELS[name]).fit(X, target(name))
    there = to_device(model, library(X))
    moved = [x for x in arrays(there) if type(x) is type(library(X))]
    assert moved
    assert all(x.device == library(X).device for x in moved)
    found = there.predict(library(X))
    assert type(found) is type(library(X))
    np.testing.assert_array_equal(to_host(found), model.predict(X))
    np.testing.assert_array_equal(to_host(there).predict(X), model.predict(X))
    assert all(isinstance(x, np.ndarray | np.generic) for x in arrays(model))


def test_rows_are_added_where_the_model_is(library):
    model = ELMClassifier(n_hidden=40, C=1.0, random_state=0).fit(X[:100], Y[:100])
    there = to_device(model, library(X))
    there.partial_fit(library(X[100:]), library(Y[100:]))
    model.partial_fit(X[100:], Y[100:])
    np.testing.assert_allclose(to_host(there.beta_), model.beta_, atol=1e-8)


def test_an_array_moves_too(library):
    np.testing.assert_array_equal(to_host(library(X)), X)
    assert type(to_device(X, library(Y))) is type(library(X))


def test_labels_that_are_words_stay_on_the_host(library):
    words = np.array([f"digit {y}" for y in Y])
    model = to_device(ELMClassifier(n_hidden=40, random_state=0).fit(X, words), library(X))
    assert model.predict(library(X[:5])).tolist() == words[:5].tolist()


# ------------------------------------------------------------------ what is not in one place
@pytest.fixture
def two_devices():
    """Arrays on two devices, without a GPU."""
    with sklearn.config_context(array_api_dispatch=True):
        yield [
            lambda x, name=name: array_api_strict.asarray(x, device=array_api_strict.Device(name))
            for name in ("device1", "device2")
        ]


@pytest.mark.parametrize("name", ["ridge", "kernel", "GELM", "MELM", "few labels"])
def test_rows_on_another_device_than_the_model_are_refused(two_devices, name):
    one, two = two_devices
    model = sklearn.clone(MODELS[name]).fit(one(X), two(target(name)))
    with pytest.raises(ValueError, match=r"not in one place.*device2.*device1"):
        model.predict(two(X))


def test_weights_may_be_on_another_device(two_devices):
    one, two = two_devices
    weight = np.arange(N) % 4 + 1.0
    for model in (ELMClassifier(n_hidden=40, random_state=0), KernelELMClassifier(C=1.0)):
        expected = sklearn.clone(model).fit(one(X), Y, sample_weight=weight)
        found = model.fit(one(X), one(Y), sample_weight=two(weight))
        A, B = (to_host(each.decision_function(one(X))) for each in (expected, found))
        np.testing.assert_array_equal(A, B)


def test_a_map_and_validation_rows_on_another_device_are_refused(two_devices):
    one, two = two_devices
    units = KernelFeatures(rank=20, random_state=0).fit(one(X))
    with pytest.raises(ValueError, match=r"not in one place.*device2.*device1"):
        units.transform(two(X))
    model = sklearn.clone(MODELS["few labels"])
    with pytest.raises(ValueError, match=r"not in one place.*device1.*device2"):
        model.fit(one(X), one(FEW), validation=(two(X), two(Y)))


def test_a_model_follows_once_it_is_moved(two_devices):
    one, two = two_devices
    model = KernelELMClassifier(C=1.0).fit(one(X), one(Y))
    moved = to_device(model, two(X))
    np.testing.assert_array_equal(to_host(moved.predict(two(X))), to_host(model.predict(one(X))))


# ------------------------------------------------------------------ PyTorch by name
@pytest.mark.torch
def test_a_device_by_name():
    model = to_device(ELMClassifier(n_hidden=40, random_state=0).fit(X, Y), "cpu")
    assert type(model.beta_).__name__ == "Tensor"
    with pytest.raises(InvalidInputError, match="not a device of PyTorch"):
        to_device(model, "gpu")


@pytest.mark.torch
def test_no_cuda_is_said(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    model = ELMClassifier(n_hidden=40, random_state=0).fit(X, Y)
    for attempt in (lambda: to_device(model, "cuda"), lambda: on_device(X, "cuda")):
        with pytest.raises(InvalidInputError, match="sees no CUDA device"):
            attempt()


@pytest.mark.torch
@pytest.mark.parametrize("name", [name for name in MODELS if name != "pipeline"])
def test_rows_of_the_host_on_a_device(name):
    y, rows = target(name), on_device(X, "cpu")
    expected = sklearn.clone(MODELS[name]).fit(X, y).predict(X)
    with sklearn.config_context(array_api_dispatch=True):
        model = sklearn.clone(MODELS[name]).fit(rows, y)
        np.testing.assert_array_equal(to_host(model.predict(rows)), expected)
