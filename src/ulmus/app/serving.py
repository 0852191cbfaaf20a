"""A model over HTTP: rows as JSON or CSV in, predictions as JSON or CSV out."""

import json
import socket
import tempfile
from collections.abc import Callable
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ulmus.app.guards import TooLarge, body_of
from ulmus.cli.results import plain_values, write_text_rows
from ulmus.exceptions import InvalidInputError, UlmusError
from ulmus.tables import Table, TableModel, read_table
from ulmus.tables.encoder import as_text
from ulmus.version import __version__

__all__ = ["application", "listen", "run"]

# Rows of one request, and requests at a time; others get the status 503.
MOST_ROWS, MOST_REQUESTS = 100_000, 64
# More rows than these are predicted in another thread, so that others need not wait.
_AT_ONCE = 64
_JSON_TYPES = {"number": "number", "boolean": "boolean"}


def application(model: TableModel) -> Starlette:
    """The routes: a prediction, the model's state, and what can be asked."""
    schema = _schema(model)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "target": model.target, "task": model.task})

    async def openapi(_: Request) -> Response:
        return JSONResponse(schema)

    async def page(_: Request) -> Response:
        return HTMLResponse(_page(model, schema))

    async def predict(request: Request) -> Response:
        try:
            body = await body_of(request.receive)
            table = _table(model, body, request.headers.get("content-type", ""))
            few = len(table) <= _AT_ONCE
            found = (
                predicted(model, table) if few else await run_in_threadpool(predicted, model, table)
            )
        except TooLarge:
            return PlainTextResponse("The request is too large.\n", 413)
        except UlmusError as error:
            return JSONResponse({"error": str(error)}, 422)
        if "text/csv" in request.headers.get("accept", ""):
            text = StringIO()
            write_text_rows(text, found)
            return Response(text.getvalue(), media_type="text/csv")
        return JSONResponse({name: plain_values(values) for name, values in found.items()})

    return Starlette(
        routes=[
            Route("/", page),
            Route("/health", health),
            Route("/openapi.json", openapi),
            Route("/predict", predict, methods=["POST"]),
        ]
    )


def predicted(model: TableModel, table: Table) -> dict[str, np.ndarray]:
    """Columns of an answer: predictions and, for classes, a probability of each."""
    X = model.matrix(table)
    y = np.asarray(model.estimator.predict(X))
    if model.classes is None:
        return {"prediction": np.asarray(y, dtype=float)}
    P = np.asarray(model.estimator.predict_proba(X), dtype=float)
    names = (f"probability of {name}" for name in as_text(model.classes))
    return {"prediction": y, **dict(zip(names, P.T, strict=True))}


# ---------------------------------------------------------------------- rows of a request
def _table(model: TableModel, body: bytes, kind: str) -> Table:
    """The rows of a request: JSON unless it says that it is CSV."""
    table = _csv_table(body) if "csv" in kind else _json_table(model, body)
    if len(table) > MOST_ROWS:
        raise InvalidInputError(f"{len(table):,} rows are more than {MOST_ROWS:,}; send fewer.")
    return table


def _csv_table(body: bytes) -> Table:
    with tempfile.TemporaryDirectory(prefix="ulmus-") as folder:
        path = Path(folder) / "request"
        path.write_bytes(body)
        try:
            return read_table(path, kind="csv", header=True)
        except UlmusError as error:
            raise InvalidInputError(str(error).replace(str(path), "The request")) from error


def _json_table(model: TableModel, body: bytes) -> Table:
    """A table of {"rows": [{"column": value}]}."""
    try:
        rows = json.loads(body)["rows"]
        cells = {name: [row.get(name) for row in rows] for name in model.encoder.names}
        present = set().union(*rows)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInputError(
            'The request is no JSON such as {"rows": [{"column": 1.5}]}; send that, or CSV with '
            "the content type text/csv."
        ) from error
    if not rows:
        raise InvalidInputError("The request has no rows.")
    names = tuple(name for name in model.encoder.names if name in present)
    columns = {name: _column(name, cells[name]) for name in names}
    if model.encoder.width and names:
        return Table(names, matrix=np.column_stack([columns[name] for name in names]))
    return Table(names, columns)


def _column(name: str, cells: list[Any]) -> np.ndarray:
    """Numbers, or text with None where there is none."""
    if any(isinstance(cell, list | dict) for cell in cells):
        raise InvalidInputError(f"The column {name!r} has a list in a row; send numbers or text.")
    if all(cell is None or type(cell) in (int, float) for cell in cells):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    return np.array([None if cell is None else str(cell) for cell in cells], dtype=object)


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
    answers = {"200": {"description": "a list for each column of the answer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"Predictions of {model.target}", "version": __version__},
        "paths": {
            "/predict": {
                "post": {
                    "summary": f"Predict {model.target!r} for some rows",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": asked}, "text/csv": {}},
                    },
                    "responses": {**answers, "413": _TOO_LARGE, "422": _UNUSABLE},
                }
            },
            "/health": {"get": {"summary": "Whether the server answers", "responses": answers}},
        },
    }


_TOO_LARGE = {"description": "the request has too many bytes"}
_UNUSABLE = {"description": "the rows cannot be used; the error says why"}


def _page(model: TableModel, schema: dict[str, Any]) -> str:
    """The interface for people: one page without scripts."""
    row = schema["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
    fields = row["schema"]["properties"]["rows"]["items"]["properties"]
    lines = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(about['description'])}</td></tr>"
        for name, about in fields.items()
    )
    example = json.dumps({"rows": [dict.fromkeys(list(fields)[:3])]}, ensure_ascii=False)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" '
        f'content="light dark"><title>{escape(model.target)}</title><style>body{{font-family:'
        "sans-serif;max-width:45em;margin:2em auto;padding:0 1em}pre{overflow-x:auto}td{padding:"
        f".1em 1em .1em 0}}</style><h1>Predictions of {escape(model.target)}</h1><p><code>POST "
        "/predict</code> takes rows as JSON, or as CSV with the content type <code>text/csv</code>,"
        " and answers with JSON, or with CSV where <code>text/csv</code> is accepted.</p>"
        f"<pre>{escape(example)}</pre><table><tr><th>column<th>holds</tr>{lines}</table><p><a "
        'href="openapi.json">OpenAPI</a>, <a href="health">health</a></p></html>'
    )


# ---------------------------------------------------------------------- the server
def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise InvalidInputError(
            f"--host {host} --port {port} cannot be used: {error.strerror or error}."
        ) from error
    return found


class _Server(uvicorn.Server):
    """One that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def run(model: TableModel, at: socket.socket, ready: Callable[[], None]) -> None:
    """Answer requests until an interrupt; ``ready`` is called when the first can come."""
    config = uvicorn.Config(
        application(model), log_level="warning", access_log=False, server_header=False,
        lifespan="off", limit_concurrency=MOST_REQUESTS, timeout_keep_alive=30,
        timeout_graceful_shutdown=5, ws="none",
    )  # fmt: skip
    _Server(config, ready).run(sockets=[at])
