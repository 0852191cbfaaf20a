"""Intervals and sets are those of n refits, and a row of weight two counts as two rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import booleans, integers, sampled_from
from numpy.testing import assert_allclose
from sklearn.frozen import FrozenEstimator

import oracles
from ulmus import (
    ELMClassifier,
    ELMRegressor,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    RandomFeatures,
)
from ulmus.kernels import RBF


def rows_of(seed, n, d=3, outputs=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin(X @ rng.standard_normal((d, outputs))) + 0.3 * rng.standard_normal((n, outputs))
    return X, y, rng.standard_normal((7, d)), rng.integers(1, 4, n)


@settings(max_examples=20)
@given(
    seed=integers(0, 10**6),
    h=sampled_from([4, 15, 60]),
    weighted=booleans(),
    constant=booleans(),
    coverage=sampled_from([0.5, 0.8, 0.9]),
)
def test_intervals_of_hidden_layers_are_those_of_refits(seed, h, weighted, constant, coverage):
    X, y, Z, count = rows_of(seed, 25)
    count = count if weighted else np.ones(25, int)
    features = FrozenEstimator(RandomFeatures(h, random_state=seed % 99).fit(X))
    model = ELMRegressor(features, C=3.0, fit_intercept=constant)
    model.fit(X, y, sample_weight=count.astype(float) if weighted else None)

    def refit(X, y, c):
        H = features.transform(X)
        beta, b = oracles.ridge(H, y, 3.0, c), 0.0
        if constant:
            beta, b = oracles.ridge_about_means(H, y, 3.0, c)
        return lambda Z: features.transform(Z) @ beta + b

    expected = oracles.jackknife_plus(refit, X, y, Z, count, coverage)
    assert_allclose(model.predict_interval(Z, coverage), expected, rtol=1e-6, atol=1e-8)


@settings(max_examples=15)
@given(seed=integers(0, 10**6), weighted=booleans(), constant=booleans())
def test_intervals_of_kernels_are_those_of_refits(seed, weighted, constant):
    X, y, Z, count = rows_of(seed, 25)
    count = count if weighted else np.ones(25, int)
    model = KernelELMRegressor(RBF(0.4), C=3.0, fit_intercept=constant)
    model.fit(X, y, sample_weight=count.astype(float) if weighted else None)

    def refit(X, y, c):
        K = oracles.kernel_values("rbf", X, X, 0.4)
        a, b = oracles.kernel_ridge(K, y, 3.0, c, constant)
        return lambda Z: oracles.kernel_values("rbf", Z, X, 0.4) @ a + b

    expected = oracles.jackknife_plus(refit, X, y, Z, count, 0.8)
    assert_allclose(model.predict_interval(Z, 0.8), expected, rtol=1e-6, atol=1e-8)


CLASSIFIERS = {
    "ELM": ELMClassifier(n_hidden=20, C=1.0, random_state=0),
    "few units": ELMClassifier(n_hidden=5, C=1.0, random_state=0),
    "balanced": ELMClassifier(n_hidden=20, C=1.0, class_weight="balanced", random_state=0),
    "GELM": GraphELMClassifier(n_hidden=10, lam=1.0, C=1.0, random_state=0),
    "kernel ELM": KernelELMClassifier("rbf", C=1.0),
    "balanced kernel": KernelELMClassifier("rbf", C=1.0, class_weight="balanced"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_sets_of_weighted_rows_are_those_of_repeated_rows(name, seed):
    X, y, Z, count = rows_of(seed, 40, outputs=1)
    y = np.digitize(y[:, 0], [-0.4, 0.4])
    model, again = CLASSIFIERS[name], np.repeat(np.arange(40), count)
    weighted = model.fit(X, y, sample_weight=count.astype(float)).predict_set(Z, 0.8)
    assert (model.fit(X[again], y[again]).predict_set(Z, 0.8) == weighted).all()
    assert weighted.any()


REGRESSORS = {
    "ELM": ELMRegressor(n_hidden=20, C=1.0, random_state=0),
    "few units": ELMRegressor(n_hidden=5, C=1.0, random_state=0),
    "kernel ELM": KernelELMRegressor("rbf", C=1.0),
    "low rank": KernelELMRegressor("linear", C=1.0, rank=3),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", REGRESSORS)
def test_intervals_of_weighted_rows_are_those_of_repeated_rows(name, seed):
    X, y, Z, count = rows_of(seed, 40)
    model, again = REGRESSORS[name], np.repeat(np.arange(40), count)
    weighted = model.fit(X, y, sample_weight=count.astype(float)).predict_interval(Z)
    repeated = model.fit(X[again], y[again]).predict_interval(Z)
    assert_allclose(weighted, repeated, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_of_rows_is_left_out_of_all(weighted):
    X, y, Z, count = rows_of(0, 1100)
    count = count if weighted else np.ones(1100, int)
    model = ELMRegressor(RandomFeatures(9), C=3.0, fit_intercept=False, random_state=0)
    model.fit(X, y, sample_weight=count.astype(float)).predict_interval(Z)
    left, H = model._jackknife.left, model.features_.transform(X)
    place = np.array([np.flatnonzero((y == t).all(axis=1))[0] for t in left.targets])
    assert len(np.unique(place)) == 1000
    expected = oracles.left_out(H, y, 3.0, count.astype(float), np.ones(1100))
    assert_allclose(left.outputs, expected[place], rtol=1e-6, atol=1e-9)
    effects = model._jackknife.model._outputs(Z)[:, 2:]
    A, _ = oracles.sums(H, y, count, np.full(9, 1 / 3.0))
    expected = model.features_.transform(Z) @ np.linalg.solve(A.astype(float), H[place].T)
    assert_allclose(effects, expected, rtol=1e-6, atol=1e-9)


def test_the_scale_of_small_weights_does_not_matter_to_the_quantile():
    X, y, Z, _ = rows_of(0, 50)
    small = ELMRegressor(n_hidden=9, C=1e3, random_state=0).fit(X, y, np.full(50, 1e-3))
    one = ELMRegressor(n_hidden=9, C=1.0, random_state=0).fit(X, y)
    assert_allclose(small.predict_interval(Z), one.predict_interval(Z), rtol=1e-6)
