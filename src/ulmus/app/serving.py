"""A model over HTTP: rows as JSON or CSV in, predictions as JSON or CSV out."""

import json
import socket
from html import escape
from io import StringIO
from ipaddress import ip_address
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ulmus.app.batching import MOST_ROWS, Together, csv_table, json_rows, json_table, predicted
from ulmus.app.listening import KnownHosts, Server, body_of, listen
from ulmus.cli.results import Columns, plain_values, write_text_rows
from ulmus.exceptions import InvalidInputError, UlmusError
from ulmus.tables import TableModel
from ulmus.tables.columns import Category, Number
from ulmus.version import __version__

__all__ = ["application", "listen", "run"]

# Requests at a time; others get the status 503.
MOST_REQUESTS = 64
# More rows than these are predicted in another thread, so that others need not wait.
_FEW = 64
_JSON_TYPES = {"number": "number", "boolean": "boolean"}


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
        exception_handlers={UlmusError: _unusable},
    )


async def _unusable(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error).replace("--interval", "interval")}, 422)


def _interval(request: Request) -> float | None:
    """How many of a hundred rows intervals are to hold, of a query such as ?interval=90."""
    text = request.query_params.get("interval")
    try:
        percent = None if text is None else float(text)
    except ValueError:
        percent = 0.0
    if percent is not None and not 0 < percent < 100:
        raise InvalidInputError(f"interval={text} is no number between 0 and 100, such as 90.")
    return percent


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
        "description": "how many of a hundred new values lie between lower and upper, such as 90",
    }
    content = {"application/json": {"schema": asked}, "text/csv": {}}
    answers = {"200": {"description": "a list for each column of the answer"}}
    predict = {
        "summary": f"Predict {model.target!r} for some rows",
        "parameters": [interval] if hasattr(model.estimator, "predict_interval") else [],
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
    row = schema["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
    fields = row["schema"]["properties"]["rows"]["items"]["properties"]
    lines = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(about['description'])}</td></tr>"
        for name, about in fields.items()
    )
    row = {name: _typical(model, name) for name in fields}
    example = json.dumps({"rows": [row]}, ensure_ascii=False)
    more = ""
    if schema["paths"]["/predict"]["post"]["parameters"]:
        more = (
            "<p><code>POST /predict?interval=90</code> answers with <code>lower</code> and "
            "<code>upper</code> too: 90 of 100 new values lie between them.</p>"
        )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" '
        f'content="light dark"><title>{escape(model.target)}</title><style>body{{font-family:'
        "sans-serif;max-width:45em;margin:2em auto;padding:0 1em;overflow-wrap:anywhere}pre{white-"
        "space:pre-wrap;max-height:12em;overflow-y:auto}th,td{text-align:left;padding:.1em 1em 0 0}"
        f"</style><h1>Predictions of {escape(model.target)}</h1><p><code>POST "
        "/predict</code> takes rows as JSON, or as CSV with the content type <code>text/csv</code>,"
        " and answers with JSON, or with CSV where <code>text/csv</code> is accepted.</p>"
        f"<pre>{escape(example)}</pre>{more}<table><tr><th>column<th>holds</tr>{lines}</table><p>"
        '<a href="openapi.json">OpenAPI</a>, <a href="health">health</a></p></html>'
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
