"""A kill of a process that labels loses nothing: a seeded part of ``make attack ARGS=labels``."""

import pytest

from attack.guard import guarded
from attack.outcomes import BAD

pytestmark = pytest.mark.skipif("fork" not in dir(__import__("os")), reason="there is no fork")


def test_no_kill_of_a_sample_loses_a_label():
    results = dict(guarded("labels", seed=1, numbers=range(12), limit=600))
    assert len(results) == 12
    assert [result.detail for result in results.values() if result.outcome in BAD] == []
