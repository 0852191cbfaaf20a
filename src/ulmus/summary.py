"""The results of a fit in words, for notebooks and for the log."""

import html
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

_HOW = {
    "fixed": "given",
    "loo": "by leaving out each row once",
    "loo-sample": "by leaving out each row of a sample once",
    "loo-kept": "by leaving out each row once, class weights kept as they are",
    "loo-sample-kept": "by leaving out each row of a sample once, class weights kept as they are",
    "cv": "by cross-validation",
    "validation": "by rows held out",
    "prior": "as usual, for there are too few labels to leave one out",
}
# Most names of classes that are written out, and most letters of each.
_NAMES, _LETTERS = 6, 30

# Colours are inherited from the page, light or dark.
_TABLE = (
    "margin:0.6em 0 0 0;border-collapse:collapse;border:0;border-left:3px solid #2f7d4f;"
    "background:none;color:inherit;font-size:0.9em"
)
_CELL = "text-align:left;vertical-align:top;border:0"
_NAME = f"padding:0.1em 1em 0.1em 0.8em;font-weight:600;{_CELL}"
_VALUE = f"padding:0.1em 0;white-space:normal;{_CELL}"


def html_of(model: BaseEstimator) -> str:
    """scikit-learn's HTML of an estimator, with the results of `fit` below it."""
    return str(BaseEstimator._repr_html_inner(model)) + _table(model)


def mimebundle_of(model: BaseEstimator, **kwargs: Any) -> dict[str, str]:
    """The same as a MIME bundle for notebooks."""
    bundle: dict[str, str] = BaseEstimator._repr_mimebundle_(model, **kwargs)
    if "text/html" in bundle:
        bundle["text/html"] += _table(model)
    return bundle


def facts(model: Any) -> list[tuple[str, str]]:
    """The results of a fit, each with its name; empty for a model that is not fitted."""
    found = {name: words(model) for name, (field, words) in _FACTS.items() if hasattr(model, field)}
    found["score"] = _score(model)
    return [(name, words) for name, words in found.items() if words]


def _table(model: Any) -> str:
    rows = "".join(
        '<tr style="background:none;border:0">'
        f'<th scope="row" style="{_NAME}">{html.escape(name)}</th>'
        f'<td style="{_VALUE}">{html.escape(words)}</td></tr>'
        for name, words in facts(model)
    )
    return rows and f'<table class="ulmus-summary" style="{_TABLE}">{rows}</table>'


def _classes(model: Any) -> str:
    names = [_short(str(label), _LETTERS) for label in model.classes_[:_NAMES]]
    rest = len(model.classes_) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")


def _units(model: Any) -> str:
    chosen = ", chosen by leaving out each row once" if model.n_hidden == "loo" else ""
    return f"{model.n_hidden_} of {type(model.features_).__name__}{chosen}"


def _clusters(model: Any) -> str:
    if not hasattr(model, "n_clusters_path_"):
        return str(model.n_clusters_)
    best = model.n_clusters_path_["score"].max()
    return f"{model.n_clusters_}, on which clusterings agree most ({best:.2f})"


def _kernel(model: Any) -> str:
    chosen = ""
    for attribute, what in (("gamma_path_", "gamma"), ("kernel_path_", "kernel")):
        if hasattr(model, attribute):
            chosen = f", {what} chosen by leaving out each row once"
    return _short(repr(model.kernel_), 80) + chosen


def _rank(model: Any) -> str:
    method = getattr(model, "method_", getattr(model, "method", ""))
    if method == "exact":
        return f"{model.rank_}, the whole kernel"
    return f"{model.rank_} by {method}, {model.approximation_error_:.2g} of the trace missing"


def _score(model: Any) -> str:
    """The score on rows left out or held out."""
    rows = "held-out" if hasattr(model, "cv_score_") else "left-out"
    score = getattr(model, "cv_score_", getattr(model, "loo_score_", None))
    if hasattr(model, "surface_"):
        table = model.surface_
        at = (table["lam"] == model.lam_).argmax(), (table["C"] == model.C_).argmax()
        if "error_rate" not in table:
            return f"squared error {table['squared_error'][at]:.4g} on left-out rows"
        score = 1.0 - table["error_rate"][at]
    if score is None:
        return ""
    if hasattr(model, "classes_"):
        return f"{score:.2%} of {rows} rows right"
    return f"R² = {score:.4f} on {rows} rows"


def _chosen(model: Any, value: float) -> str:
    """A value and how it was found; nothing where candidates with many values were averaged."""
    averaged = hasattr(model, "candidates_") and hasattr(model, "coupling_")
    return "" if averaged else f"{value:.4g}, {_HOW[model.selection_]}"


def _short(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…"


# Facts about a model that has the attribute.
_FACTS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "inputs": ("n_features_in_", lambda model: f"{model.n_features_in_} columns"),
    "classes": ("classes_", _classes),
    "hidden units": ("n_hidden_", _units),
    "layer": ("layer_reason_", lambda model: str(model.layer_reason_)),
    "kernel": ("kernel_", _kernel),
    "coupling": ("coupling_", lambda model: f"{model.coupling_} ({model.coupling_reason_})"),
    "clusters": ("n_clusters_", _clusters),
    "C": ("C_", lambda model: _chosen(model, model.C_)),
    "lam": ("lam_", lambda model: _chosen(model, model.lam_)),
    "rank": ("rank_", _rank),
    "solver": ("solver_", lambda model: f"{model.solver_} ({model.solver_reason_})"),
    "support": ("support_", lambda model: f"{len(model.support_)} of {model._n_rows} rows count"),
}
