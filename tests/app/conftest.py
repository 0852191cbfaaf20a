"""A small session with two clear groups of rows."""

import numpy as np
import pytest

from app.small import GROUP
from ulmus.app.journal import Journal
from ulmus.app.opened_table import opened_table
from ulmus.app.session import Session, header_of
from ulmus.tables import Table


@pytest.fixture(scope="session")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * GROUP, 3)) + np.repeat([[0.0], [6.0]], GROUP, axis=0)
    words = np.array([f"<b>row {k}</b>" for k in range(2 * GROUP)], dtype=object)
    names = ("length", "width", "height", "note")
    return Table(names, dict(zip(names, [*X.T, words], strict=True)))


@pytest.fixture
def opened(table):
    return opened_table(table, without=("note",))


@pytest.fixture
def make_session(opened, tmp_path):
    """Sessions on one journal, one after the other."""
    made = []

    def make(start=True, of=None):
        for old in made:
            old.close()
        of = opened if of is None else of
        session = Session(of, Journal(tmp_path / "labels.jsonl", header_of(of)))
        made.append(session)
        if start:
            session.start()
        return session

    yield make
    for session in made:
        session.close()
        for thread in session.threads:
            if thread.ident is not None:
                thread.join()


@pytest.fixture
def session(make_session):
    return make_session()
