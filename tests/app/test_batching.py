"""Requests that come together are predicted together, and each gets its own answer or error."""

import asyncio

import numpy as np
import pytest

from ulmus.app import serving
from ulmus.app.serving import Together, json_rows, json_table, predicted
from ulmus.exceptions import InvalidInputError, TableError
from ulmus.tables import Table, fit_table

RNG = np.random.default_rng(0)
N = 80
CITIES = np.array(["Oslo", "Rome", None], dtype=object)
X, CITY = RNG.normal(size=N), RNG.choice(CITIES, N)
KIND = np.where(X > 0, "up", "down").astype(object)
MODEL = fit_table(Table(("x", "city", "kind"), {"x": X, "city": CITY, "kind": KIND}), "kind")
ROWS = [{"x": float(x), "city": city} for x, city in zip(X, CITY, strict=True)]


@pytest.fixture
def calls(monkeypatch):
    """How many rows each prediction had."""
    sizes = []

    def counted(model, table):
        sizes.append(len(table))
        return predicted(model, table)

    monkeypatch.setattr(serving, "predicted", counted)
    return sizes


async def asked(requests):
    together = Together(MODEL)
    waiting = (together.predicted(rows) for rows in requests)
    return await asyncio.gather(*waiting, return_exceptions=True)


def test_each_request_gets_the_answer_that_it_gets_alone(calls):
    requests = [ROWS[:1], ROWS[1:4], ROWS[4:5]]
    found = asyncio.run(asked(requests))
    assert calls == [5], "one prediction for all"
    for rows, columns in zip(requests, found, strict=True):
        alone = predicted(MODEL, json_table(MODEL, rows))
        assert columns.keys() == alone.keys()
        assert columns["prediction"].tolist() == alone["prediction"].tolist()
        # Sums of several rows at a time are in another order.
        assert np.allclose(columns["probability of up"], alone["probability of up"], atol=1e-6)


def test_an_error_is_that_of_its_own_request(calls):
    bad = [{"x": "one", "city": "Oslo"}]
    first, broken, last = asyncio.run(asked([ROWS[:1], bad, ROWS[1:2]]))
    assert isinstance(broken, TableError)
    assert "'one'" in str(broken)
    assert len(first["prediction"]) == len(last["prediction"]) == 1
    assert calls == [3, 1, 1, 1]


def test_a_request_whose_sender_is_gone_is_not_predicted(calls):
    async def leave():
        together = Together(MODEL)
        gone, stays = (asyncio.ensure_future(together.predicted(ROWS[k : k + 1])) for k in (0, 1))
        await asyncio.sleep(0)
        gone.cancel()
        return await stays

    assert len(asyncio.run(leave())["prediction"]) == 1
    assert calls == [1]


def test_many_rows_are_predicted_in_parts(calls, monkeypatch):
    monkeypatch.setattr(serving, "_AT_ONCE", 10)
    found = asyncio.run(asked([ROWS[k : k + 4] for k in range(0, 40, 4)]))
    assert [len(columns["prediction"]) for columns in found] == [4] * 10
    assert calls == [12, 12, 12, 4]


@pytest.mark.parametrize(
    ("row", "taken"),
    [
        ({"x": 1, "city": None}, True),
        ({"x": None, "city": "Oslo", "more": []}, True),
        ({"x": "1,5", "city": "Oslo"}, False),
        ({"x": True, "city": "Oslo"}, False),
        ({"x": 1.0, "city": 5}, False),
        ({"x": 1.0}, False),
    ],
)
def test_only_rows_that_cannot_change_others_are_gathered(row, taken):
    assert Together(MODEL).takes([ROWS[0], row]) == taken


def test_numbers_that_no_float_holds_count_as_missing():
    rows = json_rows(b'{"rows": [{"x": 1%s, "city": "Oslo"}]}' % (b"0" * 400))
    blank = json_table(MODEL, [{"x": None, "city": "Oslo"}])
    found, expected = (predicted(MODEL, t) for t in (json_table(MODEL, rows), blank))
    assert found["probability of up"] == expected["probability of up"]


@pytest.mark.parametrize(
    "body", [b"{}", b'{"rows": {}}', b'{"rows": [1]}', b"\xff", b'{"rows": []}']
)
def test_what_is_no_list_of_rows_is_refused(body):
    with pytest.raises(InvalidInputError):
        json_rows(body)
