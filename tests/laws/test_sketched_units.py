"""Algorithm 3 of the randomized ELM paper on HᵀH, against its steps one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.preprocessing import FunctionTransformer

import oracles
from ulmus import ELMClassifier, ELMRegressor, Randomized
from ulmus.exceptions import InvalidParameterError

RNG = np.random.default_rng(0)
ROWS = FunctionTransformer()
H = RNG.normal(size=(80, 30)) * np.linspace(1.0, 0.01, 30) ** 2
y = np.arange(80) % 3


def literal(M, R, C, rank, seed):
    """(M + I/C)⁻¹R by steps 2 to 10, for the random matrix that the library draws."""
    omega = np.random.RandomState(seed).standard_normal((len(M), rank))
    return oracles.randomized_inverse(M, R, C, omega)[0]


@pytest.mark.parametrize("C", [0.1, 100.0])
@pytest.mark.parametrize("rank", [5, 12])
def test_beta_is_that_of_algorithm_3(C, rank):
    solver = Randomized(rank, oversampling=3, of="units")
    model = ELMClassifier(ROWS, C=C, solver=solver, random_state=0).fit(H, y)
    seed = model._kept.later_seed
    R = H.T @ oracles.one_vs_rest(y, np.arange(3))
    expected = literal(H.T @ H, R, C, rank + 3, seed)
    assert_allclose(model.beta_, expected, atol=1e-9 * np.abs(expected).max())
    assert model.solver_ == "randomized"


def test_about_the_means_where_there_is_an_intercept():
    target = RNG.normal(size=80)
    solver = Randomized(6, oversampling=2, of="units")
    model = ELMRegressor(ROWS, C=10.0, solver=solver, random_state=0).fit(H, target)
    centred = H - H.mean(axis=0)
    R = centred.T @ (target - target.mean())[:, None]
    expected = literal(centred.T @ centred, R, 10.0, 8, model._kept.later_seed)
    assert_allclose(model.beta_, expected, atol=1e-9 * np.abs(expected).max())


def test_with_as_many_columns_as_units_it_is_ridge_and_chooses_the_same_C():
    grid = [0.01, 1.0, 100.0, 1e4]
    sketch = ELMClassifier(ROWS, C=grid, solver=Randomized(30, of="units"), random_state=0)
    whole = ELMClassifier(ROWS, C=grid, solver="primal", random_state=0)
    sketch.fit(H, y)
    whole.fit(H, y)
    assert sketch.C_ == whole.C_
    assert_allclose(sketch.beta_, whole.beta_, atol=1e-7 * np.abs(whole.beta_).max())
    assert_allclose(sketch.predict_proba(H), whole.predict_proba(H), atol=1e-6)


def test_an_unknown_side_is_refused():
    with pytest.raises(InvalidParameterError, match=r"solver.of='columns' is unknown"):
        ELMClassifier(ROWS, C=1.0, solver=Randomized(3, of="columns")).fit(H, y)
