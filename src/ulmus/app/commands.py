"""``ulmus label``, a page to label rows on, and ``ulmus serve``, predictions over HTTP."""

import secrets
import threading
import webbrowser
from argparse import Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

from ulmus.app.journal import Journal
from ulmus.app.opened_table import OpenedTable, opened_table
from ulmus.app.places import has_layout
from ulmus.app.session import Session, header_of
from ulmus.backends.namespace import extra
from ulmus.cli.printing import note, tell
from ulmus.cli.reading import load_model, read_data
from ulmus.exceptions import InvalidInputError


def label(options: Namespace) -> int:
    """Read, open the journal, serve the page until an interrupt."""
    web = module("server", "ulmus label")
    if options.data == "-":
        raise InvalidInputError("ulmus label needs a file or folder, for the journal beside it.")
    opened = _opened(options)
    at = web.listening_socket(options.port)
    port, token = at.getsockname()[1], secrets.token_urlsafe(24)
    url = f"http://{web.LOOPBACK}:{port}/{token}/"
    with at:
        journal = Journal(options.journal or _beside(Path(options.data)), header_of(opened))
        session = Session(opened, journal, options.seed)
        session.start()
        guard = web.application(session, token, port)
        try:
            web.serve(session, guard, at, lambda: _announce(options, url, journal, len(opened)))
        except KeyboardInterrupt:  # the way to stop it
            note(f"Stopped; {session.version:,} actions are in {journal.path}.", options.quiet)
    return 0


def _opened(options: Namespace) -> OpenedTable:
    """The table, and notes about it."""
    opened = opened_table(
        read_data(options),
        options.target,
        without=tuple(options.without),
        shape=_shape(options.image_shape),
    )
    way = (
        "" if has_layout() else "The map is US-ELM's own; with the extra maps it is a clearer one."
    )
    for sentence in filter(None, (*opened.notes, way)):
        note(sentence, options.quiet)
    return opened


def _announce(options: Namespace, url: str, journal: Journal, rows: int) -> None:
    """Print the address, and open it in the browser."""
    tell(options, {"url": url, "journal": str(journal.path), "rows": rows}, url)
    note(f"{rows:,} rows; labels go to {journal.path}. Ctrl-C stops.", options.quiet)
    if not options.no_open:  # some browsers return only when they are closed
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def module(name: str, command: str) -> Any:
    """A module that knows HTTP, or an error that says how to install what it needs."""
    for package in ("starlette", "uvicorn"):
        extra(package, "app", command)
    return import_module(f"ulmus.app.{name}")


def _beside(data: Path) -> Path:
    """The journal's default place."""
    data = data.absolute()
    return data.with_name(f"{data.name}.labels.jsonl")


def _shape(text: str | None) -> tuple[int, ...]:
    """Height and width, and 3 for colour, of a text such as 28x28."""
    if text is None:
        return ()
    parts = text.lower().split("x")
    shape = tuple(int(part) for part in parts if part.isdigit())
    if (
        len(shape) != len(parts)
        or len(shape) not in (2, 3)
        or 0 in shape
        or shape[2:] not in ((), (3,))
    ):
        raise InvalidInputError(f"--image-shape {text} is no shape; 28x28 is one, and 32x32x3.")
    return shape


# ---------------------------------------------------------------------- predictions
def serve(options: Namespace) -> int:
    """Load the model, and answer requests until an interrupt."""
    web = module("serving", "ulmus serve")
    model = load_model(options.model)
    if model.encoder.image_shape:
        raise InvalidInputError("A model of images cannot be served; predict their folder.")
    at = web.listen(options.host, options.port)
    host = f"[{options.host}]" if ":" in options.host else options.host
    url = f"http://{host}:{at.getsockname()[1]}/"
    words = f"Predictions of {model.target!r}; the page says how to ask. Ctrl-C stops."

    def ready() -> None:
        tell(options, {"url": url, "target": model.target}, url)
        note(words, options.quiet)

    with at:
        try:
            web.run(model, at, ready)
        except KeyboardInterrupt:  # the way to stop it
            note("Stopped.", options.quiet)
    return 0
