"""What a model has to beat: the majority or the mean, a linear model and boosting, same rows."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ulmus.arguments import counted
from ulmus.tables.assessing import Assessment, Judged, score, truth_of
from ulmus.tables.encoder import as_text

# Cells of a matrix, times classes, that boosting is given: a minute on one core.
_MOST_CELLS = 50_000_000


def baselines(
    found: Assessment, watch: Callable[[str], None] = lambda _: None
) -> list[dict[str, Any]]:
    """Accuracy or R² of each baseline on the rows of each split, and why one was left out.

    They are fitted to the same rows of each split as the model is, in the same encoding.
    """
    names = ("majority class" if found.classes is not None else "mean", "linear", "boosting")
    scores: dict[str, list[float]] = {name: [] for name in names}
    skipped: dict[str, str] = {}
    for k, part in enumerate(found.parts, 1):
        for name in names:
            watch(f"{name}, fit {k} of {len(found.parts)}")
            outcome = _outcome(name, part)
            if isinstance(outcome, str):
                skipped[name] = outcome
            else:
                scores[name].append(outcome)
    return [{"name": name, "scores": scores[name], "skipped": skipped.get(name)} for name in names]


def _outcome(name: str, part: Judged) -> float | str:
    """The score of a baseline, or why it was not fitted."""
    assert part.fitted is not None
    X, Z = part.model.matrix(part.fitted), part.model.matrix(part.table)
    y, truth = (truth_of(part.model, table).values for table in (part.fitted, part.table))
    classes = part.model.classes
    if name == "boosting":
        cells = X.shape[0] * X.shape[1] * (1 if classes is None else max(1, len(classes) - 1))
        if cells > _MOST_CELLS:
            return f"too slow for {counted(X.shape[0], 'row')} of {X.shape[1]:,} features"
        X, Z = (M.toarray() if sparse.issparse(M) else M for M in (X, Z))
    if classes is not None:
        y, truth = np.array(as_text(y)), np.array(as_text(truth))
    with warnings.catch_warnings():
        # A linear model that has not quite converged is a baseline all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = _MODELS[name][classes is None](sparse.issparse(X)).fit(X, y)
    return score(truth, model.predict(Z))


def _linear(wide: bool, last: Any) -> Any:
    return make_pipeline(StandardScaler(with_mean=not wide), last)


# For classes, and for numbers; each is told whether the matrix is sparse.
_MODELS: dict[str, tuple[Callable[[bool], Any], ...]] = {
    "majority class": (lambda _: DummyClassifier(),),
    "mean": (lambda _: DummyRegressor(),) * 2,
    "linear": (
        lambda wide: _linear(wide, LogisticRegression(max_iter=500)),
        lambda wide: _linear(wide, RidgeCV(np.logspace(-3, 4, 15))),
    ),
    "boosting": (
        lambda _: HistGradientBoostingClassifier(random_state=0),
        lambda _: HistGradientBoostingRegressor(random_state=0),
    ),
}
