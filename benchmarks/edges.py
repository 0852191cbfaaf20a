"""Leaving a labelled row out of SS-ELM: its label alone, or its edges too.

Run by ``python -m benchmarks edges``. Where the edges go as well the other rows keep their degrees,
and row i and column i of Λ are zero: the matrix of β changes in the span of hᵢ and HᵀΛeᵢ alone.
"""

from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed

from benchmarks.labels import data, known_rows
from benchmarks.measure import gathered, mean_over, mean_rows, table

SETS = ("usps", "optdigits", "coil20", "letter", "g50c", "wine")
LABELS = ("2 a class", "100")
DRAWS = 2


def without_row(N, own, T, weight, lam):
    """Outputs of rows, each left out with its edges.

    N has the products zᵢᵀA⁻¹zⱼ of the labelled rows' h, then of their HᵀΛe, where A is the matrix
    of β with all rows; ``own`` is their Λᵢᵢ, and ``weight`` that of their labels.
    """
    l, found = len(T), np.empty(T.shape)
    fitted = N[:, :l] @ (weight[:, None] * T)
    for i in range(l):
        pair = [i, l + i]
        # What row i is in A.
        S = np.array([[weight[i] - lam * own[i], lam], [lam, 0.0]])
        y = fitted[pair] - np.outer(N[pair, i], weight[i] * T[i])
        found[i] = np.linalg.solve(np.eye(2) - N[np.ix_(pair, pair)] @ S, y)[0]
    return found


def _kernels(setting):
    """Those of the tight kind, between h and HᵀΛe of the rows that are compared."""
    rows, numbers = setting.rows, setting.numbers[setting.compared]
    H = np.asarray(rows.all_of(0).all(), dtype=float)
    lams = 600.0 * np.logspace(-1, 2, 4) / rows.samples[0].mean_square
    for graph, basis in enumerate(rows.bases):
        L = rows.laplacians[graph].matrix
        Z = np.concatenate([H[numbers], L[numbers] @ H]) @ basis.basis
        for lam in lams.tolist():
            scaled = Z / np.sqrt(1.0 + lam * basis.values)
            kind = {"kind": "tight", "layer": 0, "graph": graph, "lam": lam}
            yield kind, (scaled @ scaled.T, L.diagonal()[numbers].astype(float), lam)


def _left_out(K, labels, Cs):
    """In place of `ridge_left_out`."""
    (K, own, lam), l = K, len(labels.targets)
    for C in Cs:
        weight = C * labels.weight
        N = K - K[:, :l] @ np.linalg.solve(np.diag(1.0 / weight) + K[:l, :l], K[:l])
        yield without_row(N, own, labels.coded, weight, lam)


def one(name, count, seed):
    """Errors (%) on rows without a label, of the average of tight candidates."""
    from ulmus import SemiSupervisedELMClassifier
    from ulmus.methods import candidates

    X, y = data(name, seed)
    known = known_rows(y, count, seed)
    few = np.where(known, y, -1)
    # Balanced weights would change with every row that leaves.
    parameters = {"coupling": "tight", "class_weight": None, "random_state": 0}
    model = SemiSupervisedELMClassifier(**parameters).fit(X, few)
    with patch.multiple(candidates, _kernels=_kernels, ridge_left_out=_left_out):
        other = model.relabel(few)
    models = {"label": model, "label and edges": other}
    return f"{name}, {count}", {
        what: 100.0 * float(np.mean((each.transduction_ != y)[~known]))
        for what, each in models.items()
    }


def run(folder, rounds):
    """SS-ELMs averaged by leaving out labels, and labels with their rows' edges."""
    cases = [(name, count, seed) for name in SETS for count in LABELS for seed in range(DRAWS)]
    found = gathered(Parallel(n_jobs=-1)(delayed(one)(*case) for case in cases))
    title = f"What is left out: error (%) of averaged SS-ELMs, up to 2000 rows, {DRAWS} draws"
    return found, mean_over(found), table(title, *mean_rows(found, 1))
