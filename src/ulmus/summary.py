"""What a fit chose, in words: for a notebook, and for the log."""

import html
from typing import Any

from sklearn.base import BaseEstimator

__all__ = ["facts", "html_of", "mimebundle_of"]

_HOW = {
    "fixed": "given",
    "loo": "by leaving out each row once",
    "loo-sample": "by leaving out each row of a sample once",
    "loo-kept": "by leaving out each row once, class weights kept as they are",
    "loo-sample-kept": "by leaving out each row of a sample once, class weights kept as they are",
    "cv": "by cross-validation",
    "validation": "by rows held out",
}
# So many names of classes are written out, and so much of each.
_NAMES, _LETTERS = 6, 30

# Colours are those of the page around it, so that it is as light or dark as that is.
_TABLE = (
    "margin:0.6em 0 0 0;border-collapse:collapse;border:0;border-left:3px solid #2f7d4f;"
    "background:none;color:inherit;font-size:0.9em"
)
_ROW = "background:none;border:0"
_NAME = "padding:0.1em 1em 0.1em 0.8em;text-align:left;vertical-align:top;font-weight:600;border:0"
_VALUE = "padding:0.1em 0;text-align:left;vertical-align:top;white-space:normal;border:0"


def html_of(model: BaseEstimator) -> str:
    """scikit-learn's picture of an estimator, with what `fit` chose below it."""
    return str(BaseEstimator._repr_html_inner(model)) + _table(model)


def mimebundle_of(model: BaseEstimator, **kwargs: Any) -> dict[str, str]:
    """The same picture as a notebook asks for it."""
    bundle: dict[str, str] = BaseEstimator._repr_mimebundle_(model, **kwargs)
    if "text/html" in bundle:
        bundle["text/html"] += _table(model)
    return bundle


def facts(model: Any) -> list[tuple[str, str]]:
    """What a fitted model settled on, each with its name; nothing for one that is not fitted."""
    found = {
        "inputs": _columns(model),
        "classes": _classes(model),
        "hidden units": _units(model),
        "kernel": _kernel(model),
        "coupling": _reasoned(model, "coupling"),
        "clusters": str(getattr(model, "n_clusters", "")) if hasattr(model, "labels_") else "",
        "C": _number(model, "C_"),
        "lam": _number(model, "lam_"),
        "rank": _rank(model),
        "solver": _reasoned(model, "solver"),
        "support": _support(model),
        "score": _score(model),
    }
    return [(name, words) for name, words in found.items() if words]


def _table(model: Any) -> str:
    rows = "".join(
        f'<tr style="{_ROW}"><th scope="row" style="{_NAME}">{html.escape(name)}</th>'
        f'<td style="{_VALUE}">{html.escape(words)}</td></tr>'
        for name, words in facts(model)
    )
    return rows and f'<table class="ulmus-summary" style="{_TABLE}">{rows}</table>'


def _columns(model: Any) -> str:
    return f"{model.n_features_in_} columns" if hasattr(model, "n_features_in_") else ""


def _classes(model: Any) -> str:
    if not hasattr(model, "classes_"):
        return ""
    names = [_short(str(label)) for label in model.classes_[:_NAMES]]
    rest = len(model.classes_) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")


def _units(model: Any) -> str:
    if not hasattr(model, "n_hidden_"):
        return ""
    chosen = ", chosen by leaving out each row once" if model.n_hidden == "loo" else ""
    return f"{model.n_hidden_} of {type(model.features_).__name__}{chosen}"


def _kernel(model: Any) -> str:
    if not hasattr(model, "kernel_"):
        return ""
    chosen = ", gamma chosen by leaving out each row once" if hasattr(model, "gamma_path_") else ""
    return _short(repr(model.kernel_), 80) + chosen


def _number(model: Any, name: str) -> str:
    return f"{getattr(model, name):.4g}, {_HOW[model.selection_]}" if hasattr(model, name) else ""


def _rank(model: Any) -> str:
    if not hasattr(model, "rank_"):
        return ""
    method = getattr(model, "method_", getattr(model, "method", ""))
    if method == "exact":
        return f"{model.rank_}, the whole kernel"
    return f"{model.rank_} by {method}, {model.approximation_error_:.2g} of the trace missing"


def _reasoned(model: Any, name: str) -> str:
    if not hasattr(model, f"{name}_"):
        return ""
    return f"{getattr(model, f'{name}_')} ({getattr(model, f'{name}_reason_')})"


def _support(model: Any) -> str:
    if not hasattr(model, "support_"):
        return ""
    return f"{len(model.support_)} of {model._n_rows} rows count"


def _score(model: Any) -> str:
    """How good it is on rows that were left out or held out."""
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


def _short(text: str, letters: int = _LETTERS) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…"
