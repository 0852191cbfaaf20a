"""What ELMRegressor promises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score

import oracles
from ulmus import ELMRegressor, RandomFeatures

X, y = make_friedman1(300, random_state=0)
Y = np.column_stack([y, X[:, 0] - 5 * X[:, 1]])


def test_the_weights_are_the_formula():
    model = ELMRegressor(n_hidden=40, C=2.0, fit_intercept=False, random_state=0).fit(X, Y)
    H = model.features_.transform(X)
    assert_allclose(model.beta_, oracles.ridge(H, Y, 2.0), rtol=1e-6)
    assert_allclose(model.predict(X), H @ oracles.ridge(H, Y, 2.0), rtol=1e-6)
    model = ELMRegressor(n_hidden=40, C=2.0, random_state=0).fit(X, Y)
    H = model.features_.transform(X)
    coef, b = oracles.ridge_about_means(H, Y, 2.0)
    assert_allclose(model.beta_, coef, rtol=1e-6, atol=1e-8)
    assert_allclose(model.intercept_, b, rtol=1e-6)
    assert_allclose(model.predict(X), H @ coef + b, rtol=1e-6)


@pytest.mark.parametrize("h", [40, 400])
def test_several_outputs_are_several_models_but_for_C(h):
    # Of a layer that does not depend on the targets.
    both = ELMRegressor(RandomFeatures(h), C=10.0, random_state=0).fit(X, Y)
    for column in range(2):
        one = ELMRegressor(RandomFeatures(h), C=10.0, random_state=0).fit(X, Y[:, column])
        assert one.predict(X).shape == (300,)
        assert_allclose(one.predict(X), both.predict(X)[:, column], rtol=1e-6)


def test_leave_one_out_is_ridge_cv():
    grid = np.logspace(-2, 4, 13)
    model = ELMRegressor(n_hidden=60, C=grid, random_state=0).fit(X, y)
    H = model.features_.transform(X)
    peer = RidgeCV(1 / grid, store_cv_results=True).fit(H, y)
    assert pytest.approx(1 / peer.alpha_) == model.C_
    assert_allclose(model.loo_path_["squared_error"], peer.cv_results_.mean(axis=0), rtol=1e-6)
    assert model.loo_score_ == pytest.approx(
        1 - model.loo_path_["squared_error"].min() / y.var(), rel=1e-6
    )


def test_it_learns():
    model = ELMRegressor(random_state=0).fit(X[:200], y[:200])
    assert r2_score(y[200:], model.predict(X[200:])) > 0.85
    rows, values = load_diabetes(return_X_y=True)
    assert (
        ELMRegressor(random_state=0).fit(rows[:300], values[:300]).score(rows[300:], values[300:])
        > 0.48
    )


@pytest.mark.parametrize("h", [20, 1000])
@pytest.mark.parametrize("offset", [-15.0, 1e3, 1e6])
def test_an_offset_of_the_target_changes_nothing(h, offset):
    a = ELMRegressor(n_hidden=h, random_state=0).fit(X, y)
    b = ELMRegressor(n_hidden=h, random_state=0).fit(X, y + offset)
    assert a.C_ == b.C_
    assert_allclose(b.predict(X) - offset, a.predict(X), atol=1e-5)


def test_partial_fit_is_one_fit_on_all_batches():
    settled = FrozenEstimator(RandomFeatures(25, random_state=0).fit(X))
    model = ELMRegressor(settled, C=1.0)
    for rows in np.split(np.arange(300), [10, 150]):
        model.partial_fit(X[rows], Y[rows])
    assert_allclose(model.beta_, ELMRegressor(settled, C=1.0).fit(X, Y).beta_, rtol=1e-6)
    with pytest.raises(ValueError, match="y has 1 columns"):
        model.partial_fit(X, y)


def test_a_curved_surface_by_default():
    rows, values = make_friedman1(2000, noise=1.0, random_state=0)  # at best R² is .96
    model = ELMRegressor(random_state=0).fit(rows[::2], values[::2])
    assert model.score(rows[1::2], values[1::2]) > 0.92
