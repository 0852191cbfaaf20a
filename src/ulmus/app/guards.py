"""Who may ask what of a page that only this machine should see.

Other users of the machine lack the token, which is a part of every address. Pages of other sites
can send requests to it from the same browser, but neither know the token nor have the right
``Host`` and ``Origin``.
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

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

_ELSEWHERE = 421, b"This server is reached by the address that the command printed."

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


class TooLarge(Exception):
    """A request has more bytes than the page ever sends."""


class Guard:
    """An application behind a token, for requests to these hosts alone."""

    def __init__(self, application: Application, token: str, hosts: tuple[str, ...]) -> None:
        self._application, self._root = application, f"/{token}"
        self._hosts = {host.encode() for host in hosts}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer, or refuse, a request."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":  # no route has a web socket
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        await self._application({**scope, "root_path": self._root}, receive, _protected(send))

    def _refusal(self, scope: Message) -> tuple[int, bytes] | None:
        """The status and the reason where a request is not answered."""
        headers = scope["headers"]
        if _only(headers, b"host") not in self._hosts:
            return _ELSEWHERE
        origin, reads = _only(headers, b"origin"), scope["method"] in ("GET", "HEAD")
        if origin not in self._origins and not (reads and origin is None):
            return 403, b"Requests of other pages are refused."
        if _only(headers, b"sec-fetch-site") not in (None, b"same-origin", b"none"):
            return 403, b"Requests of other pages are refused."
        root, _, _ = scope["path"][1:].partition("/")
        known = secrets.compare_digest(f"/{root}".encode(), self._root.encode())
        if not known or not scope["path"].startswith(f"{self._root}/"):
            return 404, b"There is nothing here; use the whole address that the command printed."
        size = _only(headers, b"content-length") or b"0"
        if not size.isdigit() or len(size) > 9 or int(size) > MOST_BYTES:
            return 413, b"The request is too large."
        return None


def at_hosts(application: Application, hosts: Sequence[str]) -> Application:
    """An application for requests to these hosts alone: another name may lead here from outside."""
    known = {host.encode() for host in hosts}

    async def guarded(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _only(scope["headers"], b"host") not in known:
            await _refuse(send, *_ELSEWHERE)
        else:
            await application(scope, receive, send)

    return guarded


def _only(headers: list[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """A header's value; that of one that comes twice is no valid one."""
    values = [value for key, value in headers if key.lower() == name]
    return None if not values else values[0] if len(values) == 1 else b"\0"


def _protected(send: Send) -> Send:
    """Send with the headers that protect a page."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *_HEADERS.items()]}
        await send(message)

    return sent


async def _refuse(send: Send, status: int, reason: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": reason + b"\n"})


async def body_of(receive: Receive) -> bytes:
    """A request's body; `TooLarge` as soon as it is, whatever the header said."""
    parts, size, more = list[bytes](), 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":  # the other side is gone
            raise TooLarge
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > MOST_BYTES:
            raise TooLarge
    return b"".join(parts)
