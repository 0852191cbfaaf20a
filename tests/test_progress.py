"""A bar for a person at a terminal, and nothing for anybody else."""

import io
import time

from ulmus import progress
from ulmus.progress import Bar, duration, line, rows


class Clock:
    """The module ``time`` for the code under test, with hands that a test moves."""

    def __init__(self, **hands):
        vars(self).update(vars(time) | hands)


def test_the_bar_is_for_terminals_alone(monkeypatch):
    quiet = io.StringIO()
    with Bar("usps", quiet) as bar:
        bar.update(1, 2)
    assert quiet.getvalue() == ""
    loud = io.StringIO()
    loud.isatty = lambda: True
    monkeypatch.setattr(progress, "time", Clock(monotonic=lambda: 100.0))
    with Bar("usps", loud) as bar:
        bar.update(1_000_000, 2_000_000)
        bar.update(1_100_000, 2_000_000)
    assert loud.getvalue().count("usps") == 1, "it is not drawn for every piece"
    assert "50%  1,000,000 of 2,000,000 rows" in loud.getvalue()
    assert loud.getvalue().endswith("\r\x1b[K")
    assert line("usps", 1500, None, rows(1500, None)) == "usps  1,500 rows"
    assert [duration(s) for s in (4, 300, 7200)] == ["4 s", "5 min", "2.0 h"]
