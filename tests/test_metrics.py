"""Scores of a clustering."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers

from ulmus.metrics import clustering_accuracy, purity


@settings(max_examples=50, deadline=None)
@given(seed=integers(0, 10**6))
def test_accuracy_is_the_best_over_all_namings(seed):
    rng = np.random.default_rng(seed)
    true, found = rng.integers(0, 4, 30), rng.integers(0, 4, 30)
    best = max(np.mean(np.array(names)[found] == true) for names in permutations(range(4)))
    assert clustering_accuracy(true, found) == pytest.approx(best)
    most = sum(np.bincount(true[found == k]).max() for k in np.unique(found)) / 30
    assert purity(true, found) == pytest.approx(most)
    assert purity(true, found) >= clustering_accuracy(true, found)


def test_names_do_not_matter_and_numbers_may_differ():
    assert clustering_accuracy(["a", "a", "b"], [7, 7, 3]) == 1.0
    assert clustering_accuracy([0, 0, 0, 0], [0, 1, 2, 3]) == 0.25
    assert purity([0, 1], [0, 0]) == 0.5


def test_bad_input():
    with pytest.raises(ValueError, match="inconsistent"):
        purity([0, 1], [0])
    with pytest.raises(ValueError, match="no labels"):
        clustering_accuracy([], [])
