"""A column to learn: which task it is, and what its labels are."""

import numpy as np
import pytest

from ulmus.exceptions import InvalidParameterError
from ulmus.tables.target_column import read_target


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        (np.array(["a", "b"] * 10, dtype=object), "classification"),
        (np.array(["yes", "no"] * 10, dtype=object), "classification"),
        (np.arange(60.0) % 3, "classification"),
        (np.arange(60.0) % 3 + 0.5, "regression"),
        (np.arange(60.0), "regression"),
        (np.arange(60.0) % 20, "regression"),
        (np.array([0.0, 1.0, 1.0, 0.0]), "classification"),
    ],
)
def test_the_task_follows_from_the_cells(cells, task):
    assert read_target(cells, "y").task == task


def test_labels_are_words_or_whole_numbers():
    assert read_target(np.array([1.0, 2.0, np.nan] * 5), "y").values.dtype == np.int64
    half = read_target(np.array([0.5, 1.5] * 5), "y", "classification")
    assert half.values.tolist() == ["0.5", "1.5"] * 5


def test_an_unknown_task():
    with pytest.raises(InvalidParameterError, match="task='guess' is unknown"):
        read_target(np.arange(9.0), "y", "guess")
