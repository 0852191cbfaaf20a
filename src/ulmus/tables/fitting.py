"""A table to a model: the target apart, the columns encoded, and what fits best chosen.

Where all rows have a target, the model is the candidate with the least leave-one-out error.
"""

import platform
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import sklearn
from sklearn.utils import check_random_state

from ulmus.commanded import option
from ulmus.estimators.elm import ELMClassifier, ELMRegressor
from ulmus.estimators.kernel import KernelELMClassifier, KernelELMRegressor
from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.estimators.semi_supervised_regressor import SemiSupervisedELMRegressor
from ulmus.exceptions import InvalidInputError
from ulmus.kernels import RBF, Exponential, LaplacianKernel
from ulmus.slopes import CHOICE_ROWS
from ulmus.tables.encoder import TableEncoder
from ulmus.tables.kinds import Target, read_target, separated
from ulmus.tables.suspicions import copies, fingerprint, row_hashes, suspicions
from ulmus.tables.table import as_table
from ulmus.tables.table_model import ClippedColumns, TableModel, column_shares
from ulmus.typing import Rows
from ulmus.version import __version__

# A graph over more rows takes minutes: of the rows without a target a random part is used.
_GRAPH_ROWS = 50_000
_FEWEST_ROWS = 4
# With so many labelled rows the others are left out.
_ENOUGH = 10_000
# Up to so many rows a kernel is tried: it takes up to a minute of one core to choose and to fit.
_KERNEL_ROWS = 50_000
# Weight of the models of labelled rows alone from which rows without a target are left out. Much
# more than half of it, for the average of all models is ahead of an ELM of the labelled rows on
# five tables of six (`python -m benchmarks blanks`).
_ALONE = 0.9
_KERNELS = {LaplacianKernel: "Laplacian", Exponential: "exponential", RBF: "Gaussian"}
# Most important columns that a summary lists.
_MOST_IMPORTANCES = 20
# Targets farther from zero than so many deviations are predicted in double precision.
_FAR = 1e3
# A later candidate must have at most this share of the error: a tie goes to the simpler one.
_BETTER = 0.99


def fit_table(
    table: Any,
    target: str | None = None,
    *,
    task: str = "auto",
    kinds: dict[str, str] | None = None,
    unlabelled_blank: bool = False,
    seed: int = 0,
    watch: Callable[[str], None] | None = None,
    verbose: int = 0,
) -> TableModel:
    """Fit what suits a table.

    Rows whose target is blank have none. Where less than half of the rows have one, and less than
    10 000, the fit is semi-supervised; else there is little to be had from the others, and they
    are left out.

    Parameters
    ----------
    table : Table or frame
        As `ulmus.tables.read_table` gives it, or a frame of pandas or Polars.
    target : str or None, default=None
        The column to learn; None where the file says itself what its target is.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" is classification for words, and for whole numbers with at most 20 different values
        and 5 rows of each on average; else regression.
    kinds : dict of str to str, default=None
        What columns hold, where it is not to be found out: "number", "boolean", "date", "category"
        or "text", by name.
    unlabelled_blank : bool, default=False
        Whether rows without a target are used however few they are.
    seed : int, default=0
        Seeds the random units.
    watch : callable, default=None
        Called with a few words before each step.
    verbose : int, default=0
        1 shows how far the fits are, as the estimators' own ``verbose`` does.

    Returns
    -------
    model : TableModel
        The fitted model; ``summary`` says what was chosen and why.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.tables import Table, fit_table
    >>> t = np.linspace(0, 6, 200)
    >>> table = Table(("t", "wave"), {"t": t, "wave": np.sin(t)})
    >>> model = fit_table(table, "wave")
    >>> model.task, round(model.summary["loo_score"], 3)
    ('regression', 1.0)
    """
    start = time.perf_counter()
    watch = watch or (lambda _: None)
    watch("columns")
    table = as_table(table)
    # Frames may call columns by numbers, which are words in a table.
    cells, name, rest = separated(table, None if target is None else str(target))
    if name in (kinds or {}):
        raise InvalidInputError(
            f"{name!r} is the target, of which {option('--task', 'task=')} says what it holds; "
            f"leave it out of {option('--as', 'kinds=')}."
        )
    goal = read_target(cells, name, task, table.decimal_comma)
    rows, notes = _used_rows(goal, unlabelled_blank, seed)
    rest = rest if len(rows) == len(table) else rest.rows(rows)
    encoder = TableEncoder(given=dict(kinds or {})).fit(rest)
    X = encoder.matrix(rest)
    known, values = goal.known[rows], goal.values[rows]
    classify = goal.task == "classification"
    settings = Settings(classify, seed, verbose, watch)
    if known.all():
        estimator = choose(X, _plain(values), settings)
    else:
        estimator = _fit_few(X, values, known, settings)
    estimator.set_params(verbose=0)
    hashes = row_hashes(X)
    widths = {} if encoder.width else dict(zip(encoder.names, encoder.widths, strict=True))
    notes += suspicions(rest, replace(goal, values=values, known=known), X, widths)
    if not known.all() and not hasattr(estimator, "coupling_"):
        notes.append(
            "Rows' neighbours tell less about the target than the rows that have one: those "
            "alone were fitted, on columns as all rows show them."
        )
    summary = {
        **model_summary(values, known, estimator, classify, seed),
        "copies": copies(hashes),
        "importances": _importances(encoder, estimator),
        "seconds": round(time.perf_counter() - start, 2),
        "notes": [*table.notes, *encoder.notes, *goal.notes, *notes],
    }
    view = ClippedColumns().fit(X)
    return TableModel(encoder, view, estimator, name, goal.task, summary, fingerprint(hashes))


def model_summary(
    values: np.ndarray, known: np.ndarray, estimator: Any, classify: bool, seed: int
) -> dict[str, Any]:
    """The rows, what was chosen, how well it predicts, and what it was made with.

    ``baseline`` is what the majority class has, or the mean.
    """
    score = getattr(estimator, "loo_score_", None)
    majority = max(Counter(values[known].tolist()).values()) / int(known.sum())
    return {
        "rows": len(known),
        "rows_with_target": int(known.sum()),
        "semi_supervised": not bool(known.all()),
        "chosen": _chosen(estimator),
        "loo_score": None if score is None else float(score),
        "loo_measure": "accuracy" if classify else "R²",
        "baseline": majority if classify else 0.0,
        "folds_score": None,
        "seed": seed,
        "fitted_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "ulmus": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }


def _importances(encoder: TableEncoder, estimator: Any) -> dict[str, float]:
    """The shares of the columns in `feature_importances_`, largest first; none for images."""
    shares = None if encoder.image_shape else getattr(estimator, "feature_importances_", None)
    if shares is None:
        return {}
    total = column_shares(encoder, shares)
    order = np.argsort(-total, kind="stable")[:_MOST_IMPORTANCES]
    return {encoder.names[j]: round(float(total[j]), 4) for j in order}


def _used_rows(goal: Target, unlabelled_blank: bool, seed: int) -> tuple[np.ndarray, list[str]]:
    """Which rows are used, and notes about those whose target is blank."""
    known, blank = np.flatnonzero(goal.known), np.flatnonzero(~goal.known)
    if len(known) < _FEWEST_ROWS:
        raise InvalidInputError(
            f"Only {len(known)} rows have a target in {goal.name!r}; at least {_FEWEST_ROWS} are "
            "needed."
        )
    if not len(blank):
        return known, []
    what = f"{len(blank):,} of {len(goal.known):,} rows have no {goal.name!r}"
    if not unlabelled_blank and len(known) >= min(len(goal.known) / 2, _ENOUGH):
        return known, [
            f"{what}: the {len(known):,} others are enough, and these were left out; "
            f"{option('--unlabelled-blank', 'unlabelled_blank=True')} makes use of them."
        ]
    notes = [f"{what}: the fit is semi-supervised, and learns from their columns."]
    room = max(_GRAPH_ROWS - len(known), 0)
    if len(blank) > room:
        blank = check_random_state(seed).permutation(blank)[:room]
        notes.append(f"A random {room:,} of them were used; the graph would be large with all.")
    return np.sort(np.concatenate([known, blank])), notes


def _plain(values: np.ndarray) -> np.ndarray:
    """Words as an array of strings, which is what estimators expect."""
    return values.astype(str) if values.dtype == object else values


def _marked(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Labels with None where there is none; −1 as a word, for as a number it means none."""
    if values.dtype != object and -1 not in values[known]:
        return np.where(known, values, -1)
    marked = values.astype(str).astype(object)
    marked[~known] = None
    return marked


def _chosen(estimator: Any) -> dict[str, Any]:
    """The choice as plain data."""
    found: dict[str, Any] = {"estimator": type(estimator).__name__}
    for name in ("n_hidden_", "C_", "lam_", "rank_", "method_"):
        if hasattr(estimator, name):
            value = getattr(estimator, name)
            found[name.rstrip("_")] = value if isinstance(value, int | str) else float(value)
    kernel = getattr(estimator, "kernel_", None)
    if kernel is not None:
        found |= {"kernel": _KERNELS[type(kernel)], "gamma": float(kernel.gamma)}
    return found


# ---------------------------------------------------------------------- candidates
@dataclass(frozen=True)
class Settings:
    """What all candidates share; ``watch`` is called with a few words before each step."""

    classify: bool
    seed: int = 0
    verbose: int = 0
    watch: Callable[[str], None] = lambda _: None


def _fit_few(X: Rows, values: np.ndarray, known: np.ndarray, settings: Settings) -> Any:
    """A semi-supervised fit, or a supervised one where rows without a target do not help."""
    settings.watch("all rows")
    shared: dict[str, Any] = {"random_state": settings.seed, "verbose": settings.verbose}
    if settings.classify:
        # Every row counts the same, as it does in the accuracy that the model is judged by.
        estimator = SemiSupervisedELMClassifier(class_weight=None, **shared)
        given = _marked(values, known)
    else:
        estimator = SemiSupervisedELMRegressor(**shared)
        given = np.where(known, values, np.nan)
    candidates = estimator.fit(X, given).candidates_
    alone = float(candidates["weight"][candidates["kind"] == "alone"].sum())
    return estimator if alone < _ALONE else choose(X[known], _plain(values[known]), settings)


def choose(X: Rows, y: np.ndarray, settings: Settings) -> Any:
    """The best of a few candidates, fitted to all rows.

    Random units, and a kernel where rows are not too many. Where there are more rows than a kernel
    is chosen on and it is used whole, units are not tried: their error falls less with more rows,
    and on no visible table with so many do they win by more than .001.
    """
    n, kernel = X.shape[0], None
    if n <= _KERNEL_ROWS:
        settings.watch("a kernel")
        kernel = _fitted(settings, X, y, kernel=True)
        if n > CHOICE_ROWS and kernel.method_ == "exact":
            return kernel
    settings.watch("random units")
    units = _fitted(settings, X, y)
    wins = kernel is not None and _error(kernel) < _BETTER * _error(units)
    return kernel if wins else units


def _error(model: Any) -> float:
    """The squared error over left-out rows, which varies less than how many of them are right."""
    path = model.loo_path_
    return float(path["squared_error"][path["C"] == model.C_][0])


def _fitted(settings: Settings, X: Rows, y: np.ndarray, kernel: bool = False) -> Any:
    """An estimator of random units, or of a kernel."""
    # Wide kernels have large coefficients of both signs: their sum needs double precision.
    double = kernel or (not settings.classify and np.abs(y).max() > _FAR * np.std(y))
    kinds = (KernelELMRegressor, KernelELMClassifier) if kernel else (ELMRegressor, ELMClassifier)
    dtype = "float64" if double else None
    estimator = kinds[settings.classify](
        random_state=settings.seed, verbose=settings.verbose, dtype=dtype
    )
    return estimator.fit(X, y)
