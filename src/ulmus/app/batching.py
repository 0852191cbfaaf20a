"""Rows of requests, and one prediction for all requests that come at about the same time."""

import asyncio
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.cli.results import Columns
from ulmus.exceptions import InvalidInputError, UlmusError
from ulmus.tables import Table, TableModel, read_table

# Rows of one request.
MOST_ROWS = 100_000
# Rows that are predicted at once, so that nobody waits for long.
_AT_ONCE = 1024
_ADVICE = re.compile(r"[;.,] [^;.]*--")

Row = dict[str, Any]
_Waiting = tuple[list[Row], asyncio.Future[Columns]]


def predicted(model: TableModel, table: Table, interval: float | None = None) -> Columns:
    """Columns of an answer: predictions and, for classes, a probability of each."""
    probabilities = model.classes is not None and interval is None
    return model.columns(model.matrix(table), probabilities, interval)


class Together:
    """Predictions for few rows of many requests, in one call for all that have come.

    The call is made when the event loop has read what had arrived: a request that is alone does not
    wait, and while one call is made the next requests gather.
    """

    def __init__(self, model: TableModel) -> None:
        encoder = model.encoder
        kinds = encoder.kinds or ("number",) * len(encoder.names)
        self._types = {
            name: (int, float, type(None)) if kind == "number" else (str, type(None))
            for name, kind in zip(encoder.names, kinds, strict=True)
        }
        self._model = model
        self._waiting: list[_Waiting] = []

    def takes(self, rows: list[Row]) -> bool:
        """Whether no cell of these rows can change how those of others are read.

        In a column of numbers all must be numbers: a word might say what a comma means.
        """
        found = self._types.items()
        return all(
            name in row and type(row[name]) in types for row in rows for name, types in found
        )

    async def predicted(self, rows: list[Row]) -> Columns:
        """The columns of an answer."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._answer)
        future: asyncio.Future[Columns] = loop.create_future()
        self._waiting.append((rows, future))
        return await future

    def _answer(self) -> None:
        """Predict what has gathered."""
        batch, size = list[_Waiting](), 0
        while self._waiting and size < _AT_ONCE:
            batch.append(self._waiting.pop(0))
            size += len(batch[-1][0])
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._answer)
        # A request whose sender is gone needs no answer.
        if batch := [one for one in batch if not one[1].done()]:
            self._settle(batch)

    def _settle(self, batch: list[_Waiting]) -> None:
        """One prediction for all; where that fails, one for each, with errors of its own."""
        try:
            rows = [row for rows, _ in batch for row in rows]
            found = predicted(self._model, json_table(self._model, rows))
        except Exception as error:
            if len(batch) == 1:
                batch[0][1].set_exception(error)
                return
            for one in batch:
                self._settle([one])
            return
        ends = np.cumsum([len(rows) for rows, _ in batch])
        for (rows, future), end in zip(batch, ends.tolist(), strict=True):
            part = slice(end - len(rows), end)
            future.set_result({name: values[part] for name, values in found.items()})


# ---------------------------------------------------------------------- rows of a request
def csv_table(body: bytes) -> Table:
    """The rows of a request in CSV."""
    with tempfile.TemporaryDirectory(prefix="ulmus-") as folder:
        path = Path(folder) / "request"
        path.write_bytes(body)
        try:
            return read_table(path, kind="csv", header=True)
        except UlmusError as error:
            # What follows is advice for the command line.
            found = _ADVICE.split(str(error).replace(str(path), "The request"))[0]
            raise InvalidInputError(
                f"{found.rstrip('.')}. Send CSV in UTF-8 with the columns' names in its first row."
            ) from error


def json_rows(body: bytes) -> list[Row]:
    """The rows of {"rows": [{"column": value}]}."""
    try:
        rows = json.loads(body)["rows"]
    except (ValueError, KeyError, TypeError, RecursionError):
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInputError(
            'The request is no JSON such as {"rows": [{"column": 1.5}]}; send that, or CSV with '
            "the content type text/csv."
        )
    if not rows:
        raise InvalidInputError("The request has no rows.")
    return rows


def json_table(model: TableModel, rows: list[Row]) -> Table:
    """A table of the columns that the model knows, of those that any row has."""
    present = set().union(*rows)
    names = tuple(name for name in model.encoder.names if name in present)
    columns = {name: _column(name, [row.get(name) for row in rows]) for name in names}
    if model.encoder.width and names:
        return Table(names, matrix=np.column_stack([columns[name] for name in names]))
    return Table(names, columns)


def _column(name: str, cells: list[Any]) -> np.ndarray:
    """Numbers, or text with None where there is none."""
    if all(cell is None or type(cell) in (int, float) for cell in cells):
        return np.array([_number(cell) for cell in cells])
    if any(isinstance(cell, list | dict) for cell in cells):
        raise InvalidInputError(f"The column {name!r} has a list in a row; send numbers or text.")
    return np.array([None if cell is None else str(cell) for cell in cells], dtype=object)


def _number(cell: int | float | None) -> float:
    try:
        return np.nan if cell is None else float(cell)
    except OverflowError:  # an integer of more than 308 digits
        return np.inf
