"""A socket, a server that is quiet, and who may ask what of a page that only this machine may see.

Other users of the machine lack the token, which is a part of every address. Pages of other sites
can send requests to it from the same browser, but neither know the token nor have the right
``Host`` and ``Origin``.
"""

import asyncio
import ctypes
import secrets
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

import uvicorn
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ulmus.exceptions import InvalidInputError

# A lasso around a million rows fits.
MOST_BYTES = 8_000_000
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    b"content-security-policy": _POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}
# The name of Starlette's threads, and seconds until one is asked again to end: a callback of
# compiled code may ignore that.
_OF_REQUESTS, _PATIENCE = "AnyIO worker thread", 0.1
_TOO_LARGE = 413, "The request is too large.\n"


class KnownHosts:
    """An application for requests to these hosts alone: other names may lead here from outside."""

    def __init__(self, application: ASGIApp, hosts: Iterable[str]) -> None:
        self._application, self._hosts = application, set(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse, a request."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        answer = PlainTextResponse(refusal[1], refusal[0]) if refusal else self._application
        await answer(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the reason where a request is not answered."""
        if _only(scope, "host") in self._hosts:
            return None
        return 421, "This server is reached by the address that the command printed.\n"


class Guard(KnownHosts):
    """One behind a token, that protects its pages by headers."""

    def __init__(self, application: ASGIApp, hosts: Iterable[str], token: str) -> None:
        super().__init__(application, hosts)
        self._root = f"/{token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As that of any host, with the headers."""

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS.items()]}
            await send(message)

        await super().__call__({**scope, "root_path": self._root}, receive, protected)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        elsewhere, origin = super()._refusal(scope), _only(scope, "origin")
        if elsewhere:
            return elsewhere
        own = origin in {f"http://{host}" for host in self._hosts}
        own |= origin is None and scope["method"] in ("GET", "HEAD")
        if not own or _only(scope, "sec-fetch-site") not in (None, "same-origin", "none"):
            return 403, "Requests of other pages are refused.\n"
        root, slash, _ = scope["path"][1:].partition("/")
        if not secrets.compare_digest(f"/{root}".encode(), self._root.encode()) or not slash:
            return 404, "There is nothing here; use the whole address that the command printed.\n"
        size = _only(scope, "content-length") or "0"
        small = size.isdecimal() and len(size) < 10 and int(size) <= MOST_BYTES
        return None if small else _TOO_LARGE


def _only(scope: Scope, name: str) -> str | None:
    """A header's value; that of one that comes twice is no valid one."""
    values = Headers(scope=scope).getlist(name)
    return ", ".join(values) if values else None


async def body_of(request: Request) -> bytes:
    """A request's body; refused as soon as it is too large, whatever its header said."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                raise HTTPException(*_TOO_LARGE)
    except ClientDisconnect as gone:
        raise HTTPException(*_TOO_LARGE) from gone
    return bytes(body)


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address, where requests wait for a server; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (while")[0]
        raise InvalidInputError(
            f"Port {port} of {host} cannot be used ({why}); give another --port, or none."
        ) from error


class Server(uvicorn.Server):
    """One that calls ``close`` when it stops, while its connections are still open."""

    def __init__(
        self, application: ASGIApp, close: Callable[[], None] = lambda: None, **settings: Any
    ) -> None:
        quiet = {"log_level": "warning", "access_log": False, "server_header": False, "ws": "none"}
        settings |= quiet | {"lifespan": "off", "timeout_keep_alive": 30}
        super().__init__(uvicorn.Config(application, **settings))
        self._close = close

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's; no thread still works for a request when it returns."""
        try:
            super().run(sockets)
        finally:
            end([thread for thread in threading.enumerate() if thread.name == _OF_REQUESTS])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Closed, and as uvicorn's."""
        await asyncio.to_thread(self._close)
        await super().shutdown(sockets)


def end(threads: Iterable[threading.Thread]) -> None:
    """End threads, whatever they work on, and wait for it; a call of compiled code returns first.

    Before Python 3.14 the process aborts where a thread comes back from C++ once Python ends.
    """
    stop = ctypes.pythonapi.PyThreadState_SetAsyncExc
    while working := [thread for thread in threads if thread.is_alive()]:
        for thread in working:
            stop(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit))
        working[0].join(_PATIENCE)
