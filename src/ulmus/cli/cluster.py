"""``ulmus cluster``: rows into clusters, without a target."""

import shlex
import sys

import numpy as np
from sklearn.metrics import normalized_mutual_info_score, silhouette_score

from ulmus.cli.places import check_free, write_new
from ulmus.cli.printing import csv_text, facts, note, print_json, say, table, width, write_csv
from ulmus.cli.rows import read_rows
from ulmus.cli.watching import watching
from ulmus.estimators.clustering import ELMKMeans
from ulmus.estimators.spectral import ELMSpectralClustering
from ulmus.exceptions import InvalidInputError
from ulmus.metrics import clustering_accuracy

__all__ = ["cluster"]

# A graph over more rows than these takes minutes, k-means seconds.
_SPECTRAL_ROWS = 10_000
# k-means starts so often; from many rows its starts lead to much the same place.
_STARTS, _STARTS_OF_MANY = 10, 3
# The silhouette compares all pairs of so many rows.
_SILHOUETTE_ROWS = 2000


def cluster(options):
    """Print the cluster of each row, and how large and how distinct the clusters are."""
    if options.out:
        check_free(options.out, options.force)
    X, given, notes = read_rows(options, options.compare)
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
    for sentence in notes:
        note(sentence, options.quiet)
    rows = list(enumerate(map(int, labels), 1))
    if options.out:
        write_new(options.out, csv_text(("row", "cluster"), rows), options.force)
    _tell(found, rows, options)
    return 0


def _described(labels, X, given, k, seed):
    """Sizes, the silhouette on some of the rows, and how they agree with a column."""
    sizes = np.bincount(labels, minlength=k)
    found = {"sizes": sizes.tolist(), "silhouette": None}
    if 2 <= len(np.unique(labels)) < len(labels):
        some = np.random.default_rng(seed).permutation(len(labels))[:_SILHOUETTE_ROWS]
        if 2 <= len(np.unique(labels[some])) < len(some):
            found["silhouette"] = float(silhouette_score(X[some], labels[some]))
    if given is not None:
        known = np.array([word is not None for word in given])
        if known.any():
            truth = np.unique(given[known].astype(str), return_inverse=True)[1]
            found["accuracy"] = float(clustering_accuracy(truth, labels[known]))
            found["mutual_information"] = float(normalized_mutual_info_score(truth, labels[known]))
    return found


def _tell(found, rows, options):
    if options.json:
        place = {"out": options.out} if options.out else {"clusters": [c for _, c in rows]}
        print_json({**found, **place})
        return
    if not options.out:
        write_csv(sys.stdout, ("row", "cluster"), rows)
        sys.stdout.flush()
    columns = width(sys.stdout if options.out else sys.stderr)
    tell = say if options.out else lambda line: note(line, options.quiet)
    sizes = [
        (k, f"{size:,}", f"{size / found['rows']:.1%}") for k, size in enumerate(found["sizes"])
    ]
    for line in [*table(("cluster", "rows", "share"), sizes, columns), *_facts(found, columns)]:
        tell(line)
    if options.out:
        tell(f"The cluster of each of {found['rows']:,} rows: {options.out}")
    else:
        again = shlex.join(["ulmus", "embed", options.data, "--plot"])
        note("--out FILE writes them to a file; to look at the rows:", options.quiet, again)


def _facts(found, columns):
    pairs = [("method", found["method"])]
    if found["silhouette"] is not None:
        pairs.append(("silhouette", f"{found['silhouette']:.3f} (1: far apart, 0: touching)"))
    if "accuracy" in found:
        agree = f"{found['accuracy']:.1%} of rows, mutual information "
        pairs.append(("agrees with the column", agree + f"{found['mutual_information']:.3f}"))
    return facts(pairs, columns)
