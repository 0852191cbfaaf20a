"""Steps of classes that rows give themselves."""

import numpy as np
from numpy.testing import assert_array_equal

from ulmus.methods.own_classes import _moved


def test_where_no_row_changes_its_class_nothing_is_added():
    classes, Y = np.array([[0, 1, 1], [1, 1, 0]]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert_array_equal(_moved(np.eye(3), classes, classes, Y), np.zeros((2, 2, 3)))
