"""Quantiles of weighted values, and what follows from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import floats, integers
from numpy.testing import assert_allclose

from ulmus.conformal import LeftOut, intervals, label_sets, quantile
from ulmus.exceptions import InvalidInputError


@given(seed=integers(0, 10**6), n=integers(10, 40), coverage=floats(0.01, 0.9))
def test_weighted_quantiles_are_those_of_repeated_values(seed, n, coverage):
    rng = np.random.default_rng(seed)
    values, count = rng.standard_normal((3, n)).round(1), rng.integers(1, 4, n)
    needed = LeftOut(values, values, count.astype(float)).needed(coverage)
    place = int(np.ceil(coverage * (count.sum() + 1) - 1e-9)) - 1
    expected = np.sort(np.repeat(values, count, axis=1), axis=1)[:, max(place, 0)]
    assert_allclose(quantile(values, count.astype(float), needed), expected)


def test_all_rows_are_needed_for_the_most_that_they_tell():
    nine = LeftOut(np.zeros((9, 1)), np.arange(9.0)[:, None], np.ones(9))
    assert_allclose(intervals(np.zeros((1, 1)), None, nine, 0.9), [[[-8.0, 8.0]]])
    with pytest.raises(InvalidInputError, match=r"9 left-out rows allow at most 0\.9\b"):
        nine.needed(0.91)


def test_effects_move_the_ends_by_the_errors():
    errors = np.array([[-1.0], [1.0], [2.0]])
    left = LeftOut(np.zeros((3, 1)), errors, np.ones(3))
    effects = np.array([[0.5, 0.25, 0.0]])
    # f₋ᵢ is 0.5, −0.25 and 0; upper ends 1.5, 0.75, 2 and lower ends −0.5, −1.25, −2.
    assert_allclose(intervals(np.zeros((1, 1)), effects, left, 0.5), [[[-1.25, 1.5]]])


def test_a_set_has_the_classes_that_are_as_likely_as_those_left_out():
    own = np.array([0.9, 0.8, 0.4])
    left = LeftOut(np.zeros((3, 2)), np.zeros(3, int), np.ones(3))
    P = np.array([[0.95, 0.05], [0.55, 0.45], [0.3, 0.7]])
    sets = label_sets(P, np.column_stack([own, 1 - own]), left, 0.75)
    assert sets.tolist() == [[True, False], [True, True], [False, True]]
    assert label_sets(P, np.column_stack([own, 1 - own]), left, 0.5).sum() == 1
