"""Rows on the map: some first, all at the end, by the layout of `ulmus embed` where it is there."""

import numpy as np
import pytest

from app.small import until
from ulmus.app import places as module
from ulmus.app.opened_table import opened_table
from ulmus.app.places import places
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.layout import ELMLayout
from ulmus.tables import Table

X = np.random.default_rng(0).normal(size=(95, 4))


@pytest.mark.parametrize("way", [ELMLayout, ELMEmbedding])
def test_the_first_rows_appear_before_the_rest_and_stay(monkeypatch, way):
    monkeypatch.setattr(module, "FIRST_ROWS", 40)
    monkeypatch.setattr(module, "AT_ONCE", 25)
    monkeypatch.setattr(module, "has_layout", lambda: way is ELMLayout)
    used = []
    fit = way.fit
    monkeypatch.setattr(way, "fit", lambda self, *given: used.append(way) or fit(self, *given))
    found = list(places(X, 0))
    assert used == [way]
    placed = [np.isfinite(each).all(axis=1) for each in found]
    assert [int(each.sum()) for each in placed] == [40, 65, 90, 95]
    for before, after, seen in zip(found, found[1:], placed, strict=False):
        np.testing.assert_array_equal(before[seen], after[seen])
    assert np.abs(found[-1]).max() <= 1.1 + 1e-6


def test_few_rows_are_placed_at_once():
    (found,) = places(X[:40], 0)
    assert np.isfinite(found).all()


def test_the_page_is_told_how_many_rows_are_placed(make_session, monkeypatch):
    monkeypatch.setattr(module, "FIRST_ROWS", 40)
    opened = opened_table(Table(("a", "b", "c", "d"), dict(zip("abcd", X.T, strict=True))))
    session, heard = make_session(start=False, of=opened), []
    with session.listening(lambda: heard.append(session.working.get("map"))):
        session.start()
        until(session, lambda: "map" not in session.working)
    assert "40 of 95 rows are on the map …" in heard
