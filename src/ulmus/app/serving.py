"""A model over HTTP: rows as JSON or CSV in, predictions as JSON or CSV out.

Requests of few rows that come at about the same time are predicted together.
"""

import asyncio
import json
import re
import socket
import tempfile
from html import escape
from io import StringIO
from ipaddress import ip_address
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ulmus.app.listening import KnownHosts, Server, body_of, listen
from ulmus.cli.results import Columns, plain_values, write_text_rows
from ulmus.exceptions import InvalidInputError, UlmusError
from ulmus.tables import Table, TableModel, read_table
from ulmus.tables.columns import Category, Number
from ulmus.version import __version__

__all__ = ["application", "listen", "run"]

# Requests at a time; others get the status 503.
MOST_REQUESTS = 64
# More rows than these are predicted in another thread, so that others need not wait.
_FEW = 64
_JSON_TYPES = {"number": "number", "boolean": "boolean"}
# Rows of one request.
MOST_ROWS = 100_000
# Rows that are predicted at once, so that nobody waits for long.
_AT_ONCE = 1024
_PAGE = Path(__file__).with_name("static") / "serving.html"
_ADVICE = re.compile(r"[;.,] [^;.]*--")

Row = dict[str, Any]
_Waiting = tuple[list[Row], asyncio.Future[Columns]]


def application(model: TableModel) -> Starlette:
    """The routes: a prediction, the model's state, and what can be asked."""
    schema, together = _schema(model), Together(model)
    health = {"status": "ok", "target": model.target, "task": model.task}

    async def answer(request: Request) -> Columns:
        interval, body = _interval(request), await body_of(request)
        if "csv" in request.headers.get("content-type", ""):
            table = csv_table(body)
        else:
            rows = json_rows(body)
            if interval is None and len(rows) <= _FEW and together.takes(rows):
                return await together.predicted(rows)
            table = json_table(model, rows)
        if len(table) > MOST_ROWS:
            raise InvalidInputError(f"{len(table):,} rows are more than {MOST_ROWS:,}; send fewer.")
        return await run_in_threadpool(predicted, model, table, interval)

    async def predict(request: Request) -> Response:
        found = await answer(request)
        if "text/csv" in request.headers.get("accept", ""):
            text = StringIO()
            write_text_rows(text, found)
            return Response(text.getvalue(), media_type="text/csv")
        return JSONResponse({name: plain_values(values) for name, values in found.items()})

    return Starlette(
        routes=[
            Route("/", HTMLResponse(_page(model, schema)), methods=["GET"]),
            Route("/health", JSONResponse(health), methods=["GET"]),
            Route("/openapi.json", JSONResponse(schema), methods=["GET"]),
            Route("/predict", predict, methods=["POST"]),
        ],
        exception_handlers={UlmusError: _unusable, 404: _elsewhere, 405: _elsewhere},
    )


async def _unusable(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error).replace("--interval", "interval")}, 422)


async def _elsewhere(_: Request, error: Any) -> Response:
    """An answer to another path or method, in JSON as all errors of rows are."""
    said = {"error": "Rows are sent by POST to /predict; GET / says how."}
    return JSONResponse(said, error.status_code, error.headers)


def _interval(request: Request) -> float | None:
    """How many of a hundred rows intervals are to hold, of a query such as ?interval=90."""
    text = request.query_params.get("interval")
    try:
        percent = None if text is None else float(text)
    except ValueError:
        percent = 0.0
    if percent is not None and not 0 < percent < 100:
        raise InvalidInputError(f"interval={text} is not a number between 0 and 100, such as 90.")
    return percent


# ---------------------------------------------------------------------- predictions
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
            'The request is not JSON such as {"rows": [{"column": 1.5}]}; send that, or CSV with '
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


# ---------------------------------------------------------------------- what can be asked
def _schema(model: TableModel) -> dict[str, Any]:
    """The interface as OpenAPI 3.1 has it."""
    encoder = model.encoder
    kinds = encoder.kinds or ("number",) * len(encoder.names)
    fields = {
        name: {"type": [_JSON_TYPES.get(kind, "string"), "null"], "description": kind}
        for name, kind in zip(encoder.names, kinds, strict=True)
    }
    row = {"type": "object", "properties": fields, "required": list(fields)}
    rows = {"type": "array", "items": row, "maxItems": MOST_ROWS}
    asked = {"type": "object", "properties": {"rows": rows}, "required": ["rows"]}
    interval = {
        "name": "interval",
        "in": "query",
        "schema": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 100},
        "description": "how many of a hundred new rows have their value between lower and upper, "
        "or their class in the set, such as 90",
    }
    content = {"application/json": {"schema": asked}, "text/csv": {}}
    answers = {"200": {"description": "a list for each column of the answer"}}
    predict = {
        "summary": f"Predict {model.target!r} for some rows",
        "parameters": [interval] if model.covers else [],
        "requestBody": {"required": True, "content": content},
        "responses": {
            **answers,
            "413": {"description": "the request has too many bytes"},
            "422": {"description": "the rows cannot be used; the error says why"},
        },
    }
    health = {"summary": "Whether the server answers", "responses": answers}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"Predictions of {model.target}", "version": __version__},
        "paths": {"/predict": {"post": predict}, "/health": {"get": health}},
    }


def _page(model: TableModel, schema: dict[str, Any]) -> str:
    """The interface for people: one page without scripts."""
    predict = schema["paths"]["/predict"]["post"]
    asked = predict["requestBody"]["content"]["application/json"]["schema"]
    fields = asked["properties"]["rows"]["items"]["properties"]
    lines = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(about['description'])}</td></tr>"
        for name, about in fields.items()
    )
    example = {"rows": [{name: _typical(model, name) for name in fields}]}
    return Template(_PAGE.read_text(encoding="utf-8")).substitute(
        target=escape(model.target),
        example=escape(json.dumps(example, ensure_ascii=False)),
        intervals="" if predict["parameters"] else "hidden",
        columns=lines,
    )


def _typical(model: TableModel, name: str) -> Any:
    """A value of a column for an example, or none."""
    column = None if model.encoder.width else model.encoder.column(name)
    if isinstance(column, Number):
        return column.fill if column.kind == "number" else None
    return column.categories[0] if isinstance(column, Category) and column.categories else None


# ---------------------------------------------------------------------- the server
def run(model: TableModel, at: socket.socket) -> None:
    """Answer requests until an interrupt."""
    app: Any = application(model)
    host, port = at.getsockname()[:2]
    if ip_address(host).is_loopback:
        names = ("localhost", f"[{host}]" if ":" in host else host)
        app = KnownHosts(app, [f"{name}:{port}" for name in names])
    limited = Server(app, limit_concurrency=MOST_REQUESTS, timeout_graceful_shutdown=5)
    limited.run(sockets=[at])
