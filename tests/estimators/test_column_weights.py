"""Column weights follow from gradients, and are taken while the left-out error falls."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ulmus import RowFeatures
from ulmus.estimators.layer_choice import weighed_layers
from ulmus.hidden import Hidden
from ulmus.methods.ridge import DEFAULT_GRID
from ulmus.problem import Problem
from ulmus.slopes import Slopes, correction, gradient_rows, weighings, weights_of
from ulmus.targets import ValueTargets

RNG = np.random.default_rng(0)


def slopes_of(points, coef):
    n, h = 5, len(points)
    rows, p = np.zeros((n, points.shape[1])), np.ones((n, h))
    return Slopes(rows, points, p, None, coef, np.ones(points.shape[1]))


def test_weights_are_roots_of_mean_squared_gradients_of_mean_square_one():
    slopes = slopes_of(np.array([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]]), np.ones((2, 1)))
    weights = weights_of(slopes, np.ones(5))
    assert_allclose(weights[0] / weights[1], 0.75)
    assert_allclose(weights[2] / weights[1], 1e-3)
    assert_allclose(np.mean(weights**2), 1.0)
    assert weights_of(slopes_of(np.zeros((2, 3)), np.ones((2, 1))), np.ones(5)) is None


def test_gradients_of_many_units_are_averaged_over_fewer_rows():
    assert len(gradient_rows(2000, 500, 20, 0)) == 600
    assert len(gradient_rows(2000, 1000, 10_000, 0)) == 100
    assert len(gradient_rows(50, 10**9, 10**9, 0)) == 1
    assert gradient_rows(50, 10, 10, 0).tolist() == list(range(50))


@dataclass(frozen=True)
class Found:
    squared: float
    last: bool = False

    def next_weights(self, count, seed):
        return None if self.last else np.ones(1)


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([11.0, 1.0], 1),
        ([9.0, 8.9, 1.0], 2),
        ([9.0, 8.0, 7.0, 6.99, 1.0], 4),
        ([8.0, 6.0, 4.0, 3.0, 2.0, 1.0, 0.1], 6),
    ],
    ids=["it rises", "it hardly falls", "it no longer falls", "as often as may be"],
)
def test_columns_are_weighed_while_the_error_falls(errors, expected):
    found = weighings(Found(10.0), lambda weights, number: Found(errors[number - 1]), None, 0)
    assert len(list(found)) == expected


def test_outputs_that_do_not_vary_have_no_weights():
    assert not list(weighings(Found(10.0, last=True), lambda *_: Found(1.0), None, 0))


def trial(X, y, count=None, most=np.inf):
    features = RowFeatures(40, random_state=0).learn(X, count)

    def problem(weights):
        H = Hidden(features.reweighed(weights, X, count).layer(X), X)
        return Problem(H, ValueTargets(y[:, None]), count, intercept=True)

    number = np.ones(len(X)) if count is None else count
    return weighed_layers(problem, DEFAULT_GRID, X.shape[1], number, 0, most)


def test_columns_of_noise_lose_their_weight_and_errors_are_corrected():
    X = RNG.standard_normal((200, 8))
    tried = trial(X, np.sin(2.0 * X[:, 0]))
    best = min(tried, key=lambda each: each.score)
    assert best.round >= 1
    assert best.weights[0] > 5.0 * best.weights[1:].max()
    assert_allclose(best.score, [best.squared * correction(8, 200.0)])
    assert tried[0].weights is None
    assert tried[0].score == (tried[0].squared,)


def test_columns_of_a_layer_that_is_behind_are_not_weighed():
    X = RNG.standard_normal((200, 8))
    y = np.sin(2.0 * X[:, 0])
    plain, *weighed = trial(X, y)
    assert weighed
    assert len(trial(X, y, most=1.01 * plain.squared)) == 1 + len(weighed)
    assert len(trial(X, y, most=0.99 * plain.squared)) == 1


def test_columns_that_outnumber_the_rows_are_not_weighed():
    X = RNG.standard_normal((20, 25))
    assert len(trial(X, X[:, 0])) == 1
    assert len(trial(X, X[:, 0], np.full(20, 1.5))) == 1  # each is one row that matters more
    counts = np.array([1.0, *np.full(19, 2.0)])
    assert len(trial(X, X[:, 0], counts)) > 1
