"""``ulmus cluster``: rows into clusters, without a target."""

import shlex
import sys
from argparse import Namespace
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score, silhouette_score

from ulmus.cli.places import check_free, read_rows, write_rows
from ulmus.cli.printing import facts, note, print_json, say, table, watching, width
from ulmus.estimators.kmeans import ELMKMeans
from ulmus.estimators.spectral_clustering import ELMSpectralClustering
from ulmus.exceptions import InvalidInputError
from ulmus.metrics import clustering_accuracy
from ulmus.typing import Rows

__all__ = ["cluster"]

# A graph over more rows than these takes minutes, k-means seconds.
_SPECTRAL_ROWS = 10_000
# Starts of k-means; of many rows fewer are needed, for they end in much the same clusters.
_STARTS, _STARTS_OF_MANY = 10, 3
# The silhouette compares all pairs of so many rows.
_SILHOUETTE_ROWS = 2000


def cluster(options: Namespace) -> int:
    """Print the cluster of each row, and how large and how distinct the clusters are."""
    check_free(options.out, options.force)
    X, given = read_rows(options, options.compare)
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
    if options.json:
        print_json({**found, **({"out": options.out} if options.out else {"clusters": clusters})})
    elif options.out:
        say(*_lines(found, width()), f"The cluster of each of {n:,} rows: {options.out}")
    else:
        for line in _lines(found, width(sys.stderr)):
            note(line, options.quiet)
        again = shlex.join(["ulmus", "embed", options.data, "--plot"])
        note("--out FILE writes them to a file; to look at the rows:", options.quiet, again)
    return 0


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
