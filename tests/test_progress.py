"""A bar for a person at a terminal, plain lines elsewhere, callbacks; nothing without verbose."""

import io
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import make_classification

from ulmus import ELMClassifier, ELMRegressor, batches, progress, reservoir
from ulmus.progress import Bar, line, rows


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


X, y = make_classification(300, 6, n_informative=4, n_classes=3, random_state=0)
PARTS = [(X[a : a + 50], y[a : a + 50]) for a in range(0, 300, 50)]


@pytest.fixture
def few(monkeypatch):
    """Few rows are kept, so that sums begin soon."""
    monkeypatch.setattr(reservoir, "_LEAST", 25)
    monkeypatch.setattr(reservoir, "_BYTES", 0)


def test_plain_lines_are_printed_where_there_is_no_terminal(capsys, few):
    ELMClassifier(n_hidden=12, C=1.0, verbose=1).fit(lambda: iter(PARTS))
    ELMRegressor(n_hidden=12, C=1.0, verbose=1).fit(X, y)
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    assert "Scale: 50 rows" in lines
    assert "Fit: 50 of 300 rows" in lines
    assert lines.count("Fit: 300 of 300 rows") == 2
    assert "\x1b" not in printed.err
    ELMClassifier(n_hidden=12, C=1.0).fit(iter(PARTS))
    assert capsys.readouterr() == ("", "")
    assert printed.out == ""


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_terminal_shows_a_bar_where_it_is_asked_for(verbose, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ELMClassifier(n_hidden=12, C=1.0, verbose=verbose).fit(batches.from_arrays(X, y, rows=50))
    written = capsys.readouterr().err
    assert ("of 300 rows" in written) == bool(verbose)
    assert written == "" or written.endswith("\r\x1b[K")


class Recorder:
    """A callback of scikit-learn that notes which tasks begin and end."""

    def __init__(self):
        self.begun, self.ended, self.over = [], [], 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)

    def teardown(self, estimator, context):
        self.over += 1


PASSES = {
    "rows": (["Fit"], 100),
    "once": (["Read", "Fit"], 106),
    "once, few": (["Read"], 6),
    "twice": (["Scale", "Fit"], 106),
    "twice, few": (["Scale", "Fit"], 106),
}


@pytest.mark.parametrize("source", PASSES)
def test_callbacks_of_scikit_learn_are_called(source, request):
    pytest.importorskip("sklearn.callback")
    if source.endswith("few"):
        request.getfixturevalue("few")
    data = {"rows": (X, y), "once": (iter(PARTS),), "twice": (lambda: iter(PARTS),)}
    data, seen, (passes, known) = data[source.partition(",")[0]], Recorder(), PASSES[source]
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0).set_callbacks(seen)
    model.fit(*data)
    assert [name for name in seen.begun if name != "part"] == ["fit", *passes]
    assert sorted(seen.begun) == sorted(seen.ended)
    assert seen.begun.count("part") == known
    assert seen.over == 1
    assert np.isfinite(model.beta_).all()


def test_callbacks_end_when_a_fit_fails():
    pytest.importorskip("sklearn.callback")
    seen = Recorder()
    model = ELMClassifier(n_hidden=12).fit(X, y)
    names = set(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.set_callbacks(seen).fit(iter([PARTS[0], (np.full((2, 6), np.nan), y[:2])]))
    assert seen.over == 1
    assert set(vars(model)) == names | {"_skl_callbacks"}


def test_a_notebook_shows_a_bar(monkeypatch):
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    with Bar("usps", stream) as bar:
        bar.update(1, 2)
    assert "50%  1 of 2 rows" in stream.getvalue()
