"""``ulmus cluster`` and ``ulmus embed``: rows of a table without a target."""

import shlex
import sys
from argparse import Namespace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score, silhouette_score

from ulmus.arguments import figure
from ulmus.backends.namespace import extra
from ulmus.cli.printing import (
    check_free,
    drawing,
    facts,
    note,
    stem_of,
    table,
    tell,
    watching,
    width,
)
from ulmus.cli.reading import read_data
from ulmus.cli.results import check_result, rounded, row_names, write_columns
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.kmeans import ELMKMeans
from ulmus.estimators.layout import ELMLayout
from ulmus.estimators.spectral_clustering import ELMSpectralClustering
from ulmus.exceptions import InvalidInputError
from ulmus.files import write_text
from ulmus.metrics import clustering_accuracy
from ulmus.plotting import EmbeddingDisplay
from ulmus.plotting.html_map import MOST_CELLS, Words, html_map, words_of
from ulmus.tables import Table, TableEncoder
from ulmus.tables.cells import words_of as words_of_cells
from ulmus.tables.table_model import ClippedColumns
from ulmus.typing import Rows
from ulmus.validation import missing

# A graph over more rows than these takes minutes, k-means seconds.
_SPECTRAL_ROWS = 10_000
# Starts of k-means; of many rows fewer are needed, for they end in much the same clusters.
_STARTS, _STARTS_OF_MANY = 10, 3
# The silhouette compares all pairs of so many rows.
_SILHOUETTE_ROWS = 2000
# The map is learnt from at most so many rows; all are then placed on it.
_MAP_ROWS = 10_000
_PICTURES = ("png", "pdf", "svg", "jpg", "jpeg", "webp", "html")
# A column with more numbers than these is told apart by ranges of equally many rows.
_MOST_NUMBERS = 20
_RANGES = 5


def _rows_of(data: Table, options: Namespace, aside: str | None) -> tuple[Rows, np.ndarray | None]:
    """The encoded matrix, and the words of the column put aside or of the file's own target."""
    column = data.target if aside is None else data[aside]
    for name in dict.fromkeys([*([aside] if aside else []), *options.without]):
        data = data.without(name)
    encoder = TableEncoder().fit(data)
    X = ClippedColumns().fit_transform(encoder.transform(data))
    if X.shape[0] < 2:
        raise InvalidInputError("There is only one row; at least two are needed.")
    for sentence in (*data.notes, *encoder.notes):
        note(sentence, options.quiet)
    return X, None if column is None else _words(column)


def _words(cells: np.ndarray) -> np.ndarray:
    """A column's cells as text, None where blank; many numbers become a few ranges."""
    if cells.dtype == object:
        return cells
    values = np.asarray(cells, dtype=float)
    known = np.isfinite(values)
    words = np.full(len(values), None, dtype=object)
    if len(np.unique(values[known])) <= _MOST_NUMBERS:
        return words_of_cells(np.where(known, values, np.nan))
    cuts = np.quantile(values[known], np.linspace(0, 1, _RANGES + 1))
    codes = np.clip(np.searchsorted(cuts, values, side="right") - 1, 0, _RANGES - 1)
    names = [f"{figure(a, 4)} to {figure(b, 4)}" for a, b in pairwise(cuts)]
    words[known] = [names[k] for k in codes[known]]
    return words


# ---------------------------------------------------------------------- cluster
def cluster(options: Namespace) -> int:
    """Print the cluster of each row, and how large and how distinct the clusters are."""
    check_result(options.out, options.force)
    data = read_data(options)
    X, given = _rows_of(data, options, options.compare)
    k, n = options.clusters, X.shape[0]
    if k != "auto" and k > n:
        raise InvalidInputError(f"-k {k} is more than there are rows, {n}.")
    spectral = options.method == "spectral" or (options.method == "auto" and n <= _SPECTRAL_ROWS)
    method = ELMSpectralClustering if spectral else ELMKMeans
    starts = _STARTS if n <= _SPECTRAL_ROWS else _STARTS_OF_MANY
    with watching(f"Clustering {n:,} rows", options.quiet):
        model = method(k, n_init=starts, random_state=options.seed).fit(X)
        labels = model.labels_
        found = _described(labels, X, given, model.n_clusters_, options.seed)
    found = {"method": method.__name__, "rows": n, **found}
    if k == "auto":
        path = {name: column.tolist() for name, column in model.n_clusters_path_.items()}
        found["n_clusters"] = path
    clusters = [int(label) for label in labels]
    write_columns(options, dict([row_names(data), ("cluster", labels)]))
    if options.out:
        last = f"The cluster of each of {n:,} rows: {options.out}"
        return tell(options, {**found, "out": options.out}, *_lines(found, width()), last)
    if not options.json:
        for line in _lines(found, width(sys.stderr)):
            note(line, options.quiet)
        again = shlex.join(["ulmus", "embed", options.data, "--plot"])
        note("--out FILE writes them to a file; to look at the rows:", options.quiet, again)
    return tell(options, {**found, "clusters": clusters})


def _described(
    labels: np.ndarray, X: Rows, given: np.ndarray | None, k: int, seed: int
) -> dict[str, Any]:
    """Sizes, the silhouette on some of the rows, and how they agree with a column."""
    found: dict[str, Any] = {"sizes": np.bincount(labels, minlength=k).tolist(), "silhouette": None}
    some = np.random.default_rng(seed).permutation(len(labels))[:_SILHOUETTE_ROWS]
    if 2 <= len(np.unique(labels[some])) < len(some):
        found["silhouette"] = float(silhouette_score(X[some], labels[some]))
    known = np.array([word is not None for word in given]) if given is not None else np.zeros(0)
    if given is not None and known.any():
        truth = np.unique(given[known].astype(str), return_inverse=True)[1]
        found["accuracy"] = float(clustering_accuracy(truth, labels[known]))
        found["mutual_information"] = float(normalized_mutual_info_score(truth, labels[known]))
    return found


def _lines(found: dict[str, Any], columns: int) -> list[str]:
    sizes = [
        (k, f"{size:,}", f"{size / found['rows']:.1%}") for k, size in enumerate(found["sizes"])
    ]
    pairs = [("method", found["method"])]
    if "n_clusters" in found:
        scores = zip(*found["n_clusters"].values(), strict=True)
        words = ", ".join(f"{k}: {score:.2f}" for k, score in scores)
        pairs.append(("score of each number of clusters", words))
    if found["silhouette"] is not None:
        pairs.append(("silhouette", f"{found['silhouette']:.3f} (1: far apart, 0: touching)"))
    if "accuracy" in found:
        agree = f"{found['accuracy']:.1%} of rows, mutual information "
        pairs.append(("agrees with the column", agree + f"{found['mutual_information']:.3f}"))
    return [*table(("cluster", "rows", "share"), sizes, columns), *facts(pairs, columns)]


# ---------------------------------------------------------------------- embed
def embed(options: Namespace) -> int:
    """Print the coordinates of each row, and draw them if that is wanted."""
    picture = _picture(options)
    check_result(options.out, options.force)
    check_free(picture, options.force)
    if options.dims is None:
        extra("pacmap", "maps", "A map without --dims")
    data = read_data(options)
    X, colour = _rows_of(data, options, options.color)
    n = X.shape[0]
    if n > _MAP_ROWS:
        words = f"The map was learnt from {_MAP_ROWS:,} random rows, and has all of them."
        note(words, options.quiet)
    with watching(f"Mapping {n:,} rows", options.quiet):
        if options.dims is None:
            layout = ELMLayout(max_rows=_MAP_ROWS, random_state=options.seed)
            places = layout.fit_transform(X)
        else:
            some = np.random.default_rng(options.seed).permutation(n)[:_MAP_ROWS]
            some = some if len(some) < n else np.arange(n)
            model = ELMEmbedding(n_components=options.dims, random_state=options.seed).fit(X[some])
            places = np.asarray(model.transform(X), dtype=float)
    if options.out or not picture:
        names = (f"x{k + 1}" for k in range(places.shape[1]))
        coordinates = zip(names, (rounded(x, 8) for x in places.T), strict=True)
        write_columns(options, dict([row_names(data), *coordinates]))
    if picture and picture.lower().endswith(".html"):
        _write_page(picture, places[:, :2], data, colour, options)
    elif picture:
        with drawing(picture, (9, 7), dpi=150) as figure:
            display = EmbeddingDisplay.from_predictions(places[:, :2], colour, ax=figure.subplots())
            if display.legend_ is not None and options.color:
                display.legend_.set_title(options.color)
    found = {"rows": n, "dims": places.shape[1], "out": options.out, "picture": picture}
    if not options.out:
        found["coordinates"] = places.tolist()
    if not (options.out or picture or options.json):
        again = shlex.join(["ulmus", "embed", options.data, "--plot"])
        note(f"Coordinates of {n:,} rows; to draw them:", options.quiet, again)
    written = {"Coordinates": options.out, "A map": picture}
    lines = [f"{what} of {n:,} rows: {path}" for what, path in written.items() if path]
    return tell(options, found, *lines)


def _write_page(
    path: str, points: np.ndarray, data: Table, colour: np.ndarray | None, options: Namespace
) -> None:
    """The map as one HTML file, with the cells or the image of each row."""
    images: np.ndarray | None = None
    cells: dict[str, Words] = {}
    colours: dict[str, Words] = {}
    if data.image_shape and data.matrix is not None:
        images = np.reshape(data.matrix, (len(data), *data.image_shape))
        cells["file"] = [Path(name).name for name in data.files]
    else:
        columns = {name: data[name] for name in data.names[:MOST_CELLS]}
        cells = {name: words_of(column, ~missing(column)) for name, column in columns.items()}
        colours = {name: list(_words(column)) for name, column in columns.items()}
    first = options.color or "target"
    if colour is not None:
        colours = {first: list(colour), **{k: v for k, v in colours.items() if k != first}}
    title = f"Map of {Path(options.data).name}" if options.data != "-" else "Map of rows"
    page = html_map(points, cells=cells, colours=colours, images=images, title=title)
    check_free(path, options.force)  # again: it may have appeared meanwhile
    write_text(path, page)


def _picture(options: Namespace) -> str | None:
    """Where the picture goes, or None."""
    if options.plot is None:
        return None
    path: str = options.plot or f"{stem_of(options.data)}-map.png"
    if path.rpartition(".")[2].lower() not in _PICTURES:
        endings = f"{', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}"
        raise InvalidInputError(
            f"--plot {path} is not the name of a picture; let it end in {endings}."
        )
    if options.dims is not None and options.dims < 2:
        raise InvalidInputError("A picture needs two dimensions; use --dims 2, or leave it out.")
    return path
