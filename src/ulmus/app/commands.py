"""``ulmus label``, a page to label rows on, and ``ulmus serve``, predictions over HTTP."""

import re
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
    opened, data = _opened(options), Path(options.data).absolute()
    with web.listening_socket(options.port) as at:
        beside = data.with_name(f"{data.name}.labels.jsonl")
        journal = Journal(options.journal or beside, header_of(opened))
        session = Session(opened, journal, options.seed)
        token, port = secrets.token_urlsafe(24), at.getsockname()[1]
        url = f"http://{web.LOOPBACK}:{port}/{token}/"
        try:
            tell(options, {"url": url, "journal": str(journal.path), "rows": len(opened)}, url)
            words = f"{len(opened):,} rows; labels go to {journal.path}. Ctrl-C stops."
            note(words, options.quiet)
            if not options.no_open:  # some browsers return only when they are closed
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
            web.run(session, token, at)
        except KeyboardInterrupt:  # the way to stop it
            note(f"Stopped; {session.version:,} actions are in {journal.path}.", options.quiet)
    return 0


def _opened(options: Namespace) -> OpenedTable:
    """The table, and notes about it."""
    table, without = read_data(options), tuple(options.without)
    shape = _shape(options.image_shape)
    opened = opened_table(table, options.target, without=without, shape=shape)
    way = "The map is US-ELM's own; with the extra maps it is a clearer one."
    for sentence in opened.notes if has_layout() else (*opened.notes, way):
        note(sentence, options.quiet)
    return opened


def module(name: str, command: str) -> Any:
    """A module that knows HTTP, or an error that says how to install what it needs."""
    for package in ("starlette", "uvicorn"):
        extra(package, "app", command)
    return import_module(f"ulmus.app.{name}")


def _shape(text: str | None) -> tuple[int, ...]:
    """Height and width, and 3 for colour, of a text such as 28x28."""
    if text is None:
        return ()
    if not re.fullmatch(r"[1-9]\d*x[1-9]\d*(x3)?", text.lower(), re.ASCII):
        raise InvalidInputError(f"--image-shape {text} is not a shape; 28x28 is one, and 32x32x3.")
    return tuple(map(int, text.lower().split("x")))


# ---------------------------------------------------------------------- predictions
def serve(options: Namespace) -> int:
    """Load the model, and answer requests until an interrupt."""
    web = module("serving", "ulmus serve")
    model = load_model(options.model)
    if model.encoder.image_shape:
        raise InvalidInputError("A model of images cannot be served; predict their folder.")
    with web.listen(options.host, options.port) as at:
        host = f"[{options.host}]" if ":" in options.host else options.host
        url = f"http://{host}:{at.getsockname()[1]}/"
        words = f"Predictions of {model.target!r}; the page says how to ask. Ctrl-C stops."
        try:
            tell(options, {"url": url, "target": model.target}, url)
            note(words, options.quiet)
            web.run(model, at)
        except KeyboardInterrupt:  # the way to stop it
            note("Stopped.", options.quiet)
    return 0
