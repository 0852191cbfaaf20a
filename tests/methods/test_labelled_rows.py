"""Rows that are made once while they are labelled."""

import numpy as np
from numpy.testing import assert_array_equal

from ulmus.methods.labelled_rows import LabelledRows


def test_rows_of_the_last_call_are_not_made_again():
    H, made, rows = np.random.default_rng(0).normal(size=(20, 3)), [], LabelledRows()

    def make(numbers):
        made.append(numbers.tolist())
        return H[numbers]

    calls = [5, 9], [2, 5, 9, 11], [5, 11], [1, 2]
    for numbers in calls:
        assert_array_equal(rows.of(np.array(numbers), make), H[numbers])
    # Row 2 has been forgotten since.
    assert made == [[5, 9], [2, 11], [1, 2]]
