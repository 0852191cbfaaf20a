"""What an array's type says, whichever library names it."""

import array_api_strict
import numpy as np
import pytest

from ulmus.backends.namespace import eps, is_single, itemsize

SINGLES = [np.float32, np.dtype(np.float32), np.dtype(">f4"), "float32", array_api_strict.float32]
DOUBLES = [np.float64, float, np.dtype(">f8"), "float64", array_api_strict.float64]


@pytest.mark.parametrize("dtype", SINGLES, ids=repr)
def test_float32_is_float32_by_every_name(dtype):
    assert (is_single(dtype), itemsize(dtype)) == (True, 4)
    assert eps(dtype) == 2.0**-23


@pytest.mark.parametrize("dtype", DOUBLES, ids=repr)
def test_float64_is_float64_by_every_name(dtype):
    assert (is_single(dtype), itemsize(dtype)) == (False, 8)
    assert eps(dtype) == 2.0**-52


def test_an_array_of_a_library_has_the_precision_of_its_numbers(library):
    for dtype, single in ((np.float32, True), (np.float64, False)):
        assert is_single(library(np.ones(2, dtype)).dtype) is single
