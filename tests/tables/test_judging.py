"""Scores, beside scikit-learn's."""

import numpy as np
import pytest
from sklearn import metrics

from ulmus.tables.assessing import judge_labels, judge_numbers


def test_labels_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    truth = rng.choice(["a", "b", "c"], 200).tolist()
    found = rng.choice(["a", "b", "c"], 200, p=[0.6, 0.3, 0.1]).tolist()
    judged = judge_labels(truth, found, ["a", "b", "c"])
    assert judged["accuracy"] == pytest.approx(metrics.accuracy_score(truth, found))
    balanced = metrics.balanced_accuracy_score(truth, found)
    assert judged["balanced_accuracy"] == pytest.approx(balanced)
    assert judged["confusion"] == metrics.confusion_matrix(truth, found).tolist()
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(truth, found)
    for k, name in enumerate("abc"):
        expected = {"rows": rows[k], "precision": precision[k], "recall": recall[k], "f1": f1[k]}
        assert judged["classes"][name] == pytest.approx(expected)


def test_rows_are_whole_numbers_where_no_prediction_is_right():
    judged = judge_labels(["a", "b"], ["b", "a"], ["a", "b"])
    assert [type(found["rows"]) for found in judged["classes"].values()] == [int, int]


def test_numbers_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    truth, noise = rng.normal(size=(2, 100))
    judged = judge_numbers(truth, truth + noise / 3)
    assert judged["r2"] == pytest.approx(metrics.r2_score(truth, truth + noise / 3))
    assert judged["mae"] == pytest.approx(np.abs(noise / 3).mean())
    assert judged["baseline"]["rmse"] == pytest.approx(truth.std())
    assert judge_numbers(np.ones(3), np.ones(3))["r2"] == 1.0
