"""A kill at any moment leaves whole files, and the work goes on.

A seeded part of what ``make attack`` does; workers are killed in the tests of Dask and the papers.
"""

import pytest

from attack.guard import guarded
from attack.outcomes import BAD

pytestmark = pytest.mark.skipif("fork" not in dir(__import__("os")), reason="there is no fork")


@pytest.mark.first
def test_no_kill_of_a_sample_ends_badly():
    results = dict(guarded("kills", seed=1, numbers=range(24), limit=600))
    assert len(results) == 24
    assert [result.detail for result in results.values() if result.outcome in BAD] == []
    kinds = {result.kind for result in results.values()}
    assert kinds == {"a save", "a checkpoint", "a reproduction"}
