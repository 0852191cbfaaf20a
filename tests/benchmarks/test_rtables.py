"""Columns to predict are drawn by a table's name, and models compared where none failed."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import rtables

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "number": RNG.standard_normal(200),
        "whole": np.arange(200) % 60,
        "word": np.array(["a", "b", "c"])[np.arange(200) % 3],
        "flag": np.arange(200) % 2,
        "rare": ["x"] * 198 + ["y"] * 2,
        "same": 1.0,
    }
)


def test_columns_of_few_words_and_of_many_numbers_are_drawn_by_name():
    drawn = [rtables.targets(f"table {k}", FRAME) for k in range(40)]
    assert {each["classification"] for each in drawn} == {"word", "flag"}
    assert {each["regression"] for each in drawn} == {"number", "whole"}
    assert rtables.targets("table 3", FRAME) == drawn[3]


def test_training_and_test_rows_share_none_and_classes_are_words():
    frame = FRAME.assign(row=np.arange(200))
    frame.loc[:9, "flag"] = np.nan
    train, test, y, y_test = rtables.split(frame, "flag", "classification", 0)
    assert sorted([*train["row"], *test["row"]]) == list(range(10, 200))
    assert len(y) == len(train) == 133
    assert set(y) == set(y_test) == {"c0.0", "c1.0"}


@pytest.mark.parametrize("model", ["HistGradientBoosting", "random forest", "linear"])
def test_rivals_take_new_words_and_blanks(model):
    frame = FRAME.copy()
    frame.loc[5:30, "word"], frame.loc[7, "number"], frame.loc[199, "word"] = None, np.nan, "new"
    train, test, _, y = rtables.split(frame, "whole", "regression", 1)
    assert len(rtables.predicted(model, train, test, "whole", "regression")) == len(y)


def test_models_are_ranked_where_none_failed():
    def run(score, *failures):
        scores = [] if failures else [score]
        return {"scores": scores, "cpu_seconds": 1.5, "failures": [*failures]}

    cells = {
        "one": {"a": run(0.9), "b": run(0.8), "c": run(0.8)},
        "two": {"a": run(-5.0), "b": run(0.1), "c": run(0.3)},
        "three": {"a": run(0.5), "b": run(0.0, "it fell"), "c": run(0.9)},
    }
    found = rtables.summary(cells)
    assert {model: each["rank"] for model, each in found.items()} == {
        "a": 2.0,
        "b": 2.25,
        "c": 1.75,
    }
    assert found["a"]["mean"] == pytest.approx(0.35)
    assert [each["failed"] for each in found.values()] == [0, 1, 0]
    assert found["a"]["best"] == found["a"]["far"] == 0.5
