"""A slice that is made worse is found, chance alone is not, and the worst rows come first."""

from dataclasses import replace

import numpy as np
import pytest

from ulmus.tables import Table, fit_table
from ulmus.tables.assessing import Assessment, Plan, assess
from ulmus.tables.evidence import calibration, losses, slices, worst_rows

N = 400
RNG = np.random.default_rng(5)


def numbers_found(error):
    truth = RNG.normal(size=N)
    return Assessment(np.arange(N), truth, truth + error, None, None, {})


def classes_found(P, truth):
    names = np.array(["no", "yes"])
    return Assessment(np.arange(len(P)), names[truth], names[P.argmax(axis=1)], P, names, {})


def table(**columns):
    return Table(tuple(columns), columns)


CITY = RNG.choice(np.array(["Oslo", "Rome", "Bonn", None], dtype=object), N)
SIZE = RNG.uniform(0, 1, N)


def test_a_slice_that_is_worse_is_told_first():
    error = RNG.normal(size=N) * np.where(CITY == "Rome", 6, 1)
    found = slices(numbers_found(error), table(city=CITY, size=SIZE))
    first = found["worse"][0]
    assert (first["column"], first["value"]) == ("city", "Rome")
    assert first["rows"] == (CITY == "Rome").sum()
    assert first["loss"] == pytest.approx(np.mean(error[CITY == "Rome"] ** 2))
    assert found["tried"] == 4 + 4


def test_a_range_of_numbers_and_blanks_are_slices_too():
    error = RNG.normal(size=N) * np.where(SIZE > 0.75, 8, 1)
    ranges = slices(numbers_found(error), table(size=SIZE))["worse"]
    low, high = map(float, ranges[0]["value"].split(" to "))
    assert low == pytest.approx(0.75, abs=0.05)
    assert high == pytest.approx(1, abs=0.01)
    blank = np.array([city is None for city in CITY])
    error = RNG.normal(size=N) * np.where(blank, 8, 1)
    assert slices(numbers_found(error), table(city=CITY))["worse"][0]["value"] == "missing"


def test_chance_alone_is_seldom_told():
    told = 0
    for _ in range(60):
        found = slices(numbers_found(RNG.normal(size=N)), table(city=CITY, size=SIZE))
        told += bool(found["worse"])
    assert told <= 8  # 60 times 5 % are 3


def test_a_target_is_no_slice_and_few_rows_are_none():
    found = numbers_found(RNG.normal(size=N) * np.where(CITY == "Rome", 9, 1))
    assert slices(found, table(city=CITY), ("city",))["tried"] == 0
    few = replace(found, rows=found.rows[:10], truth=found.truth[:10], found=found.found[:10])
    assert slices(few, table(city=CITY))["tried"] == 0


def test_the_worst_rows():
    error = np.zeros(N)
    error[[7, 3, 9]] = 5, -8, 1
    assert worst_rows(numbers_found(error), 2) == [3, 7]
    assert worst_rows(numbers_found(error), 10) == [3, 7, 9], "a row that is right is not wrong"
    P = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.01, 0.99]])
    found = classes_found(P, np.array([1, 1, 1, 0]))
    assert losses(found).tolist() == [1, 1, 0, 1]
    assert worst_rows(found, 10) == [3, 0, 1]


def test_a_class_that_the_model_does_not_know_is_the_worst():
    P = np.array([[0.9, 0.1], [0.3, 0.7]])
    found = replace(classes_found(P, np.array([1, 1])), truth=np.array(["yes", "never seen"]))
    assert worst_rows(found, 2) == [1, 0]


def test_calibrated_probabilities_have_a_small_gap_and_others_a_large_one():
    sure = RNG.uniform(0.5, 1, 20_000)
    P = np.column_stack([1 - sure, sure])
    right = (RNG.uniform(size=len(sure)) < sure).astype(int)
    honest = calibration(classes_found(P, right))
    assert honest["gap"] < 0.02
    assert sum(rows for *_, rows in honest["points"]) == len(sure)
    always = calibration(classes_found(P, np.ones(len(sure), dtype=int)))
    assert always["gap"] == pytest.approx(0.25, abs=0.01)


def test_intervals_of_left_out_rows_hold_about_what_they_say():
    x = RNG.uniform(-2, 2, 160)
    data = table(x=x, y=np.sin(x) + 0.2 * RNG.normal(size=160))
    found = assess(fit_table(data, "y"), data, Plan(folds=2))
    points = calibration(found)["points"]
    assert [said for said, *_ in points] == [0.5, 0.8, 0.9, 0.95]
    assert all(abs(said - held) < 0.13 for said, held, _ in points)
    ends = [
        part.model.estimator.predict_interval(part.model.matrix(part.table), coverage=0.9)
        for part in found.parts
    ]
    low, high = np.vstack(ends).T
    assert points[2][1] == np.mean((found.truth >= low) & (found.truth <= high))
