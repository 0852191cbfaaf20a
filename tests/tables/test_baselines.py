"""Baselines see the rows of a split that the model sees, and no others."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score

from ulmus.tables import Table, fit_table
from ulmus.tables import evidence as module
from ulmus.tables.assessing import Plan, assess
from ulmus.tables.evidence import baselines

N = 90


def table(numbers):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, N))
    city = rng.choice(np.array(["Oslo", "Rome"], dtype=object), N)
    y = 3 * x + 0.1 * rng.normal(size=N)
    y = y if numbers else np.where(y > 0.5, "up", "down").astype(object)
    return Table(("x", "z", "city", "y"), {"x": x, "z": z, "city": city, "y": y})


@pytest.mark.parametrize("numbers", [True, False])
def test_a_line_is_found_by_the_linear_model_and_not_by_the_constant(numbers):
    data = table(numbers)
    found = baselines(assess(fit_table(data, "y"), data, Plan(folds=3)))
    names = ["mean" if numbers else "majority class", "linear", "boosting"]
    assert [one["name"] for one in found] == names
    constant, linear, boosting = (np.mean(one["scores"]) for one in found)
    assert all(len(one["scores"]) == 3 for one in found)
    assert linear > 0.9
    assert constant < min(linear, boosting)
    if numbers:
        assert -0.2 < constant <= 0  # the mean of other rows is never better than their own


def test_the_majority_is_that_of_the_fitted_rows():
    data = table(False)
    found = assess(fit_table(data, "y"), data, Plan(folds=3))
    scores = baselines(found)[0]["scores"]
    for part, score in zip(found.parts, scores, strict=True):
        old, new = (np.asarray(rows["y"], dtype=str) for rows in (part.fitted, part.table))
        naive = DummyClassifier().fit(old[:, None], old).predict(new[:, None])
        assert score == accuracy_score(new, naive)


def test_no_row_is_both_fitted_and_judged():
    data = table(True)
    found = assess(fit_table(data, "y"), data, Plan(folds=4))
    for part in found.parts:
        both = {*part.fitted.row_numbers} & {*part.table.row_numbers}
        assert not both
        assert len(part.fitted) + len(part.table) == N
    judged = np.concatenate([part.table.row_numbers for part in found.parts])
    assert (judged == found.rows + 1).all()


def test_boosting_that_would_take_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr(module, "_MOST_CELLS", 10)
    data = table(False)
    last = baselines(assess(fit_table(data, "y"), data, Plan(0.3)))[-1]
    assert last["scores"] == []
    assert last["skipped"].startswith("too slow for 63 rows of")
