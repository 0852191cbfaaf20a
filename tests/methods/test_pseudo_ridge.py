"""Steps of classes that rows give themselves."""

import numpy as np
from numpy.testing import assert_array_equal

from ulmus.methods.pseudo_ridge import _moved

CLASSES = np.array([[0, 1, 1], [1, 1, 0]])


def test_where_no_row_changes_its_class_nothing_is_added():
    assert_array_equal(_moved(np.eye(3), CLASSES, CLASSES, 2), np.zeros((2, 2, 3)))


def test_a_row_that_changes_its_class_takes_its_outputs_along():
    S, now = np.arange(9.0).reshape(3, 3), CLASSES.copy()
    now[1] = [0, 1, 1]
    found = _moved(S, CLASSES, now, 2)
    assert_array_equal(found[0], np.zeros((2, 3)))
    assert_array_equal(found[1], [S[0] - S[2], S[2] - S[0]])
