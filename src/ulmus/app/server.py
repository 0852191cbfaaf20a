"""The labelling page over HTTP: routes, and a server that listens to this machine alone."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ulmus.app.exports import labels_csv, model_file, onnx_file
from ulmus.app.guards import Guard, TooLarge, body_of
from ulmus.app.listening import Server, listen
from ulmus.app.session import Session
from ulmus.exceptions import UlmusError

LOOPBACK = "127.0.0.1"
# Windows at a time; each has a connection that stays open.
_MOST_WINDOWS = 30
_STATIC = {
    "": ("page.html", "text/html"),
    "page.css": ("page.css", "text/css"),
    "page.js": ("page.js", "text/javascript"),
    "map.js": ("map.js", "text/javascript"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
_EXPORTS: dict[str, tuple[Callable[..., bytes], str]] = {
    "labels.csv": (labels_csv, "text/csv"),
    "model.ulmus": (model_file, "application/octet-stream"),
    "model.onnx": (onnx_file, "application/octet-stream"),
}


def application(session: Session, token: str, port: int) -> Guard:
    """The page of a session, for who knows the token."""
    routes = [_static(name, *rest) for name, rest in _STATIC.items()]
    routes += [
        Route("/events", _of(session, _events)),
        Route("/places", _of(session, _places)),
        Route("/colours", _of(session, _colours)),
        Route("/row/{row:int}", _of(session, _row)),
        Route("/picture/{row:int}", _of(session, _picture)),
        Route("/act", _of(session, _act), methods=["POST"]),
        Route("/export/{name}", _of(session, _export)),
    ]
    hosts = tuple(f"{name}:{port}" for name in (LOOPBACK, "localhost"))
    return Guard(Starlette(routes=routes), token, hosts)


def listening_socket(port: int = 0) -> socket.socket:
    """A socket that only this machine reaches; port 0 takes any free one."""
    return listen(LOOPBACK, port)


def serve(session: Session, guard: Guard, at: socket.socket, ready: Callable[[], None]) -> None:
    """Answer requests until an interrupt; ``ready`` is called when the first can come.

    When it stops, the windows' connections are ended.
    """
    Server(guard, ready, session.close, timeout_graceful_shutdown=2).run(sockets=[at])


# ---------------------------------------------------------------------- answers
Answering = Callable[[Session, Request], Any]


def _of(session: Session, answering: Answering) -> Callable[[Request], Any]:
    """An endpoint; errors that were foreseen become sentences."""

    async def endpoint(request: Request) -> Response:
        try:
            if asyncio.iscoroutinefunction(answering):
                found: Response = await answering(session, request)
                return found
            return await asyncio.to_thread(answering, session, request)
        except UlmusError as error:
            return PlainTextResponse(str(error), 400)
        except TooLarge:
            return PlainTextResponse("The request is too large.", 413)
        except OSError as error:
            return PlainTextResponse(f"The journal cannot be written: {error.strerror}.", 507)

    return endpoint


def _static(place: str, name: str, kind: str) -> Route:
    """A file of the package, read once; no path of a request is ever opened."""
    content = files("ulmus.app").joinpath("static", name).read_bytes()

    async def endpoint(request: Request) -> Response:
        return Response(content, media_type=kind)

    return Route(f"/{place}", endpoint)


def _places(session: Session, request: Request) -> Response:
    found = session.places
    content = b"" if found is None else found.astype("<f4").tobytes()
    return Response(content, media_type="application/octet-stream")


def _colours(session: Session, request: Request) -> Response:
    return Response(session.colours(), media_type="application/octet-stream")


def _row(session: Session, request: Request) -> Response:
    row = _number(session, request)
    if row is None:
        return PlainTextResponse("There is no such row.", 404)
    opened = session.opened
    found = {"row": row, "name": opened.name(row), "image": bool(opened.shape)}
    return _json(found | {"cells": [] if opened.shape else opened.cells(row)})


def _picture(session: Session, request: Request) -> Response:
    row = _number(session, request)
    if row is None or not session.opened.shape:
        return PlainTextResponse("There is no such picture.", 404)
    return Response(session.opened.picture(row), media_type="image/png")


def _number(session: Session, request: Request) -> int | None:
    row = int(request.path_params["row"])
    return row if row < len(session.opened) else None


async def _act(session: Session, request: Request) -> Response:
    if request.headers.get("content-type") != "application/json":
        return PlainTextResponse("An action is application/json.", 415)
    try:
        action = json.loads(await body_of(request.receive))
    except (ValueError, RecursionError):
        action = None
    if not isinstance(action, dict):
        return PlainTextResponse("An action is an object in JSON.", 400)
    version = await asyncio.to_thread(session.act, action)
    return _json({"version": version})


def _export(session: Session, request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _EXPORTS:
        return PlainTextResponse("There is no such export.", 404)
    answer = session.newest_answer()
    if answer is None:
        words = "There is no model yet; give two classes a label each."
        return PlainTextResponse(session.failure or words, 409)
    write, kind = _EXPORTS[name]
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(write(session.opened, answer), media_type=kind, headers=headers)


async def _events(session: Session, request: Request) -> Response:
    if session.windows >= _MOST_WINDOWS:
        return PlainTextResponse("Too many windows are open; close some.", 503)
    return StreamingResponse(_changes(session), media_type="text/event-stream")


async def _changes(session: Session) -> AsyncIterator[str]:
    """What there is to see, now and after every change."""
    changed, loop = asyncio.Event(), asyncio.get_running_loop()
    with session.listening(lambda: _wake(loop, changed)):
        while not session.closed:
            changed.clear()
            yield f"data: {json.dumps(await asyncio.to_thread(session.look))}\n\n"
            await changed.wait()


def _wake(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(event.set)


def _json(found: object) -> Response:
    content = json.dumps(found, ensure_ascii=False).encode()
    return Response(content, media_type="application/json")
