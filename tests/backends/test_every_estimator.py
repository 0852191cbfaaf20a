"""Every estimator that works on a device says there what it says in host memory.

In float64 decision values agree to 1e-6, in float32 to 2e-3: sums run in another order, and a
float32 kernel or hidden layer is only as good as its rounding.
"""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from ulmus import (
    ELMNMF,
    ConjugateGradients,
    ELMClassifier,
    ELMEmbedding,
    ELMKMeans,
    ELMLayout,
    ELMSpectralClustering,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    KNNGraph,
    LowRank,
    ManifoldELMClassifier,
    Randomized,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
    SparseELMClassifier,
    to_host,
)

N = 150
X, Y = load_digits(n_class=4, return_X_y=True)
X, Y = X[:N] / 16.0, Y[:N]
# Pixels have few values: of neighbours at equal distances the host may name another.
X += 1e-4 * np.random.default_rng(1).random(X.shape)
FEW = np.where(np.arange(N) < 60, Y, -1)
VALUES = np.where(np.arange(N) < 60, X[:, 20] + X[:, 21], np.nan)
WEIGHT = np.random.default_rng(0).uniform(0.5, 2.0, N)
# Every point of the default's 169 is the same work, which the strict library does slowly.
GRID = {"C": [0.1, 10.0, 1e3], "lam": [1e-3, 0.1, 1.0]}

KERNELS = {
    name: KernelELMClassifier(kernel=name, C=1.0)
    for name in (
        "rbf",
        "linear",
        "poly",
        "cosine",
        "sigmoid",
        "laplacian",
        "exponential",
        "infinite_rbf",
        "arcsine",
    )
}
LOW_RANK = {
    method: KernelELMClassifier(method=method, rank=30, random_state=0)
    for method in ("rpcholesky", "nystrom", "randomized", "eig")
}
CLASSIFIERS = {
    **KERNELS,
    **LOW_RANK,
    "C by leave-one-out": KernelELMClassifier(),
    "gamma by leave-one-out": KernelELMClassifier(gamma="loo"),
    "balanced": KernelELMClassifier(class_weight="balanced", C=1.0),
    "C by leave-one-out, balanced": KernelELMClassifier(class_weight="balanced"),
    "rank by tol": KernelELMClassifier(method=LowRank(tol=1e-2), random_state=0),
    "kernel units": ELMClassifier(KernelFeatures(rank=30), random_state=0),
    "sketch": ELMClassifier(n_hidden=60, solver=Randomized(20), C=1.0, random_state=0),
}
for width in (40, 200):  # fewer units than rows, and more
    few = {"n_hidden": width, "random_state": 0}
    two, both = few | {"C": [0.1, 10.0]}, few | {"C": [0.1, 10.0], "lam": [0.1, 1.0]}
    CLASSIFIERS |= {
        f"balanced, {width}": ELMClassifier(class_weight="balanced", **two),
        f"balanced, one C, {width}": ELMClassifier(class_weight="balanced", C=1.0, **few),
        f"GELM, {width}": GraphELMClassifier(**both),
        f"GELM, one C, {width}": GraphELMClassifier(C=1.0, lam=1.0, **few),
        f"GELM, balanced, {width}": GraphELMClassifier(class_weight="balanced", **both),
        f"MELM, {width}": ManifoldELMClassifier(**two),
        f"MELM, bounded, {width}": ManifoldELMClassifier(form="bounded", **two),
        f"MELM, one C, {width}": ManifoldELMClassifier(C=1.0, **few),
    }
SEMI_SUPERVISED = {}
for width in (40, 200):
    few = {"n_hidden": width, "random_state": 0}
    one = {"C": 1.0, "lam": 0.1, **few}
    SEMI_SUPERVISED |= {
        f"surface, {width}": SemiSupervisedELMClassifier(**GRID, **few),
        f"one point, {width}": SemiSupervisedELMClassifier(**one),
        f"balanced, {width}": SemiSupervisedELMClassifier(class_weight="balanced", **one),
        f"cg, {width}": SemiSupervisedELMClassifier(solver=ConjugateGradients(1e-9), **one),
        f"free, {width}": SemiSupervisedELMClassifier(coupling="free", **few),
        f"pool, {width}": SemiSupervisedELMClassifier(C=1.0, **few),
        f"power, {width}": SemiSupervisedELMClassifier(graph=KNNGraph(power=2), **one),
    }


def pair(model, library, y, dtype=np.float64, **more):
    """The model fitted in host memory and in the library, and the rows of both."""
    A = X.astype(dtype)
    with sklearn.config_context(array_api_dispatch=False):
        here = sklearn.clone(model).fit(A, y, **more)
    there = sklearn.clone(model).fit(library(A), library(y), **more)
    return here, there, A, library(A)


def assert_same(found, expected, like, atol=1e-6):
    """``found`` lives where ``like`` does, and holds the same numbers."""
    assert type(found) is type(like)
    assert found.device == like.device
    np.testing.assert_allclose(to_host(found), expected, rtol=0, atol=atol)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(library, name):
    here, there, A, B = pair(CLASSIFIERS[name], library, Y)
    assert there.C_ == here.C_
    assert_same(there.decision_function(B), here.decision_function(A), B)
    assert_same(there.predict(B), here.predict(A), B)
    assert_same(there.predict_proba(B), here.predict_proba(A), B)


@pytest.mark.parametrize("name", ["rbf", "rpcholesky", "GELM, 40", "GELM, 200"])
def test_weighted_rows(library, name):
    weight = np.where(np.arange(N) % 10, WEIGHT, 0.0)
    model = CLASSIFIERS[name]
    with sklearn.config_context(array_api_dispatch=False):
        here = sklearn.clone(model).fit(X, Y, sample_weight=weight)
    B = library(X)
    there = sklearn.clone(model).fit(B, library(Y), sample_weight=library(weight))
    assert_same(there.decision_function(B), here.decision_function(X), B)


@pytest.mark.parametrize("name", ["rbf", "rpcholesky", "GELM, one C, 40", "MELM, one C, 40"])
def test_single_precision(library, name):
    here, there, A, B = pair(CLASSIFIERS[name], library, Y, np.float32)
    assert there.predict_proba(B).dtype == B.dtype
    assert_same(there.decision_function(B), here.decision_function(A), B, atol=2e-3)


@pytest.mark.parametrize("form", ["positive", "bounded"])
def test_a_scatter_with_negative_eigenvalues(library, form):
    model = ManifoldELMClassifier(n_hidden=200, C=2.0**-8, lam=0.0, form=form, random_state=0)
    here, there, A, B = pair(model, library, Y)
    assert there.n_negative_ == here.n_negative_ > 0
    assert_same(there.decision_function(B), here.decision_function(A), B)


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
def test_semi_supervised(library, name):
    here, there, A, B = pair(SEMI_SUPERVISED[name], library, FEW)
    assert (there.C_, there.lam_, there.solver_) == (here.C_, here.lam_, here.solver_)
    assert_same(there.decision_function(B), here.decision_function(A), B)
    assert_same(there.transduction_, here.transduction_, B)
    again, anew = (model.relabel(np.where(FEW == 3, -1, FEW)) for model in (here, there))
    assert_same(anew.decision_function(B), again.decision_function(A), B)


@pytest.mark.parametrize("width", [40, 200])
def test_semi_supervised_on_validation_rows(library, width):
    model = SemiSupervisedELMClassifier(n_hidden=width, **GRID, random_state=0)
    held = slice(60, 120)
    here = sklearn.clone(model).fit(X, FEW, validation=(X[held], Y[held]))
    pairs = library(X[held]), library(Y[held])
    there = sklearn.clone(model).fit(library(X), library(FEW), validation=pairs)
    assert there.selection_ == "validation"
    np.testing.assert_allclose(
        there.surface_["squared_error"], here.surface_["squared_error"], rtol=1e-5
    )
    assert_same(there.decision_function(library(X)), here.decision_function(X), library(X))


@pytest.mark.parametrize("width", [40, 200])
def test_semi_supervised_values(library, width):
    model = SemiSupervisedELMRegressor(n_hidden=width, random_state=0)
    here, there, A, B = pair(model, library, VALUES)
    assert_same(there.predict(B), here.predict(A), B)
    assert_same(there.transduction_, here.transduction_, B)


@pytest.mark.parametrize("more", [{}, {"C": 1.0}, {"rank": 30}, {"fit_intercept": False}])
def test_kernel_values(library, more):
    here, there, A, B = pair(KernelELMRegressor(random_state=0, **more), library, X[:, 20])
    assert_same(there.predict(B), here.predict(A), B)


def test_a_given_kernel(library):
    K = X @ X.T + np.eye(N)
    for more in ({"C": 1.0}, {"rank": 30}):
        model = KernelELMClassifier("precomputed", random_state=0, **more)
        ours = sklearn.clone(model).fit(K, Y).decision_function(K)
        theirs = model.fit(library(K), library(Y)).decision_function(library(K))
        assert_same(theirs, ours, library(K))


@pytest.mark.parametrize("method", LOW_RANK)
def test_kernel_units(library, method):
    units = KernelFeatures(rank=20, method=method, random_state=0)
    ours = units.fit_transform(X)
    theirs = sklearn.clone(units).fit(library(X)).transform(library(X))
    assert_same(theirs, ours, library(X), atol=1e-8)


@pytest.mark.parametrize("width", [40, 200])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("coupling", ["tight", "free"])
def test_embedding(library, width, normalize, coupling):
    model = ELMEmbedding(n_hidden=width, coupling=coupling, row_normalize=normalize, random_state=0)
    here, there, A, B = pair(model, library, Y)
    if coupling == "free":
        assert_same(there.embedding_, here.embedding_, B)
    assert_same(there.transform(B), here.transform(A), B)
    assert_same(there.eigenvalues_, here.eigenvalues_, B, atol=1e-6 * here.eigenvalues_[-1])


@pytest.mark.parametrize("coupling", ["tight", "free"])
def test_clusters(library, coupling):
    model = ELMSpectralClustering(4, n_hidden=40, coupling=coupling, random_state=0)
    here, there, A, B = pair(model, library, Y)
    assert_same(there.labels_, here.labels_, B)
    assert_same(there.predict(B), here.predict(A), B)


@pytest.mark.parametrize(
    "model", [GraphELMClassifier(n_hidden=40, random_state=0), ELMClassifier(n_hidden=40, C=1.0)]
)
def test_a_stream_with_a_late_class(library, model):
    here, there = (sklearn.clone(model).set_params(random_state=0) for _ in range(2))
    order = np.argsort(Y, kind="stable")
    for rows in (order[:100], order[100:]):
        here.partial_fit(X[rows], Y[rows])
        there.partial_fit(library(X[rows]), library(Y[rows]))
    assert_same(there.decision_function(library(X)), here.decision_function(X), library(X))


def test_whole_numbers(library):
    whole = np.round(1e6 * X).astype(np.int64)
    for model, y in (
        (KernelELMClassifier(C=1.0), Y),
        (KernelELMClassifier(C=1.0, scaling=None), Y),
        (SemiSupervisedELMClassifier(n_hidden=40, C=1.0, lam=0.1, random_state=0), FEW),
        (ManifoldELMClassifier(n_hidden=40, C=1.0, random_state=0), Y),
    ):
        rows = whole.astype(float)
        ours = sklearn.clone(model).fit(rows, y).decision_function(rows)
        there = sklearn.clone(model).fit(library(whole), library(y))
        theirs = there.decision_function(library(whole))
        np.testing.assert_allclose(to_host(theirs), ours, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [SparseELMClassifier(), ELMKMeans(3), ELMNMF(3), ELMLayout()],
    ids=lambda m: type(m).__name__,
)
def test_what_works_on_the_host_alone_says_so(library, model):
    with pytest.raises(ValueError, match=r"works in host memory alone, and X is .* on "):
        model.fit(library(X), library(Y))


def test_a_pipeline(library):
    model = make_pipeline(MinMaxScaler(), KernelELMClassifier(C=1.0))
    here, there, A, B = pair(model, library, Y)
    assert_same(there.predict_proba(B), here.predict_proba(A), B)
