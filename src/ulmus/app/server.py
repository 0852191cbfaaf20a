"""The labelling page over HTTP: routes, and a server that listens to this machine alone."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ulmus.app.exports import labels_csv, model_file, onnx_file
from ulmus.app.listening import Guard, Server, body_of, end, listen
from ulmus.app.session import Session
from ulmus.exceptions import UlmusError

LOOPBACK = "127.0.0.1"
# Windows at a time; each has a connection that stays open.
_MOST_WINDOWS = 30
_FOLDER = Path(__file__).with_name("static")
_BYTES = "application/octet-stream"
# The page's files and their types, which a browser must not guess.
_STATIC = {
    "page.html": "text/html",
    "page.css": "text/css",
    "page.js": "text/javascript",
    "map.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_EXPORTS = {
    "labels.csv": (labels_csv, "text/csv"),
    "model.ulmus": (model_file, _BYTES),
    "model.onnx": (onnx_file, _BYTES),
}


def application(session: Session, token: str, port: int) -> Guard:
    """The page of a session, for who knows the token."""
    page = _Page(session)
    app = Starlette(
        routes=[
            Route("/", page.static),
            Route("/events", page.events),
            Route("/places", page.places),
            Route("/colours", page.colours),
            Route("/row/{row:int}", page.row),
            Route("/picture/{row:int}", page.picture),
            Route("/act", page.act, methods=["POST"]),
            Route("/export/{name}", page.export),
            *(Route(f"/{name}", page.static) for name in _STATIC),
        ],
        exception_handlers={
            UlmusError: lambda _, error: PlainTextResponse(str(error), 400),
            OSError: lambda _, error: PlainTextResponse(
                f"The journal cannot be written: {error.strerror}.", 507
            ),
        },
    )
    return Guard(app, [f"{name}:{port}" for name in (LOOPBACK, "localhost")], token)


def listening_socket(port: int = 0) -> socket.socket:
    """A socket that only this machine reaches; port 0 takes any free one."""
    return listen(LOOPBACK, port)


def run(session: Session, token: str, at: socket.socket) -> None:
    """Work and answer requests until an interrupt, which ends all of it."""
    app = application(session, token, at.getsockname()[1])
    session.start()
    try:
        Server(app, session.close, timeout_graceful_shutdown=2).run(sockets=[at])
    finally:
        session.close()
        end(session.threads)


class _Page:
    """Answers to requests; those that are no coroutines are given in a thread of their own."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def static(self, request: Request) -> Response:
        """A file of the package: only the names in the routes lead here."""
        name = request.url.path.rpartition("/")[2] or "page.html"
        return Response((_FOLDER / name).read_bytes(), media_type=_STATIC[name])

    def places(self, request: Request) -> Response:
        found = self._session.places
        content = b"" if found is None else found.astype("<f4").tobytes()
        return Response(content, media_type=_BYTES)

    def colours(self, request: Request) -> Response:
        return Response(self._session.colours(), media_type=_BYTES)

    def row(self, request: Request) -> Response:
        row, opened = self._number(request), self._session.opened
        found = {"row": row, "name": opened.name(row), "image": bool(opened.shape)}
        return JSONResponse(found | {"cells": [] if opened.shape else opened.cells(row)})

    def picture(self, request: Request) -> Response:
        row, opened = self._number(request), self._session.opened
        if not opened.shape:
            raise HTTPException(404, "There is no such picture.")
        return Response(opened.picture(row), media_type="image/png")

    def _number(self, request: Request) -> int:
        row: int = request.path_params["row"]
        if row >= len(self._session.opened):
            raise HTTPException(404, "There is no such row.")
        return row

    async def act(self, request: Request) -> Response:
        if request.headers.get("content-type") != "application/json":
            raise HTTPException(415, "An action is application/json.")
        try:
            action = json.loads(await body_of(request))
        except (ValueError, RecursionError):
            action = None
        if not isinstance(action, dict):
            raise HTTPException(400, "An action is an object in JSON.")
        return JSONResponse({"version": await run_in_threadpool(self._session.act, action)})

    def export(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _EXPORTS:
            raise HTTPException(404, "There is no such export.")
        answer = self._session.newest_answer()
        if answer is None:
            words = "There is no model yet; give two classes a label each."
            raise HTTPException(409, self._session.failure or words)
        write, kind = _EXPORTS[name]
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(write(self._session.opened, answer), media_type=kind, headers=headers)

    async def events(self, request: Request) -> Response:
        if self._session.windows >= _MOST_WINDOWS:
            raise HTTPException(503, "Too many windows are open; close some.")
        return StreamingResponse(self._changes(), media_type="text/event-stream")

    async def _changes(self) -> AsyncIterator[str]:
        """What there is to see, now and after every change."""
        session, changed, loop = self._session, asyncio.Event(), asyncio.get_running_loop()
        with session.listening(lambda: loop.call_soon_threadsafe(changed.set)):
            while not session.closed:
                changed.clear()
                yield f"data: {json.dumps(await asyncio.to_thread(session.look))}\n\n"
                await changed.wait()
