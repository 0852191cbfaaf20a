"""How many held-out rows are kept at every point of a search."""

import pytest

from ulmus.methods.discriminant import _calibration


@pytest.mark.parametrize(
    ("points", "outputs", "rows"),
    [
        (1, 1, 500),
        (25, 10, 500),
        (25, 150, 2**20 // (25 * 150)),
        (25, 1000, 100),
        (200, 10**4, 100),
    ],
)
def test_many_points_and_outputs_leave_fewer_rows_but_a_hundred(points, outputs, rows):
    assert _calibration(points, outputs) == rows
