"""No forged file is read into foreign memory, a raw error or more memory than it may have.

A seeded part of what ``make attack`` tries.
"""

import pytest

from attack import changes
from attack.bases import every_class
from attack.guard import guarded
from attack.outcomes import BAD, Outcome, Tally
from ulmus.persistence import classes


@pytest.mark.first
def test_no_forged_file_of_a_sample_ends_badly():
    tally = Tally()
    # The limit is for a case that never ends; none comes near it.
    for number, result in guarded("files", seed=0, numbers=range(1500), limit=600):
        tally.add(number, result)
    assert [(number, result.detail) for number, result in tally.bad] == []
    assert min(tally.total[Outcome.RIGHT], tally.total[Outcome.REFUSED]) > 300
    assert {kind.partition(",")[0] for kind in tally.counts} == {"model", "table", "checkpoint"}
    assert not any(tally.total[outcome] for outcome in BAD)


@pytest.mark.first
def test_no_single_change_of_a_sample_ends_badly():
    tally = Tally()
    for number, result in guarded("changes", 0, range(0, changes.COUNT, 1499), limit=600):
        tally.add(number, result)
    assert [(number, result.detail) for number, result in tally.bad] == []
    kinds = {"one value", "one part missing", "one number", "one type", "one shape"}
    assert set(tally.counts) == kinds


def test_every_class_that_a_file_may_hold_is_forged():
    own = {name for name in classes._KNOWN if name.startswith(("ulmus.", "sklearn."))}
    assert own <= every_class()
