"""``ulmus serve``: a model's predictions over HTTP."""

from argparse import Namespace
from importlib import import_module

from ulmus.backends.namespace import extra
from ulmus.cli.printing import note, print_json, say
from ulmus.cli.reading import load_model
from ulmus.exceptions import InvalidInputError


def serve(options: Namespace) -> int:
    """Load the model, and answer requests until an interrupt."""
    for package in ("starlette", "uvicorn"):
        extra(package, "app", "ulmus serve")
    web, listening = (import_module(f"ulmus.app.{name}") for name in ("serving", "listening"))
    model = load_model(options.model)
    if model.encoder.image_shape:
        raise InvalidInputError("A model of images cannot be served; predict their folder.")
    at = listening.listen(options.host, options.port)
    host = f"[{options.host}]" if ":" in options.host else options.host
    url = f"http://{host}:{at.getsockname()[1]}/"

    def ready() -> None:
        if options.json:
            print_json({"url": url, "target": model.target})
        else:
            say(url)
        note(
            f"Predictions of {model.target!r}; the page says how to ask. Ctrl-C stops.",
            options.quiet,
        )

    with at:
        try:
            web.run(model, at, ready)
        except KeyboardInterrupt:  # the way to stop it
            note("Stopped.", options.quiet)
    return 0
