"""Every public predictor and transformer says the same in onnxruntime."""

import numpy as np
import pytest
import scipy.special
from sklearn.datasets import load_iris

import ulmus
from exporting.runtime import assert_agrees
from ulmus import (
    ELMNMF,
    ELMClassifier,
    ELMEmbedding,
    ELMKMeans,
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
    SparseELMClassifier,
)
from ulmus.kernels import InfiniteRBF

KERNELS = (
    "rbf",
    "laplacian",
    "exponential",
    "poly",
    "cosine",
    "sigmoid",
    "linear",
    "infinite_rbf",
    "arcsine",
)
FUNCTIONS = (np.arctan, np.cos, np.abs, np.sign, scipy.special.erf, scipy.special.expit)

# Single precision holds these rows, so that what goes into the graph is what the models see.
X, CLASSES = load_iris(return_X_y=True)
X = X[::2].astype(np.float32).astype(float)
CLASSES = CLASSES[::2]
VALUES = X[:, 0] * X[:, 2]
FEW = np.where(np.arange(len(X)) % 4 == 0, CLASSES, -1)

NARROW = {"n_hidden": 30, "random_state": 0}
MAPS = [
    *(
        RandomFeatures(30, activation=g, gain=4.0, random_state=0)
        for g in ("sigmoid", "tanh", "relu", "sin", "erf", "gaussian", *FUNCTIONS)
    ),
    RandomFeatures(30, scaling=None, weights="orthogonal", bias=False, random_state=0),
    *(
        RBFFeatures(30, node=node, random_state=0)
        for node in ("gaussian", "random_gaussian", "exponential", "robust")
    ),
    RowFeatures(31, random_state=0),
    RowFeatures(31, node="gaussian", random_state=0),
    RowFeatures(30, scaling=None, column_weights=[1.0, 0.5, 0.0, 2.0], random_state=0),
    RBFFeatures(30, width="local", centers="uniform", random_state=0),
    RBFFeatures(30, scaling=None, width=0.7, random_state=0),
    *(
        KernelFeatures(kernel, tol=1e-3, random_state=0)
        for kernel in KERNELS
        if kernel != "sigmoid"
    ),
    KernelFeatures("sigmoid", rank=8, method="eig"),
    KernelFeatures(InfiniteRBF(0.3, 2.0, normalized=False), rank=10, random_state=0),
    KernelFeatures(method="randomized", rank=10, scaling=None, random_state=0),
]
LABELLED = [
    ELMClassifier(**NARROW),
    ELMClassifier(ELMEmbedding(n_components=3, **NARROW), C=100.0),
    ELMClassifier(ELMKMeans(4, **NARROW), C=100.0),
    *(ELMClassifier(each) for each in (MAPS[1], MAPS[11], MAPS[17])),
    *(KernelELMClassifier(kernel) for kernel in KERNELS),
    KernelELMClassifier(rank=10, random_state=0),
    SparseELMClassifier(**NARROW),
    *(SparseELMClassifier(kernel=kernel) for kernel in KERNELS if kernel != "sigmoid"),
    GraphELMClassifier(**NARROW),
    ManifoldELMClassifier(**NARROW),
]
VALUED = [
    ELMRegressor(**NARROW),
    ELMRegressor(fit_intercept=False, C=1e4, **NARROW),
    KernelELMRegressor(),
    KernelELMRegressor("arcsine", C=1e4, fit_intercept=False),
    SemiSupervisedELMRegressor(**NARROW),
]
UNLABELLED = [
    ELMEmbedding(**NARROW),
    ELMEmbedding(n_components=3, row_normalize=True, **NARROW),
    ELMEmbedding(coupling="free", **NARROW),
    ELMSpectralClustering(3, **NARROW),
    ELMSpectralClustering(2, coupling="free", **NARROW),
    ELMSpectralClustering(3, coupling="free", **NARROW),
    ELMSpectralClustering(4, row_normalize=False, **NARROW),
    ELMKMeans(3, **NARROW),
    ELMNMF(3, **NARROW),
    ELMNMF(3, solver="mu", max_iter=37, **NARROW),
    ELMNMF(2, features=RandomFeatures(20, random_state=0), init="random", random_state=0),
]
SEMI_SUPERVISED = [SemiSupervisedELMClassifier(**NARROW)]


def fitted(model, y=None):
    return model.fit(X) if y is None else model.fit(X, y)


def titles(models):
    return [f"{i}-{type(model).__name__}" for i, model in enumerate(models)]


def test_every_public_estimator_is_here():
    public = {
        cls
        for cls in (getattr(ulmus, name) for name in ulmus.__all__)
        if isinstance(cls, type) and (hasattr(cls, "predict") or hasattr(cls, "transform"))
    }
    here = {type(m) for m in MAPS + LABELLED + VALUED + UNLABELLED + SEMI_SUPERVISED}
    # A graph of neighbours says nothing of new rows, and a layout is for pictures.
    assert public - {ulmus.KNNGraph, ulmus.ELMLayout} == here


@pytest.mark.parametrize("model", MAPS, ids=titles(MAPS))
def test_feature_maps(model):
    assert assert_agrees(fitted(model), X, atol=1e-6) == ["transformed"]


@pytest.mark.parametrize("model", LABELLED, ids=titles(LABELLED))
def test_classifiers(model):
    names = assert_agrees(fitted(model, CLASSES), X, atol=1e-6)
    assert names[0] == "label"


@pytest.mark.parametrize("model", LABELLED[::5], ids=titles(LABELLED[::5]))
def test_classifiers_of_two_classes(model):
    assert_agrees(fitted(model, CLASSES == 1), X, atol=1e-6)


@pytest.mark.parametrize("model", SEMI_SUPERVISED, ids=titles(SEMI_SUPERVISED))
def test_semi_supervised_classifiers(model):
    assert_agrees(fitted(model, FEW), X, atol=1e-6)


@pytest.mark.parametrize("model", VALUED, ids=titles(VALUED))
@pytest.mark.parametrize("y", [VALUES, np.column_stack([VALUES, X])], ids=["one", "many"])
def test_regressors(model, y):
    assert assert_agrees(fitted(model, y), X, atol=1e-6) == ["variable"]


@pytest.mark.parametrize("model", UNLABELLED, ids=titles(UNLABELLED))
def test_embeddings_and_clusters(model):
    assert_agrees(fitted(model), X, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [LABELLED[0], LABELLED[6], VALUED[0], UNLABELLED[0], UNLABELLED[4]],
    ids=lambda model: type(model).__name__,
)
def test_single_precision_of_the_library_agrees_too(model):
    y = VALUES if hasattr(model, "fit_intercept") else CLASSES
    assert_agrees(model.fit(X, y), X.astype(np.float32), atol=1e-4)


def test_rows_and_results_may_be_double():
    model = KernelELMRegressor(C=1e8).fit(X, VALUES)
    assert_agrees(model, X + 1e-12, dtype=np.float64, atol=1e-9)
