"""Which form of US-ELM clusters these rows, chosen on a sample without a label."""

from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from ulmus.backends.namespace import on_host, take
from ulmus.estimators.cluster_columns import SAMPLE, DefaultUnits, some_rows
from ulmus.estimators.cluster_numbers import possible_numbers
from ulmus.estimators.embedding import DEFAULT_WIDTH
from ulmus.estimators.row_graphs import COUPLINGS, coupling_for
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.hidden_layer import comparable_rows, fitted_map, layer_of, scaled_rows
from ulmus.graphs import KNNGraph, Laplacian, all_laplacians
from ulmus.hidden import Hidden
from ulmus.methods.agreement import agreement
from ulmus.methods.far_rows import far_rows
from ulmus.methods.partitions import (
    Form,
    Forms,
    Judged,
    embeddings,
    judged,
    mean_agreement,
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
_LAMS = (10.0,)


@dataclass(frozen=True)
class Choice:
    """Forms with their clusters of some rows.

    ``graphs`` are those that forms count, by name, ``rows`` the numbers of the rows, and
    ``features`` the map that was fitted to them.
    """

    judged: Judged
    graphs: dict[str, Any]
    rows: np.ndarray
    features: Any

    def parameters(self, form: Form) -> dict[str, Any]:
        """Those of the embedding."""
        graph = list(self.graphs.values())[form.graph]
        names = ("n_components", "coupling", "row_normalize")
        chosen = {name: getattr(form, name) for name in names}
        # λ is of no account where the coupling is free.
        return chosen | {"graph": graph, "lam": form.lam or _LAMS[0]}

    def centers(self, form: Form, E: np.ndarray) -> np.ndarray:
        """Means of the clusters that were compared, where all rows have these places."""
        labels = self.judged.labels[self.judged.forms.index(form)]
        clusters = np.unique(labels[labels >= 0])
        return np.array([E[self.rows[labels == each]].mean(axis=0) for each in clusters])

    def outliers(self, X: Rows) -> np.ndarray:
        """Which of all rows are far from the others of their cluster."""
        compared = on_host(comparable_rows(self.features, X))
        return far_rows(compared, self.rows, self.judged.labels[0])

    def agreement_of(self, near: np.ndarray) -> float:
        """The largest on these rows alone; ``near`` says of all rows which they are."""
        some, kinds = near[self.rows], [form.coupling for form in self.judged.forms]
        return float(agreement([each[some] for each in self.judged.labels], kinds).max())

    @property
    def for_any_rows(self) -> bool:
        """Whether the graphs are rules, and not edges between all rows."""
        return hasattr(next(iter(self.graphs.values())), "get_params")

    def table(self) -> dict[str, np.ndarray]:
        """A row for each form."""
        return self.judged.table(list(self.graphs))

    def why(self, form: Form) -> str:
        """What was chosen, and why, in words."""
        found, i = self.judged, self.judged.forms.index(form)
        columns = f"{form.n_components} column" + ("s" if form.n_components > 1 else "")
        unit = ", unit rows" if form.row_normalize else ""
        return (
            f"{list(self.graphs)[form.graph]}, {columns}{unit}: of {len(found.forms)} forms, one "
            f"of those that agree most with the others ({found.agreement[i]:.2f}), and of these "
            f"the one whose clusters neighbours tell most of ({found.information[i]:.2f})"
        )


def choice_of_form(model: Any, X: Rows, n_clusters: int, default: DefaultUnits) -> Choice | None:
    """The forms that the parameters of a model leave open; None where that is one, or unclear."""
    forms = _open_forms(model, X.shape, n_clusters)
    graphs = _open_graphs(model.graph, default.n_columns)
    if max(map(len, (graphs, *astuple(forms)))) < 2 or n_clusters == 1:
        return None
    some = _sample(graphs, X.shape[0], SAMPLE)
    if some is None:
        return None
    rows = on_host(take(X, some))
    features = _fitted(model, rows, default)
    found = judged(forms, *_seen(features, forms, graphs, rows), n_clusters)
    return Choice(found, graphs, some, features) if found.forms else None


def agreement_by_number(model: Any, X: Rows, default: DefaultUnits) -> dict[str, np.ndarray]:
    """How far forms agree on each number of clusters.

    Where units are local, hidden layers differ too much to be compared.
    """
    graphs, numbers = _open_graphs(model.graph, default.n_columns), possible_numbers(X)
    some = _sample(graphs, X.shape[0], _FEWER)
    if some is None:
        raise InvalidParameterError(
            "n_clusters='auto' compares graphs of a sample, and graph= has edges between all rows; "
            "give n_clusters, or a KNNGraph."
        )
    forms = _open_forms(model, (len(some), X.shape[1]), int(numbers[-1]))
    if default.local and model.coupling == "auto":
        forms = replace(forms, couplings=("free",))
    rows = on_host(take(X, some))
    features = _fitted(model, rows, default)
    wholes = list(embeddings(forms, *_seen(features, forms, graphs, rows)))
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
    if n_rows > most and not hasattr(next(iter(graphs.values())), "get_params"):
        return None
    return some_rows(n_rows, most)


def _fitted(model: Any, rows: Rows, default: DefaultUnits) -> Any:
    """The map of a model, of few units, fitted to some rows."""
    return fitted_map(model, rows, default_width=_UNITS, default=default, random_state=0)


def _seen(
    features: Any, forms: Forms, graphs: dict[str, Any], rows: Rows
) -> tuple[np.ndarray, dict[str, list[Laplacian]]]:
    """Hidden rows, and the graphs of each coupling."""
    H = Hidden(layer_of(features, rows, np.dtype(float)), rows).all()[:, :_UNITS]
    compared = {"tight": scaled_rows(features, rows), "free": comparable_rows(features, rows)}
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
