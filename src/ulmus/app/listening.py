"""A socket at an address, and a server that says when the first request can come."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from ulmus.exceptions import InvalidInputError


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 takes any that is free."""
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise InvalidInputError(
            f"Port {port} of {host} cannot be used ({error.strerror or error}); give another "
            "--port, or none."
        ) from error
    return found


class Server(uvicorn.Server):
    """One that calls ``ready`` when it is, and ``close`` when it stops."""

    def __init__(
        self,
        application: Any,
        ready: Callable[[], None],
        close: Callable[[], None] = lambda: None,
        **settings: Any,
    ) -> None:
        quiet = {"log_level": "warning", "access_log": False, "server_header": False, "ws": "none"}
        settings |= quiet | {"lifespan": "off", "timeout_keep_alive": 30}
        super().__init__(uvicorn.Config(application, **settings))
        self._ready, self._close = ready, close

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, and ready."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Closed, and as uvicorn's."""
        await asyncio.to_thread(self._close)
        await super().shutdown(sockets)
