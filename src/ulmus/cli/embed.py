"""``ulmus embed``: rows on a map, as coordinates and as a picture."""

import shlex
import sys

import numpy as np

from ulmus.cli.places import check_free, stem_of, write_new
from ulmus.cli.printing import csv_text, note, print_json, say, write_csv
from ulmus.cli.rows import read_rows
from ulmus.cli.watching import watching
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.exceptions import InvalidInputError, MissingExtraError
from ulmus.files import replacing

__all__ = ["embed"]

# The map is learnt from at most so many rows, and has a place for all.
_ROWS = 10_000
_PICTURES = ("png", "pdf", "svg", "jpg", "jpeg", "webp")


def embed(options):
    """Print the coordinates of each row, and draw them if that is wanted."""
    picture = _picture(options)
    for path in (options.out, picture):
        if path:
            check_free(path, options.force)
    X, colour, notes = read_rows(options, options.color)
    with watching(f"Mapping {X.shape[0]:,} rows", options.quiet):
        some = np.arange(X.shape[0])
        if len(some) > _ROWS:
            some = np.random.default_rng(options.seed).permutation(len(some))[:_ROWS]
            notes.append(f"The map was learnt from {_ROWS:,} random rows, and has all of them.")
        model = ELMEmbedding(n_components=options.dims, random_state=options.seed).fit(X[some])
        places = np.asarray(model.transform(X), dtype=float)
    for sentence in notes:
        note(sentence, options.quiet)
    headings = [f"x{k + 1}" for k in range(options.dims)]
    rows = [[f"{value:.8g}" for value in row] for row in places]
    if options.out:
        write_new(options.out, csv_text(headings, rows), options.force)
    if picture:
        _draw(places, colour, options.color, picture)
    _tell(places, headings, rows, picture, options)
    return 0


def _picture(options):
    """Where the picture goes, or None."""
    if options.plot is None:
        return None
    path = options.plot or f"{stem_of(options.data)}-map.png"
    if path.rpartition(".")[2].lower() not in _PICTURES:
        raise InvalidInputError(
            f"--plot {path} is no picture's name; let it end in {', '.join(_PICTURES[:-1])} or "
            f"{_PICTURES[-1]}."
        )
    if options.dims < 2:
        raise InvalidInputError("A picture needs two dimensions; use --dims 2.")
    return path


def _draw(places, colour, name, path):
    """The first two columns of the map; the picture appears whole or not at all."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "Drawing needs matplotlib, which is not installed; try: pip install 'ulmus[plot]'"
        ) from error
    from ulmus.plotting import EmbeddingDisplay

    figure = Figure(figsize=(9, 7), layout="constrained")
    display = EmbeddingDisplay.from_predictions(places[:, :2], colour, ax=figure.subplots())
    if display.legend_ is not None and name:
        display.legend_.set_title(name)
    with replacing(path) as stream:
        figure.savefig(stream, dpi=150, format=path.rpartition(".")[2].lower())


def _tell(places, headings, rows, picture, options):
    n = len(places)
    if options.json:
        found = {"rows": n, "dims": len(headings), "out": options.out, "picture": picture}
        print_json(found if options.out else {**found, "coordinates": places.tolist()})
        return
    if options.out:
        say(f"Coordinates of {n:,} rows: {options.out}")
    elif not picture:
        write_csv(sys.stdout, headings, rows)
        sys.stdout.flush()
    if picture:
        say(f"A map of {n:,} rows: {picture}")
    elif not options.out:
        again = shlex.join(["ulmus", "embed", options.data, "--plot"])
        note(f"Coordinates of {n:,} rows; to draw them:", options.quiet, again)
