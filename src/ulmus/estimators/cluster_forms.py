"""Which form of US-ELM clusters these rows, chosen on a sample without a label."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.backends.namespace import on_host, take
from ulmus.backends.threads import one_thread
from ulmus.estimators.cluster_defaults import SAMPLE, DefaultUnits, some_rows
from ulmus.estimators.embedding import DEFAULT_WIDTH
from ulmus.estimators.row_graphs import coupling_for
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.hidden_layer import comparable_rows, fitted_map, layer_of, scaled_rows
from ulmus.graphs import KNNGraph, Laplacian, all_laplacians
from ulmus.hidden import Hidden
from ulmus.methods.noise import far_rows
from ulmus.methods.partitions import (
    SEPARATE,
    Form,
    agreement,
    clustered,
    embeddings,
    judged,
)
from ulmus.typing import Rows

# Forms are compared in so many hidden units: more cost time and change few choices.
_UNITS = 500
# Numbers of clusters are compared on so many rows.
_FEWER = 500
# Graphs that are tried, by name: sparse ones follow thin shapes, those with more neighbours are
# steadier, mutual ones leave stray rows out, leading components leave out noise of columns, and
# angles how bright an image is.
CANDIDATES = {
    "5 neighbours, binary": KNNGraph(5, weights="binary"),
    "10 neighbours": KNNGraph(10, width="local"),
    "20 neighbours": KNNGraph(20, width="local"),
    "20 mutual neighbours": KNNGraph(20, width="local", mutual=True),
    "20 neighbours in 10 components": KNNGraph(20, width="local", n_components=10),
    "10 neighbours in 20 components": KNNGraph(10, width="local", n_components=20),
    "20 neighbours by angle in 30 components": KNNGraph(
        20, width="local", n_components=30, metric="cosine"
    ),
}
# λ where none is given.
LAM = 10.0


@dataclass(frozen=True)
class Choice:
    """Forms with their clusters of some rows, the best first.

    ``graphs`` has those of forms by name, ``rows`` are the numbers of the rows, and ``features`` is
    the map that was fitted to them.
    """

    forms: list[Form]
    graphs: dict[str, Any]
    rows: np.ndarray
    features: Any

    def parameters(self, form: Form) -> dict[str, Any]:
        """Those of the embedding."""
        return {
            "n_components": form.n_components,
            "graph": self.graphs[form.graph],
            "coupling": form.kind,
            # λ is of no account where the coupling is free.
            "lam": form.lam or LAM,
            "row_normalize": form.row_normalize,
        }

    def centers(self, form: Form, E: np.ndarray) -> np.ndarray:
        """Means of the clusters that were compared, where all rows have these places."""
        each_cluster = np.unique(form.labels[form.labels >= 0])
        return np.array([E[self.rows[form.labels == each]].mean(axis=0) for each in each_cluster])

    def outliers(self, X: Rows) -> np.ndarray:
        """Which of all rows are far from the others of their cluster."""
        return far_rows(comparable_rows(self.features, X), self.rows, self.forms[0].labels)

    def agreement_of(self, near: np.ndarray) -> float:
        """The largest on these rows alone; ``near`` says of all rows which they are."""
        labels = [form.labels[near[self.rows]] for form in self.forms]
        return float(agreement(labels, [form.kind for form in self.forms]).max())

    def why(self, form: Form) -> str:
        """What was chosen, and why, in words."""
        columns = f"{form.n_components} column" + ("s" if form.n_components > 1 else "")
        unit = ", unit rows" if form.row_normalize else ""
        begin = f"{form.graph}, {columns}{unit}: of {len(self.forms)} forms, "
        if form.separation >= SEPARATE:
            return (
                f"{begin}of those with separate clusters (each has {form.separation:.1%} of its "
                f"edges to itself) the one that agrees most with the others ({form.agreement:.2f})"
            )
        return (
            f"{begin}one of those that agree most with the others ({form.agreement:.2f}), and of "
            f"these the one whose clusters neighbours tell most of ({form.information:.2f})"
        )


@one_thread()
def choice_of_form(model: Any, X: Rows, n_clusters: int, units: DefaultUnits) -> Choice | None:
    """The forms that the parameters of a model leave open; None where that is one, or unclear."""
    graphs, couplings = _open_graphs(model.graph, units.n_columns), _open_couplings(model, X)
    columns, unit_rows = _open_columns(model, X.shape[0], n_clusters), _open_lengths(model)
    several = max(map(len, (graphs, couplings, columns, unit_rows))) > 1
    if n_clusters == 1 or not several or not (X.shape[0] <= SAMPLE or are_rules(graphs)):
        return None
    some = some_rows(X.shape[0], SAMPLE)
    features, H, laplacians = _seen(model, on_host(take(X, some)), units, graphs, couplings)
    wholes = embeddings(H, laplacians, _strength(model), max(columns))
    found = clustered(wholes, columns, unit_rows, n_clusters)
    forms = judged(found, telling(laplacians[couplings[-1]], graphs, len(some) // n_clusters))
    return Choice(forms, graphs, some, features) if forms else None


def telling(laplacians: dict[str, Laplacian], graphs: dict[str, Any], rows: int) -> list[Laplacian]:
    """Those by which clusters of so many rows are judged, or all if none has so few neighbours.

    With more neighbours than a cluster has rows a graph joins it to others.
    """
    few = [name for name in laplacians if getattr(graphs[name], "n_neighbors", 0) <= rows]
    return [laplacians[name] for name in few or laplacians]


@one_thread()
def agreement_by_number(
    model: Any, X: Rows, numbers: np.ndarray, units: DefaultUnits
) -> dict[str, np.ndarray]:
    """How far forms agree on each number of clusters.

    Where units are local, hidden layers differ too much to be compared.
    """
    graphs, some = _open_graphs(model.graph, units.n_columns), some_rows(X.shape[0], _FEWER)
    if len(some) < X.shape[0] and not are_rules(graphs):
        raise InvalidParameterError(
            "n_clusters='auto' compares graphs of a sample, and graph= has edges between all rows; "
            "give n_clusters, or a KNNGraph."
        )
    rows = on_host(take(X, some))
    local = units.local and model.coupling == "auto"
    couplings = ("free",) if local else _open_couplings(model, rows)
    _, H, laplacians = _seen(model, rows, units, graphs, couplings)
    most = max(_open_columns(model, len(some), int(numbers[-1])))
    wholes = list(embeddings(H, laplacians, _strength(model), most))
    if not wholes:
        raise InvalidInputError(
            "No graph of these rows could be followed, so that their number of clusters is not "
            "known; give n_clusters."
        )
    scores = []
    for k in numbers.tolist():
        # Twice as many columns as clusters are for the choice of the form alone.
        columns = _open_columns(model, len(some), k)[:2]
        forms = clustered(wholes, columns, _open_lengths(model), k)
        scores.append(agreement([f.labels for f in forms], [f.kind for f in forms]).mean())
    return {"n_clusters": numbers, "score": np.array(scores)}


def are_rules(graphs: dict[str, Any]) -> bool:
    """Whether graphs are rules for any rows, and not edges between all rows."""
    return all(hasattr(graph, "get_params") for graph in graphs.values())


def _seen(
    model: Any, rows: Rows, units: DefaultUnits, graphs: dict[str, Any], couplings: Sequence[str]
) -> tuple[Any, np.ndarray, dict[str, dict[str, Laplacian]]]:
    """The map of a model, of few units, fitted to some rows; hidden rows; graphs by coupling."""
    features = fitted_map(model, rows, default_width=_UNITS, default=units, random_state=0)
    H = Hidden(layer_of(features, rows, np.dtype(float)), rows).all()[:, :_UNITS]
    found = {}
    for each in couplings:
        compared = (scaled_rows if each == "tight" else comparable_rows)(features, rows)
        laplacians = all_laplacians([*graphs.values()], compared)
        found[each] = dict(zip(graphs, laplacians, strict=True))
    return features, H, found


def _open_graphs(graph: Any, n_columns: int) -> dict[str, Any]:
    """Graphs by name; none twice, as those with and without components of few columns would be."""
    if graph is not None:
        return {"the graph that is given": graph}
    return {name: each for name, each in CANDIDATES.items() if (each.n_components or 0) < n_columns}


def _open_couplings(model: Any, X: Rows) -> tuple[str, ...]:
    if model.coupling != "auto":
        return (model.coupling,)
    width = model.n_hidden or getattr(model.features, "n_hidden", None) or DEFAULT_WIDTH
    return ("free",) if coupling_for(X.shape[0], width)[0] == "free" else ("tight", "free")


def _open_columns(model: Any, n_rows: int, k: int) -> list[int]:
    columns = {k - 1, k, 2 * k} if model.n_components is None else {model.n_components}
    return sorted({min(max(each, 1), min(n_rows, _UNITS) - 1) for each in columns})


def _open_lengths(model: Any) -> tuple[bool, ...]:
    """Whether rows have unit length."""
    return (False, True) if model.row_normalize is None else (bool(model.row_normalize),)


def _strength(model: Any) -> float:
    return LAM if model.lam is None else float(model.lam)
