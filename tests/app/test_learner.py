"""Left-out labels say how good the model is, and which labels are mistakes."""

import numpy as np
import pytest
from scipy.stats import binomtest

from app.small import GROUP
from ulmus.app.actions import Labels
from ulmus.app.learner import answer, prepared, quality, wilson


@pytest.mark.parametrize(("right", "judged"), [(0, 3), (5, 9), (49, 50), (7, 7)])
def test_the_range_is_that_of_scipy(right, judged):
    expected = binomtest(right, judged).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson(right, judged), expected, atol=1e-6)


def words(pairs):
    found = np.full(2 * GROUP, None, dtype=object)
    for row, name in pairs:
        found[row] = name
    return Labels.of(found)


@pytest.fixture
def model(opened):
    return prepared(opened.X, 0)


def test_a_wrong_label_is_found_and_counted(model):
    right = [(k, "low") for k in range(8)] + [(GROUP + k, "high") for k in range(8)]
    found = quality(answer(model, words([*right, (15, "high")])))
    assert [row for row, *_ in found["disagree"]] == [15]
    assert found["disagree"][0][1:3] == (0, 1)  # labelled high, looks low
    assert (found["right"], found["judged"]) == (16, 17)
    assert found["range"][0] < 16 / 17 < found["range"][1]


def test_weights_of_candidates_are_listed_heaviest_first(model):
    found = quality(answer(model, words([(0, "low"), (1, "low"), (30, "high"), (31, "high")])))
    weights = [weight for _, weight, _ in found["candidates"]]
    assert weights == sorted(weights, reverse=True)
    assert 0 < sum(weights) <= 1 + 1e-9
    assert [accuracy for *_, accuracy in found["candidates"]] == [1.0] * len(weights)


def test_one_label_a_class_leaves_nothing_to_judge(model):
    found = quality(answer(model, words([(0, "low"), (30, "high")])))
    assert found["accuracy"] is None
    assert found["range"] is None
    assert found["judged"] == 0
