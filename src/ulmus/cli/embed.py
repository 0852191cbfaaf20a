"""``ulmus embed``: a map of the rows, as coordinates and as a picture."""

import shlex
from argparse import Namespace

import numpy as np

from ulmus.cli.picture import draw_map
from ulmus.cli.places import check_free, read_rows, stem_of, write_rows
from ulmus.cli.printing import note, print_json, say, watching
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.exceptions import InvalidInputError

__all__ = ["embed"]

# The map is learnt from at most so many rows; all are then placed on it.
_ROWS = 10_000
_PICTURES = ("png", "pdf", "svg", "jpg", "jpeg", "webp")


def embed(options: Namespace) -> int:
    """Print the coordinates of each row, and draw them if that is wanted."""
    picture = _picture(options)
    check_free(options.out, options.force)
    check_free(picture, options.force)
    X, colour = read_rows(options, options.color)
    n = X.shape[0]
    some = np.arange(n)
    if n > _ROWS:
        some = np.random.default_rng(options.seed).permutation(n)[:_ROWS]
        note(f"The map was learnt from {_ROWS:,} random rows, and has all of them.", options.quiet)
    with watching(f"Mapping {n:,} rows", options.quiet):
        model = ELMEmbedding(n_components=options.dims, random_state=options.seed).fit(X[some])
        places = np.asarray(model.transform(X), dtype=float)
    headings = [f"x{k + 1}" for k in range(options.dims)]
    if options.out or not picture:
        write_rows(options, headings, ([f"{value:.8g}" for value in row] for row in places))
    if picture:
        draw_map(places[:, :2], colour, options.color, picture)
    if options.json:
        found = {"rows": n, "dims": options.dims, "out": options.out, "picture": picture}
        print_json(found if options.out else {**found, "coordinates": places.tolist()})
        return 0
    if options.out:
        say(f"Coordinates of {n:,} rows: {options.out}")
    if picture:
        say(f"A map of {n:,} rows: {picture}")
    elif not options.out:
        again = shlex.join(["ulmus", "embed", options.data, "--plot"])
        note(f"Coordinates of {n:,} rows; to draw them:", options.quiet, again)
    return 0


def _picture(options: Namespace) -> str | None:
    """Where the picture goes, or None."""
    if options.plot is None:
        return None
    path: str = options.plot or f"{stem_of(options.data)}-map.png"
    if path.rpartition(".")[2].lower() not in _PICTURES:
        raise InvalidInputError(
            f"--plot {path} is no picture's name; let it end in {', '.join(_PICTURES[:-1])} or "
            f"{_PICTURES[-1]}."
        )
    if options.dims < 2:
        raise InvalidInputError("A picture needs two dimensions; use --dims 2.")
    return path
