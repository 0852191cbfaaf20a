"""What leaves with a row: all of its weight, or one copy where weights are counts."""

import dask
import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_wine, make_friedman1
from sklearn.frozen import FrozenEstimator

import oracles
from ulmus import (
    ELMClassifier,
    ELMRegressor,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    RandomFeatures,
    reservoir,
)
from ulmus.batches import from_arrays
from ulmus.kernels import RBF

rng = np.random.default_rng(0)
N, CS = 40, [0.1, 3.0, 100.0]
X, NEW = rng.standard_normal((N, 3)), rng.standard_normal((9, 3))
VALUES = np.sin(X @ rng.standard_normal((3, 2))) + 0.3 * rng.standard_normal((N, 2))
CODES = np.digitize(VALUES[:, 0], [-0.4, 0.4])
CODES[:6] = [0, 1, 2] * 2
T = oracles.one_vs_rest(CODES, np.arange(3))
# Weights that are no counts: each row leaves with all of its own.
WHOLE = {
    "any": rng.uniform(0.1, 3.0, N),
    "all 1.5": np.full(N, 1.5),
    "all 10": np.full(N, 10.0),
    "½ or 1": np.where(np.arange(N) % 3, 1.0, 0.5),
    "2 or 4": np.where(np.arange(N) % 3, 2.0, 4.0),
    "nearly counts": np.r_[1.5, 1.0 + np.arange(N - 1) % 3],
}
COUNT = 1 + np.arange(N) % 3
FEATURES = FrozenEstimator(RandomFeatures(12, random_state=0).fit(X))
WIDE = FrozenEstimator(RandomFeatures(60, random_state=0).fit(X))


def mean_squares(F, targets, weight):
    return np.average(((targets - F) ** 2).sum(axis=1), weights=weight)


# ---------------------------------------------------------------- refits without the row
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("features", [FEATURES, WIDE], ids=["primal", "dual"])
@pytest.mark.parametrize("kind", WHOLE)
def test_errors_of_values_are_those_of_refits_without_the_row(kind, features, constant):
    c, H = WHOLE[kind], features.transform(X)
    model = ELMRegressor(features, C=CS, fit_intercept=constant).fit(X, VALUES, c)
    for C, squared in zip(CS, model.loo_path_["squared_error"], strict=True):
        F = oracles.left_out(H, VALUES, C, c, intercept=constant)
        assert_allclose(squared, mean_squares(F, VALUES, c), rtol=1e-6)


@pytest.mark.parametrize("kind", WHOLE)
def test_errors_of_classes_are_those_of_refits_without_the_row(kind):
    c, H = WHOLE[kind], FEATURES.transform(X)
    model = ELMClassifier(FEATURES, C=CS).fit(X, CODES, c)
    for C, squared in zip(CS, model.loo_path_["squared_error"], strict=True):
        F = oracles.left_out(H, T, C, c)
        assert_allclose(squared, mean_squares(F, T, c), rtol=1e-6)


@pytest.mark.parametrize("features", [FEATURES, WIDE], ids=["primal", "dual"])
@pytest.mark.parametrize("kind", WHOLE)
def test_errors_of_balanced_classes_are_those_of_refits_without_the_row(kind, features):
    count, H = WHOLE[kind], features.transform(X)
    model = ELMClassifier(features, C=CS, class_weight="balanced").fit(X, CODES, count)
    c = oracles.balanced(CODES, count)
    for C, squared in zip(CS, model.loo_path_["squared_error"], strict=True):

        def refit(weight, row, C=C):
            return H[row] @ oracles.ridge(H, T, C, weight)

        F = oracles.balanced_left_out(refit, CODES, count, count)
        assert_allclose(squared, mean_squares(F, T, c), rtol=1e-6)


@pytest.mark.parametrize("kind", WHOLE)
def test_errors_of_a_kernel_are_those_of_refits_without_the_row(kind):
    c, K = WHOLE[kind], oracles.kernel_values("rbf", X, X, 0.4)
    model = KernelELMRegressor(RBF(0.4), C=CS).fit(X, VALUES, c)
    for C, squared in zip(CS, model.loo_path_["squared_error"], strict=True):
        F = oracles.kernel_left_out(K, VALUES, C, c, True)
        assert_allclose(squared, mean_squares(F, VALUES, c), rtol=1e-6)


@pytest.mark.parametrize("kind", WHOLE)
def test_errors_of_a_class_scatter_are_those_of_refits_without_the_row(kind):
    c, H = WHOLE[kind], FEATURES.transform(X)
    model = GraphELMClassifier(FEATURES, lam=1.0, C=CS).fit(X, CODES, c)
    for C, squared in zip(CS, model.loo_path_["squared_error"], strict=True):
        F = oracles.graph_elm_left_out(H, CODES, T, 1.0, C, c)
        assert_allclose(squared, mean_squares(F, T, c), rtol=1e-5)


# ---------------------------------------------------------------- counts, and scale
MODELS = {
    "ELM": (ELMRegressor(random_state=0), VALUES),
    "ELM of classes": (ELMClassifier(random_state=0), CODES),
    "balanced ELM": (ELMClassifier(class_weight="balanced", random_state=0), CODES),
    "GELM": (GraphELMClassifier(n_hidden=20, lam=1.0, random_state=0), CODES),
    "kernel ELM": (KernelELMRegressor(random_state=0), VALUES),
    "kernel ELM of classes": (KernelELMClassifier(random_state=0), CODES),
}


def fitted(name, C, weight=None, rows=slice(None)):
    model, y = MODELS[name]
    return clone(model).set_params(C=C).fit(X[rows], y[rows], sample_weight=weight)


def outputs(model):
    return model.predict_proba(NEW) if hasattr(model, "classes_") else model.predict_interval(NEW)


def predicted(model):
    return model.predict_proba(NEW) if hasattr(model, "classes_") else model.predict(NEW)


@pytest.mark.parametrize("name", MODELS)
def test_counts_are_rows_that_are_there_so_often(name):
    weighted = fitted(name, CS, COUNT.astype(float))
    repeated = fitted(name, CS, rows=np.repeat(np.arange(N), COUNT))
    assert weighted.C_ == repeated.C_
    for key, errors in repeated.loo_path_.items():
        assert_allclose(weighted.loo_path_[key], errors, rtol=1e-5)
    assert_allclose(outputs(weighted), outputs(repeated), rtol=1e-4, atol=1e-5)


def test_error_rates_of_counts_are_equal_where_those_of_repeated_rows_are():
    A, b = load_wine(return_X_y=True)
    draws = np.random.default_rng(1)
    rows, count = draws.permutation(len(b))[:80], draws.integers(1, 4, 80)
    model = ELMClassifier(RandomFeatures(60, random_state=0), random_state=0)
    weighted = clone(model).fit(A[rows], b[rows], count.astype(float))
    again = np.repeat(rows, count)
    assert clone(model).fit(A[again], b[again]).C_ == weighted.C_


@pytest.mark.parametrize("factor", [0.01, 1.5, 10.0])
@pytest.mark.parametrize("name", MODELS)
def test_equal_weights_are_none_with_another_c(name, factor):
    plain, grid = fitted(name, CS), (np.array(CS) / factor).tolist()
    equal = fitted(name, grid, np.full(N, factor))
    assert_allclose(factor * equal.C_, plain.C_)
    assert_allclose(equal.loo_path_["squared_error"], plain.loo_path_["squared_error"], rtol=1e-6)
    assert_allclose(outputs(equal), outputs(plain), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_the_scale_of_weights_is_that_of_c(name):
    one = fitted(name, CS, WHOLE["any"])
    other = fitted(name, (np.array(CS) / 7.0).tolist(), 7.0 * WHOLE["any"])
    assert_allclose(7.0 * other.C_, one.C_)
    assert_allclose(outputs(other), outputs(one), rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------- every source
@pytest.mark.parametrize("kind", ["any", "all 1.5", "2 or 4"])
@pytest.mark.parametrize("name", ["ELM", "ELM of classes", "GELM"])
def test_every_source_leaves_the_same_out(name, kind, monkeypatch):
    (model, y), c = MODELS[name], WHOLE[kind]
    model = clone(model).set_params(C=CS, n_hidden=15)
    whole, cut = clone(model).fit(X, y, c), [slice(0, 13), slice(13, 30), slice(30, N)]
    stream = clone(model)
    for part in cut:
        stream.partial_fit(X[part], y[part], sample_weight=c[part])
    batches = clone(model).fit(from_arrays(X, y, c, rows=13))
    monkeypatch.setattr(reservoir, "_LEAST", 10)  # sums are made where the blocks are
    arrays = [da.from_array(each, chunks=(13, *each.shape[1:])) for each in (X, y, c)]
    with dask.config.set(scheduler="synchronous"):
        blocks = clone(model).fit(*arrays)
    for other in (stream, batches, blocks):
        assert other.C_ == whole.C_
        assert_allclose(other.loo_path_["squared_error"], whole.loo_path_["squared_error"], 1e-6)
        assert_allclose(predicted(other), predicted(whole), rtol=1e-4, atol=1e-5)


def test_rows_that_fade_stay_one_row_each():
    c = np.repeat([0.25, 0.5, 1.0], [13, 17, 10])
    model = ELMRegressor(FEATURES, C=CS)
    for part, decay in ((slice(0, 13), 1.0), (slice(13, 30), 0.5), (slice(30, N), 0.5)):
        model.partial_fit(X[part], VALUES[part], decay=decay)
    F = [oracles.left_out(FEATURES.transform(X), VALUES, C, c, intercept=True) for C in CS]
    squared = [mean_squares(each, VALUES, c) for each in F]
    assert_allclose(model.loo_path_["squared_error"], squared, rtol=1e-6)


# ---------------------------------------------------------------- coverage
@pytest.mark.parametrize("kind", ["U(0, 3)", "all 1.5", "all 10"])
@pytest.mark.parametrize("cls", [ELMRegressor, KernelELMRegressor])
def test_intervals_hold_the_coverage_whatever_the_weights(cls, kind):
    A, b = make_friedman1(1200, noise=1.0, random_state=0)
    draws = {
        "U(0, 3)": np.random.default_rng(0).uniform(0.0, 3.0, 400),
        "all 1.5": np.full(400, 1.5),
        "all 10": np.full(400, 10.0),
    }
    model = cls(random_state=0).fit(A[:400], b[:400], draws[kind])
    low, high = model.predict_interval(A[400:], 0.9).T
    assert abs(np.mean((low <= b[400:]) & (b[400:] <= high)) - 0.9) < 0.05
    assert model.score(A[400:], b[400:]) > 0.9
