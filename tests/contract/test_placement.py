"""`to_device` puts every array of a model where a fit on that device would have put it.

What a class moves is a list of names. Here each model is fitted on the device, which settles where
every array belongs, and on the host; the host's is moved, and the two are compared array by array.
"""

import array_api_strict
import numpy as np
import pytest
import sklearn
from array_api_compat import is_array_api_obj
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

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
    Randomized,
    RBFFeatures,
    RowFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
    to_device,
    to_host,
)
from ulmus.fitted import Mark, marked

N = 150
X, Y = load_digits(n_class=4, return_X_y=True)
X, Y = X[:N] / 16.0, Y[:N]
FEW = np.where(np.arange(N) < 60, Y, -1)
VALUES = np.where(np.arange(N) < 60, X[:, 20] + X[:, 21], np.nan)

NARROW, WIDE = ({"n_hidden": width, "random_state": 0} for width in (40, 200))
ONE = {"C": 1.0, "lam": 0.1}
# Every point of the default's 169 is the same work, which the strict library does slowly.
GRID = {"C": [0.1, 10.0], "lam": [0.01, 1.0]}
LABELS = {
    "ridge": ELMClassifier(**NARROW),
    "ridge, more units than rows": ELMClassifier(**WIDE),
    "ridge, one C": ELMClassifier(C=1.0, **NARROW),
    "ridge, one C, more units than rows": ELMClassifier(C=1.0, **WIDE),
    "ridge, a sketch": ELMClassifier(solver=Randomized(20), C=1.0, **NARROW),
    "ridge, balanced": ELMClassifier(class_weight="balanced", **NARROW),
    "numbers": ELMRegressor(**NARROW),
    "radial units": ELMClassifier(RBFFeatures(40), random_state=0),
    "kernel units": ELMClassifier(KernelFeatures(rank=30), random_state=0),
    "a transformer": ELMRegressor(FunctionTransformer(), C=1.0),
    "GELM": GraphELMClassifier(**NARROW),
    "GELM, more units than rows": GraphELMClassifier(**WIDE),
    "MELM": ManifoldELMClassifier(C=1.0, **NARROW),
    "kernel": KernelELMClassifier(C=1.0),
    "kernel, low rank": KernelELMClassifier(rank=30, random_state=0),
    "kernel, gamma by leave-one-out": KernelELMClassifier(gamma="loo"),
    "kernel, numbers": KernelELMRegressor(C=1.0),
    "embedding": ELMEmbedding(coupling="tight", **NARROW),
    "embedding, free": ELMEmbedding(coupling="free", **NARROW),
    "clusters": ELMSpectralClustering(4, coupling="tight", **NARROW),
    "clusters, free": ELMSpectralClustering(4, coupling="free", **NARROW),
    "random map": RandomFeatures(40, random_state=0),
    "map of rows": RowFeatures(40, random_state=0),
    "radial map": RBFFeatures(40, random_state=0),
    "kernel map": KernelFeatures(rank=30, random_state=0),
    "pipeline": make_pipeline(FunctionTransformer(), ELMClassifier(**NARROW)),
}
FEW_LABELS = {
    "surface": SemiSupervisedELMClassifier(coupling="published", **GRID, **NARROW),
    "surface, more units than rows": SemiSupervisedELMClassifier(
        coupling="published", **GRID, **WIDE
    ),
    "direct": SemiSupervisedELMClassifier(**ONE, **NARROW),
    "cg": SemiSupervisedELMClassifier(solver="cg", **ONE, **NARROW),
    "free": SemiSupervisedELMClassifier(coupling="free", **NARROW),
    "free, more units than rows": SemiSupervisedELMClassifier(coupling="free", **WIDE),
}
FEW_VALUES = {
    "values": SemiSupervisedELMRegressor(coupling="published", **NARROW),
    "values, free": SemiSupervisedELMRegressor(coupling="free", **NARROW),
}
CASES = {
    **{name: (model, Y) for name, model in LABELS.items()},
    **{f"few labels, {name}": (model, FEW) for name, model in FEW_LABELS.items()},
    **{f"few {name}": (model, VALUES) for name, model in FEW_VALUES.items()},
}
# These refuse rows of a device, and so have nothing to move.
HOST_ALONE = {"ELMKMeans", "ELMLayout", "ELMNMF", "SparseELMClassifier"}


@pytest.fixture
def device():
    """Puts arrays on a device that refuses to be mixed with the host's, as a GPU does."""
    there = array_api_strict.Device("device1")
    with sklearn.config_context(array_api_dispatch=True):
        yield lambda x: array_api_strict.asarray(x, device=there)


def on_host(model, y):
    with sklearn.config_context(array_api_dispatch=False):
        return sklearn.clone(model).fit(X, y)


def places(x, path="model"):
    """The path of every array within x, and where it is."""
    if is_array_api_obj(x):
        yield path, "host" if isinstance(x, np.ndarray | np.generic) else str(x.device)
    elif isinstance(x, dict):
        for key, part in x.items():
            yield from places(part, f"{path}[{key!r}]")
    elif isinstance(x, list | tuple):
        for number, part in enumerate(x):
            yield from places(part, f"{path}[{number}]")
    elif hasattr(x, "__dict__") and not isinstance(x, type):
        for name, part in vars(x).items():
            yield from places(part, f"{path}.{name}")


def test_every_estimator_is_among_the_cases():
    public = {n for n in ulmus.__all__ if hasattr(getattr(ulmus, n), "fit")}
    met = {type(model).__name__ for model, _ in CASES.values()} - {"Pipeline"}
    assert met == public - HOST_ALONE


@pytest.mark.parametrize("name", CASES)
def test_a_model_that_was_moved_is_where_one_fitted_there_is(device, name):
    model, y = CASES[name]
    there = sklearn.clone(model).fit(device(X), device(y))
    for attribute in marked(type(there), Mark.AGAIN):
        vars(there).pop(attribute, None)  # a copy goes without, and makes it when it is needed
    moved = to_device(on_host(model, y), device(X))
    assert dict(places(moved)) == dict(places(there))


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("few")])
@pytest.mark.parametrize("changed", ["few", "many"])
def test_a_model_that_was_moved_takes_other_labels(device, name, changed):
    model, y = CASES[name]
    unknown = np.nan if y is VALUES else -1
    last = 55 if changed == "few" else 10
    other = np.where(np.arange(N) < last, y, unknown)
    model = on_host(model, y)
    moved = to_device(model, device(X)).relabel(device(other))
    with sklearn.config_context(array_api_dispatch=False):
        expected = model.relabel(other).predict(X)
    np.testing.assert_allclose(to_host(moved.predict(device(X))), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["ridge", "ridge, one C", "numbers", "GELM", "kernel units"])
def test_a_model_that_was_moved_takes_more_rows(device, name):
    model, y = CASES[name]
    model = on_host(model, y)
    moved = to_device(model, device(X)).partial_fit(device(X[:20]), device(y[:20]))
    with sklearn.config_context(array_api_dispatch=False):
        expected = model.partial_fit(X[:20], y[:20]).predict(X)
    np.testing.assert_allclose(to_host(moved.predict(device(X))), expected, atol=1e-5)
