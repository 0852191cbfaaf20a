"""Rows that are copied to a device by blocks; here NumPy and the host are the device."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ulmus.backends.streaming import OnDevice

LIBRARY = SimpleNamespace(float32=np.float32, float64=np.float64, cat=np.concatenate)
HOST = np.arange(46.0).reshape(23, 2)


class Lane:
    """Counts the rows that it copies."""

    def __init__(self, room):
        self.room, self.rows = room, 0

    def bring(self, rows):
        self.rows += rows.stop - rows.start
        return HOST[rows]


@pytest.mark.parametrize("size", [1, 4, 5, 23])
def test_blocks_that_were_kept_serve_a_pass_in_blocks_of_another_size(size):
    rows, lane = OnDevice(LIBRARY, HOST, None), Lane(HOST.nbytes)
    for first in range(0, 23, 5):
        rows._fetch(slice(first, min(first + 5, 23)), lane)
    assert lane.rows == 23
    for first in range(0, 23, size):
        part = slice(first, min(first + size, 23))
        assert_array_equal(rows._fetch(part, lane), HOST[part])
    assert lane.rows == 23


def test_rows_that_had_no_room_are_copied_again():
    rows, lane = OnDevice(LIBRARY, HOST, None), Lane(10 * HOST[0].nbytes)
    for _ in range(2):
        for first in range(0, 23, 5):
            part = slice(first, min(first + 5, 23))
            assert_array_equal(rows._fetch(part, lane), HOST[part])
    assert lane.rows == 23 + 13
    assert rows._there(slice(9, 11)) is None
