"""``ulmus cluster`` and ``ulmus embed``: rows of a table without a target."""

import shlex
import sys
from argparse import Namespace
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score, silhouette_score

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
    write_rows,
)
from ulmus.cli.reading import read_data
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.estimators.kmeans import ELMKMeans
from ulmus.estimators.spectral_clustering import ELMSpectralClustering
from ulmus.exceptions import InvalidInputError
from ulmus.metrics import clustering_accuracy
from ulmus.plotting import EmbeddingDisplay
from ulmus.tables import TableEncoder
from ulmus.tables.clipped_columns import ClippedColumns
from ulmus.tables.encoder import as_text
from ulmus.typing import Rows

# A graph over more rows than these takes minutes, k-means seconds.
_SPECTRAL_ROWS = 10_000
# Starts of k-means; of many rows fewer are needed, for they end in much the same clusters.
_STARTS, _STARTS_OF_MANY = 10, 3
# The silhouette compares all pairs of so many rows.
_SILHOUETTE_ROWS = 2000
# The map is learnt from at most so many rows; all are then placed on it.
_MAP_ROWS = 10_000
_PICTURES = ("png", "pdf", "svg", "jpg", "jpeg", "webp")
# A column with more numbers than these is told apart by ranges of equally many rows.
_MOST_NUMBERS = 20
_RANGES = 5


def _read_rows(options: Namespace, aside: str | None) -> tuple[Rows, np.ndarray | None]:
    """The encoded matrix, and the words of the column put aside or of the file's own target."""
    data = read_data(options)
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
        words[known] = as_text(values[known])
        return words
    cuts = np.quantile(values[known], np.linspace(0, 1, _RANGES + 1))
    codes = np.clip(np.searchsorted(cuts, values, side="right") - 1, 0, _RANGES - 1)
    names = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(cuts)]
    words[known] = [names[k] for k in codes[known]]
    return words


# ---------------------------------------------------------------------- cluster
def cluster(options: Namespace) -> int:
    """Print the cluster of each row, and how large and how distinct the clusters are."""
    check_free(options.out, options.force)
    X, given = _read_rows(options, options.compare)
    k, n = options.clusters, X.shape[0]
    if k > n:
        raise InvalidInputError(f"-k {k} is more than there are rows, {n}.")
    spectral = options.method == "spectral" or (options.method == "auto" and n <= _SPECTRAL_ROWS)
    method = ELMSpectralClustering if spectral else ELMKMeans
    starts = _STARTS if n <= _SPECTRAL_ROWS else _STARTS_OF_MANY
    with watching(f"Clustering {n:,} rows", options.quiet):
        labels = method(k, n_init=starts, random_state=options.seed).fit(X).labels_
        found = _described(labels, X, given, k, options.seed)
    found = {"method": method.__name__, "rows": n, **found}
    clusters = [int(label) for label in labels]
    write_rows(options, ("row", "cluster"), list(enumerate(clusters, 1)))
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
    check_free(options.out, options.force)
    check_free(picture, options.force)
    X, colour = _read_rows(options, options.color)
    n = X.shape[0]
    some = np.arange(n)
    if n > _MAP_ROWS:
        some = np.random.default_rng(options.seed).permutation(n)[:_MAP_ROWS]
        words = f"The map was learnt from {_MAP_ROWS:,} random rows, and has all of them."
        note(words, options.quiet)
    with watching(f"Mapping {n:,} rows", options.quiet):
        model = ELMEmbedding(n_components=options.dims, random_state=options.seed).fit(X[some])
        places = np.asarray(model.transform(X), dtype=float)
    if options.out or not picture:
        headings = [f"x{k + 1}" for k in range(options.dims)]
        write_rows(options, headings, ([f"{value:.8g}" for value in row] for row in places))
    if picture:
        with drawing(picture, (9, 7), dpi=150) as figure:
            axes = figure.subplots()
            display = EmbeddingDisplay.from_predictions(places[:, :2], colour, ax=axes)
            if display.legend_ is not None and options.color:
                display.legend_.set_title(options.color)
    found = {"rows": n, "dims": options.dims, "out": options.out, "picture": picture}
    if not options.out:
        found["coordinates"] = places.tolist()
    if not (options.out or picture or options.json):
        again = shlex.join(["ulmus", "embed", options.data, "--plot"])
        note(f"Coordinates of {n:,} rows; to draw them:", options.quiet, again)
    written = {"Coordinates": options.out, "A map": picture}
    lines = [f"{what} of {n:,} rows: {path}" for what, path in written.items() if path]
    return tell(options, found, *lines)


def _picture(options: Namespace) -> str | None:
    """Where the picture goes, or None."""
    if options.plot is None:
        return None
    path: str = options.plot or f"{stem_of(options.data)}-map.png"
    if path.rpartition(".")[2].lower() not in _PICTURES:
        endings = f"{', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}"
        raise InvalidInputError(f"--plot {path} is no picture's name; let it end in {endings}.")
    if options.dims < 2:
        raise InvalidInputError("A picture needs two dimensions; use --dims 2.")
    return path
