"""A model over HTTP: rows as JSON or CSV in, predictions as JSON or CSV out."""

import json
import socket
from collections.abc import Callable, Mapping
from html import escape
from io import StringIO
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ulmus.app.batching import (
    MOST_ROWS,
    Columns,
    Together,
    csv_table,
    json_rows,
    json_table,
    predicted,
)
from ulmus.app.guards import TooLarge, body_of
from ulmus.app.listening import Server
from ulmus.cli.results import plain_values, write_text_rows
from ulmus.exceptions import InvalidInputError, UlmusError
from ulmus.tables import TableModel
from ulmus.version import __version__

# Requests at a time; others get the status 503.
MOST_REQUESTS = 64
# More rows than these are predicted in another thread, so that others need not wait.
_FEW = 64
_JSON_TYPES = {"number": "number", "boolean": "boolean"}


def application(model: TableModel) -> Starlette:
    """The routes: a prediction, the model's state, and what can be asked."""
    schema, together = _schema(model), Together(model)

    async def answer(body: bytes, headers: Mapping[str, str]) -> Columns:
        if "csv" in headers.get("content-type", ""):
            table = csv_table(body)
        else:
            rows = json_rows(body)
            if len(rows) <= _FEW and together.takes(rows):
                return await together.predicted(rows)
            table = json_table(model, rows)
        if len(table) > MOST_ROWS:
            raise InvalidInputError(f"{len(table):,} rows are more than {MOST_ROWS:,}; send fewer.")
        return await run_in_threadpool(predicted, model, table)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "target": model.target, "task": model.task})

    async def openapi(_: Request) -> Response:
        return JSONResponse(schema)

    async def page(_: Request) -> Response:
        return HTMLResponse(_page(model, schema))

    async def predict(request: Request) -> Response:
        try:
            found = await answer(await body_of(request.receive), request.headers)
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
def run(model: TableModel, at: socket.socket, ready: Callable[[], None]) -> None:
    """Answer requests until an interrupt; ``ready`` is called when the first can come."""
    app = application(model)
    limited = Server(app, ready, limit_concurrency=MOST_REQUESTS, timeout_graceful_shutdown=5)
    limited.run(sockets=[at])
