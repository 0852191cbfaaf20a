"""Which models mean ranks tell apart."""

import pytest

from benchmarks.rank_plot import alike, critical_difference, draw


def test_the_critical_difference_is_that_of_the_tables():
    # Demšar (2006), section 3.2.2: four classifiers on 14 sets, q = 2.569.
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


def test_runs_that_lie_in_longer_ones_are_left_out():
    assert alike([1.0, 2.0, 2.5, 4.0], 1.5) == [(0, 2), (2, 3)]
    assert alike([1.0, 4.0], 1.5) == []


def test_the_same_ranks_are_the_same_file(tmp_path):
    for name in ("a.svg", "b.svg"):
        draw({"first": 1.2, "second": 1.8}, 10, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert b"first" in (tmp_path / "a.svg").read_bytes()
