"""Which columns matter: against finite differences, and as scikit-learn's selectors use it."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.datasets import make_classification, make_friedman1
from sklearn.decomposition import PCA
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

import ulmus
from oracles import finite_differences
from ulmus import (
    ELMClassifier,
    ELMRegressor,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    ManifoldELMClassifier,
    RandomFeatures,
    RBFFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
    SparseELMClassifier,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 4)) * [1.0, 20.0, 0.1, 1.0] + [0.0, 100.0, 0.0, 1.0]
Z = (X - X.mean(axis=0)) / X.std(axis=0)
THREE = np.argmax(np.column_stack([Z[:, 0], Z[:, 1] ** 2, 0.3 * Z[:, 2]]), axis=1)
TWO = (THREE == 0).astype(int)
NUMBER = np.sin(2.0 * Z[:, 0]) + Z[:, 1] * Z[:, 2]
SOME = np.where(np.arange(80) % 4 == 0, THREE, -1)
SOME_NUMBERS = np.where(np.arange(80) % 3 == 0, NUMBER, np.nan)
CASES = {
    "three classes": (ELMClassifier(n_hidden=30), THREE),
    "two classes": (ELMClassifier(n_hidden=30), TWO),
    "more units than rows": (ELMClassifier(n_hidden=200, C=1.0), THREE),
    "numbers": (ELMRegressor(n_hidden=30), NUMBER),
    "two numbers": (ELMRegressor(n_hidden=30), np.column_stack([NUMBER, Z[:, 3]])),
    "inputs as they are": (ELMRegressor(RandomFeatures(30, scaling=None, gain=0.05)), NUMBER),
    "radial units": (ELMClassifier(RBFFeatures(30)), THREE),
    "robust units": (ELMRegressor(RBFFeatures(30, node="robust")), NUMBER),
    "kernel units": (ELMRegressor(KernelFeatures(rank=20)), NUMBER),
    "a frozen map": (ELMRegressor(FrozenEstimator(RandomFeatures(20).fit(X))), NUMBER),
    "GELM": (GraphELMClassifier(n_hidden=30), THREE),
    "MELM": (ManifoldELMClassifier(n_hidden=30, C=1.0), THREE),
    "few labels": (
        SemiSupervisedELMClassifier(n_hidden=30, C=[0.1, 10.0], lam=[0.01, 1.0]),
        SOME,
    ),
    "few labels, free": (SemiSupervisedELMClassifier(n_hidden=30, coupling="free"), SOME),
    "few values": (SemiSupervisedELMRegressor(n_hidden=30), SOME_NUMBERS),
    "hinge": (SparseELMClassifier(n_hidden=30), THREE),
    "hinge, kernel": (SparseELMClassifier(kernel="rbf"), THREE),
    "kernel": (KernelELMClassifier(), THREE),
    "kernel, low rank": (KernelELMRegressor(rank=20), NUMBER),
    "Laplacian": (KernelELMClassifier("laplacian"), THREE),
    "Laplacian units": (ELMClassifier(KernelFeatures("laplacian", 10)), THREE),
    "exponential": (KernelELMRegressor("exponential"), NUMBER),
    "kernel of one's own": (KernelELMRegressor(ulmus.kernels.RBF(0.01)), NUMBER),
}


def fitted(name):
    model, y = CASES[name]
    return sklearn.clone(model).set_params(random_state=0).fit(X, y)


def outputs(model, A):
    F = model.decision_function(A) if hasattr(model, "decision_function") else model.predict(A)
    return F.reshape(len(A), -1)


def expected(model, A, weight=None):
    """The definition, in units of the columns' deviations."""
    spread = np.sqrt(np.cov(A.T, bias=True, aweights=weight).diagonal())
    G = finite_differences(lambda U: outputs(model, U * spread), A / spread)
    shares = np.average((G**2).sum(axis=1), axis=0, weights=weight)
    return shares / shares.sum()


@pytest.mark.parametrize("name", CASES)
def test_importances_are_mean_squared_gradients(name):
    model = fitted(name)
    # Differences do not hold the share of a column with hardly any weight.
    np.testing.assert_allclose(model.feature_importances_, expected(model, X), rtol=2e-5, atol=1e-7)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("name", ["three classes", "GELM", "MELM", "hinge", "kernel", "few labels"])
def test_other_units_change_nothing(name):
    model = fitted(name)
    before, y = model.feature_importances_, CASES[name][1]
    found = model.fit(X * [1e-3, 1.0, 1e6, 7.0] + [5.0, 0.0, -1e6, 0.0], y).feature_importances_
    np.testing.assert_allclose(found, before, rtol=1e-4)


@pytest.mark.parametrize("name", ["three classes", "kernel", "hinge"])
def test_a_row_of_weight_two_counts_as_two_rows(name):
    model, y = CASES[name]
    model = sklearn.clone(model).set_params(random_state=0, C=1.0)
    count = 1 + np.arange(80) % 2
    weighted = model.fit(X, y, sample_weight=count).feature_importances_
    repeated = model.fit(np.repeat(X, count, axis=0), np.repeat(y, count)).feature_importances_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6)


def test_a_constant_column_has_none():
    A = np.column_stack([X[:, 0], np.full(80, 3.0)])
    for model in (ELMRegressor(n_hidden=20), KernelELMRegressor()):
        np.testing.assert_array_equal(model.fit(A, NUMBER).feature_importances_, [1.0, 0.0])


def test_a_model_without_slope_has_none():
    model = ELMRegressor(n_hidden=20).fit(X, np.ones(80))
    np.testing.assert_allclose(model.feature_importances_, 0.0, atol=1.0)
    assert np.isfinite(model.feature_importances_).all()


@pytest.mark.parametrize("name", ["three classes", "radial units", "MELM", "kernel", "few labels"])
def test_sparse_rows_have_the_same_importances(name):
    model, y = CASES[name]
    model = sklearn.clone(model).set_params(random_state=0, C=1.0)
    if name == "few labels":
        model.set_params(lam=0.1)
    dense = model.fit(X, y).feature_importances_
    sparse = model.fit(sp.csr_array(X), y).feature_importances_
    np.testing.assert_allclose(sparse, dense, rtol=1e-5)


@pytest.mark.parametrize("name", ["three classes", "radial units", "kernel", "few labels", "MELM"])
def test_a_model_on_a_device_has_the_same_importances(name):
    model = fitted(name)
    there = array_api_strict.Device("device1")
    with sklearn.config_context(array_api_dispatch=True):
        A = array_api_strict.asarray(X, device=there)
        found = sklearn.clone(model).fit(A, CASES[name][1]).feature_importances_
    np.testing.assert_allclose(found, model.feature_importances_, rtol=1e-5)


@pytest.mark.parametrize("name", ["three classes", "kernel"])
def test_little_memory_gives_the_same_importances(name):
    model = fitted(name)
    whole = model.feature_importances_
    with sklearn.config_context(working_memory=0.01):
        np.testing.assert_allclose(model.feature_importances_, whole, rtol=1e-9)


def test_a_thousand_of_many_rows_stand_for_all():
    A = np.random.default_rng(1).standard_normal((4000, 4))
    y = np.sin(A[:, 0]) + A[:, 1] * A[:, 2]
    for model in (
        ELMRegressor(n_hidden=40, C=1.0, random_state=0),
        KernelELMRegressor(rank=40, C=1.0, random_state=0),
        SemiSupervisedELMRegressor(n_hidden=40, C=1.0, lam=1e-3, random_state=0),
    ):
        found = model.fit(A, y).feature_importances_
        np.testing.assert_allclose(found, expected(model, A), rtol=0.1, atol=0.01)
        np.testing.assert_array_equal(found, model.feature_importances_)


def test_a_stream_has_them_too():
    model = ELMRegressor(n_hidden=20, random_state=0)
    for rows in (slice(0, 30), slice(30, 80)):
        model.partial_fit(X[rows], NUMBER[rows])
    np.testing.assert_allclose(model.feature_importances_, expected(model, X), rtol=2e-5)


# ------------------------------------------------------------------ where there are none
WITHOUT = {
    "a transformer": ELMClassifier(PCA(2)),
    "a pipeline": ELMClassifier(make_pipeline(PCA(2), RandomFeatures(10))),
    "an activation of one's own": ELMClassifier(RandomFeatures(10, activation=np.arctan)),
    "a kernel of one's own": KernelELMClassifier(lambda A, B: A @ B.T),
    "units of a kernel of one's own": ELMClassifier(KernelFeatures(lambda A, B: A @ B.T, 3)),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_what_states_no_gradient_has_no_importances(name):
    model = sklearn.clone(WITHOUT[name]).fit(X, THREE)
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match="states no gradient"):
        _ = model.feature_importances_


def test_a_kernel_matrix_has_no_columns():
    model = KernelELMClassifier("precomputed").fit(X @ X.T, THREE)
    assert not hasattr(model, "feature_importances_")


def test_a_model_that_is_not_fitted_has_none():
    for model in (ELMClassifier(), KernelELMClassifier(), SparseELMClassifier()):
        assert not hasattr(model, "feature_importances_")


@pytest.mark.parametrize("name", ["three classes", "few labels", "MELM", "kernel", "hinge"])
def test_a_saved_model_has_them_if_its_rows_were_saved(name, tmp_path):
    model = fitted(name)
    ulmus.save(model, tmp_path / "all")
    found = ulmus.load(tmp_path / "all").feature_importances_
    np.testing.assert_array_equal(found, model.feature_importances_)
    ulmus.save(model, tmp_path / "less", for_update=False)
    with pytest.raises(AttributeError, match="for_update=True"):
        _ = ulmus.load(tmp_path / "less").feature_importances_


# ------------------------------------------------------------------ scikit-learn's selectors
# With seed 3 the third column tells no more than one of noise: a kernel ELM's importances of them
# are .068 and .069.
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5])
def test_elimination_finds_the_informative_columns(seed):
    A, y = make_classification(
        400, 10, n_informative=3, n_redundant=0, shuffle=False, random_state=seed
    )
    found = RFE(ELMClassifier(random_state=0), n_features_to_select=3).fit(A, y)
    assert np.flatnonzero(found.support_).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "model",
    [
        GraphELMClassifier(n_hidden=200, C=1.0, lam=1.0, random_state=0),
        ManifoldELMClassifier(n_hidden=200, C=1.0, random_state=0),
        SemiSupervisedELMClassifier(n_hidden=200, C=[0.1, 10.0], lam=[0.01, 1.0], random_state=0),
        SparseELMClassifier(n_hidden=200, random_state=0),
        KernelELMClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_classifier_can_be_asked(model):
    A = np.random.default_rng(0).standard_normal((200, 6))
    found = RFE(model, n_features_to_select=2).fit(A, A[:, 0] + A[:, 1] > 0)
    assert np.flatnonzero(found.support_).tolist() == [0, 1]


def test_selection_keeps_the_columns_above_the_mean():
    A, y = make_classification(
        400, 10, n_informative=3, n_redundant=0, shuffle=False, random_state=0
    )
    found = SelectFromModel(ELMClassifier(random_state=0)).fit(A, y)
    assert found.get_support(indices=True).tolist() == [0, 1, 2]
    assert found.transform(A).shape == (400, 3)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("model", [ELMRegressor(random_state=0), KernelELMRegressor()], ids=str)
def test_friedman_s_five_columns_are_found(model, seed):
    A, y = make_friedman1(500, 10, noise=1.0, random_state=seed)
    # One step, so that the columns kept are the five of largest importance in a fit to all ten.
    selected = RFE(sklearn.clone(model), n_features_to_select=5, step=5).fit(A, y)
    assert np.flatnonzero(selected.support_).tolist() == [0, 1, 2, 3, 4]
