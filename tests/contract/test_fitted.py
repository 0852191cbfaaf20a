"""Every attribute that a fit leaves is declared on its class, once, for all who read it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from persistence.cases import CASES
from ulmus import (
    ELMClassifier,
    ELMEmbedding,
    ELMKMeans,
    ELMRegressor,
    GraphELMClassifier,
    KernelELMClassifier,
    SemiSupervisedELMClassifier,
)
from ulmus.fitted import ForUpdate, Mark, OfRows, OnDevice, declared, forget_fit, marked

X, Y = load_iris(return_X_y=True)
# What scikit-learn itself writes.
FOREIGN = {"n_features_in_", "feature_names_in_", "_sklearn_output_config", "_skl_callbacks"}


def undeclared(model):
    known = declared(type(model)).keys() | set(model.get_params(deep=False)) | FOREIGN
    return sorted(vars(model).keys() - known)


def ours(x):
    """The estimators of this library in x, itself among them."""
    if hasattr(x, "get_params") and not isinstance(x, type):
        if type(x).__module__.startswith("ulmus."):
            yield x
        for part in vars(x).values():
            yield from ours(part)
    elif isinstance(x, list | tuple):
        for part in x:
            yield from ours(part)


@pytest.mark.parametrize("name", [name for name, (model, *_) in CASES.items() if name != "graph"])
def test_what_a_fit_leaves_is_declared(name):
    model, rows, y = CASES[name]
    model = clone(model).fit(rows, y)
    assert {type(each).__name__: undeclared(each) for each in ours(model) if undeclared(each)} == {}


@pytest.mark.parametrize("model", [ELMClassifier, ELMRegressor, GraphELMClassifier])
def test_what_a_stream_leaves_is_declared(model):
    model = model(n_hidden=9, random_state=0)
    for rows in (slice(0, None, 2), slice(1, None, 2)):
        model.partial_fit(X[rows], Y[rows])
    assert undeclared(model) == []
    declaring = ELMClassifier(n_hidden=9).partial_fit(X, Y, classes=[0, 1, 2, 3])
    assert undeclared(declaring) == []
    assert undeclared(model.fit(lambda: iter([(X, Y), (X, Y)]))) == []


@pytest.mark.parametrize("name", ["ELM", "kernel ELM", "SS-ELM", "k-means"])
def test_what_a_fit_of_blocks_leaves_is_declared(name):
    da = pytest.importorskip("dask.array")
    few = np.where(np.arange(len(Y)) % 5 == 0, Y, -1)
    models = {
        "ELM": (ELMClassifier(n_hidden=9), Y),
        "kernel ELM": (KernelELMClassifier(rank=9), Y),
        "SS-ELM": (SemiSupervisedELMClassifier(n_hidden=9), few),
        "k-means": (ELMKMeans(3, n_hidden=9), Y),
    }
    model, y = models[name]
    model.fit(da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50))
    assert undeclared(model) == []


def test_a_fit_is_forgotten_whole_and_parameters_stay():
    model = ELMEmbedding(n_hidden=9, coupling="free").set_output(transform="default")
    before = dict(vars(model))
    model.fit(X)
    forget_fit(model)
    assert vars(model) == before


def test_marks_are_read_from_bases_and_may_be_several():
    class Base:
        a_: OnDevice[int]
        b_: float

    class Child(Base):
        _c: ForUpdate[OnDevice[int]]
        d_: OfRows[int]

    every = {
        "a_": {Mark.DEVICE}, "b_": set(), "_c": {Mark.DEVICE, Mark.ROWS, Mark.UPDATE},
        "d_": {Mark.ROWS},
    }  # fmt: skip
    assert declared(Child) == every
    assert marked(Child, Mark.ROWS) == ["_c", "d_"]
