"""Which form of US-ELM clusters these rows, chosen on a sample without a label."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.namespace import on_host, take
from ulmus.estimators.cluster_layers import local_units
from ulmus.estimators.cluster_numbers import possible_numbers
from ulmus.estimators.embedding import DEFAULT_WIDTH
from ulmus.estimators.row_graphs import COUPLINGS, coupling_for
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features import RandomFeatures
from ulmus.features.hidden_layer import comparable_rows, fitted_map, layer_of, scaled_rows
from ulmus.graphs import KNNGraph, Laplacian, all_laplacians
from ulmus.hidden import Hidden
from ulmus.methods.partitions import (
    Form,
    Forms,
    embeddings,
    judged,
    mean_agreement,
    means_of,
    table,
)
from ulmus.typing import Rows

__all__ = ["CANDIDATES", "Choice", "agreement_by_number", "bent", "choice_of_form"]

# Forms are compared on at most so many rows, in so many hidden units: more cost time and change few
# choices.
SAMPLE, _UNITS = 1500, 500
# Numbers of clusters are compared on so many rows.
_FEWER = 500
# Graphs that are tried, by name: sparse ones follow thin shapes, those with more neighbours are
# steadier, mutual ones leave stray rows out, and leading components leave out noise of columns.
CANDIDATES = {
    "5 neighbours, binary": KNNGraph(5, weights="binary"),
    "10 neighbours": KNNGraph(10, width="local"),
    "20 neighbours": KNNGraph(20, width="local"),
    "20 mutual neighbours": KNNGraph(20, width="local", mutual=True),
    "10 neighbours in 20 components": KNNGraph(10, width="local", n_components=20),
}
_LAMS = (10.0,)
# Columns up to which the default units are local.
_FEW_COLUMNS = 3


@dataclass(frozen=True)
class Choice:
    """Forms, the best first, with their clusters of some rows and how these agree with others.

    ``graphs`` are those that forms count, by name.
    """

    forms: list[Form]
    labels: list[np.ndarray]
    scores: np.ndarray
    graphs: dict[str, Any]
    rows: np.ndarray

    def parameters(self, form: Form) -> dict[str, Any]:
        """Those of the embedding."""
        graph = list(self.graphs.values())[form.graph]
        names = ("n_components", "coupling", "row_normalize")
        chosen = {name: getattr(form, name) for name in names}
        # λ is of no account where the coupling is free.
        return chosen | {"graph": graph, "lam": form.lam or _LAMS[0]}

    def centers(self, form: Form, E: np.ndarray) -> np.ndarray:
        """Means of the clusters that were compared, where all rows have these places."""
        return means_of(E[self.rows], self.labels[self.forms.index(form)])

    def table(self) -> dict[str, np.ndarray]:
        """A row for each form."""
        return table(self.forms, self.scores, list(self.graphs))

    def why(self, form: Form) -> str:
        """What was chosen, and why, in words."""
        score = self.scores[self.forms.index(form)]
        columns = f"{form.n_components} column" + ("s" if form.n_components > 1 else "")
        unit = ", unit rows" if form.row_normalize else ""
        return (
            f"{list(self.graphs)[form.graph]}, {columns}{unit}: of {len(self.forms)} forms the one "
            f"that agrees most with the others, {score:.2f}"
        )


def choice_of_form(model: Any, X: Rows, n_clusters: int) -> Choice | None:
    """The forms that the parameters of a model leave open; None where that is one, or unclear."""
    forms, graphs = _open_forms(model, X.shape, n_clusters), _open_graphs(model.graph, X.shape[1])
    if len(graphs) * len(forms.all(1)) < 2 or n_clusters == 1:
        return None
    some = _sample(graphs, X.shape[0], SAMPLE)
    if some is None:
        return None
    found = judged(forms, *_seen(model, forms, graphs, take(X, some)), n_clusters)
    return Choice(*found, graphs, some) if found[0] else None


def agreement_by_number(model: Any, X: Rows) -> dict[str, np.ndarray]:
    """How far forms agree on each number of clusters.

    Where units are local, hidden layers differ too much to have a say.
    """
    graphs, numbers = _open_graphs(model.graph, X.shape[1]), possible_numbers(X)
    some = _sample(graphs, X.shape[0], _FEWER)
    if some is None:
        raise InvalidParameterError(
            "n_clusters='auto' compares graphs of a sample, and graph= has edges between all rows; "
            "give n_clusters, or a KNNGraph."
        )
    forms = _open_forms(model, (len(some), X.shape[1]), int(numbers[-1]))
    if bent(X.shape[1]) and model.coupling == "auto":
        forms = replace(forms, couplings=("free",))
    wholes = list(embeddings(forms, *_seen(model, forms, graphs, take(X, some))))
    if not wholes:
        raise InvalidInputError(
            "No graph of these rows could be followed, so that their number of clusters is not "
            "known; give n_clusters."
        )
    scores = []
    for k in numbers.tolist():
        few = replace(forms, columns=tuple(sorted({max(k - 1, 1), k})))
        scores.append(mean_agreement(few, wholes, k))
    return {"n_clusters": numbers, "score": np.array(scores)}


def _sample(graphs: dict[str, Any], n_rows: int, most: int) -> np.ndarray | None:
    """Numbers of at most so many rows; None where edges are given between all rows alone."""
    if n_rows <= most:
        return np.arange(n_rows)
    if not hasattr(next(iter(graphs.values())), "get_params"):
        return None
    return np.sort(np.random.RandomState(0).permutation(n_rows)[:most])


def _seen(
    model: Any, forms: Forms, graphs: dict[str, Any], rows: Rows
) -> tuple[np.ndarray, dict[str, list[Laplacian]]]:
    """Hidden rows, and the graphs of each coupling."""
    rows = on_host(rows)
    default = local_units if bent(rows.shape[1]) else RandomFeatures
    units = fitted_map(model, rows, default_width=_UNITS, default=default, random_state=0)
    H = Hidden(layer_of(units, rows, np.dtype(float)), rows).all()[:, :_UNITS]
    compared = {"tight": scaled_rows(units, rows), "free": comparable_rows(units, rows)}
    return H, {each: all_laplacians([*graphs.values()], compared[each]) for each in forms.couplings}


def _open_graphs(graph: Any, n_columns: int) -> dict[str, Any]:
    """Graphs by name; none twice, as those with and without components of few columns would be."""
    if graph is not None:
        return {"the graph that is given": graph}
    return {name: each for name, each in CANDIDATES.items() if (each.n_components or 0) < n_columns}


def _open_forms(model: Any, shape: tuple[int, int], k: int) -> Forms:
    """All that is not given."""
    n = shape[0]
    couplings = COUPLINGS[1:] if model.coupling == "auto" else (model.coupling,)
    width = model.n_hidden or getattr(model.features, "n_hidden", None) or DEFAULT_WIDTH
    if model.coupling == "auto" and coupling_for(n, width)[0] == "free":
        couplings = ("free",)
    columns = {k - 1, k, 2 * k} if model.n_components is None else {model.n_components}
    most = min(n, _UNITS) - 1
    return Forms(
        couplings,
        _LAMS if model.lam is None else (float(model.lam),),
        tuple(sorted({min(max(each, 1), most) for each in columns})),
        (False, True) if model.row_normalize is None else (bool(model.row_normalize),),
    )


def bent(n_columns: int) -> bool:
    """Whether columns are so few that sigmoid units are too smooth for bent shapes."""
    return n_columns <= _FEW_COLUMNS
