"""A table to a model: the target apart, the columns encoded, and what fits best chosen."""

import platform
import time
from datetime import UTC, datetime

import numpy as np
import sklearn
from sklearn.utils import check_random_state

from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.estimators.semi_supervised_regressor import SemiSupervisedELMRegressor
from ulmus.exceptions import InvalidInputError
from ulmus.tables import TableEncoder
from ulmus.tabular.choice import Choice, choose, steps_help
from ulmus.tabular.model import TableModel
from ulmus.tabular.targets import read_target, separated
from ulmus.tabular.view import View
from ulmus.version import __version__

__all__ = ["fit_table"]

# A graph over more rows than these takes minutes: of the rows without a target some are left out.
_GRAPH_ROWS = 50_000
_FEWEST_ROWS = 4
# So many rows with a target need no others.
_ENOUGH = 10_000


def fit_table(
    table, target=None, *, task="auto", unlabelled_blank=False, seed=0, watch=None, verbose=0
):
    """Fit what suits a table.

    Rows whose target is blank have none. Where less than half of the rows have one, and less than
    10 000, the fit is semi-supervised; else there is little to be had from the others, and they
    are left out.

    Parameters
    ----------
    table : Table
        As `ulmus.tables.read_table` gives it.
    target : str or None, default=None
        The column to learn; None where the file says itself what its target is.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" is classification for words, and for whole numbers with at most 20 different values
        and 5 rows of each on average; else regression.
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
    >>> from ulmus.tables import Table
    >>> from ulmus.tabular import fit_table
    >>> t = np.linspace(0, 6, 200)
    >>> table = Table(("t", "wave"), {"t": t, "wave": np.sin(t)})
    >>> model = fit_table(table, "wave")
    >>> model.task, round(model.summary["loo_score"], 3)
    ('regression', 1.0)
    """
    start, watch = time.perf_counter(), watch or _nobody
    watch("columns")
    cells, name, rest = separated(table, target)
    goal = read_target(cells, name, task, table.decimal_comma)
    labelled = int(goal.known.sum())
    few = unlabelled_blank or labelled < min(len(table) / 2, _ENOUGH)
    rows, notes = _used(goal, few, seed)
    _check_enough(goal)
    rest = rest if len(rows) == len(table) else rest.rows(rows)
    encoder = TableEncoder().fit(rest)
    X = encoder.transform(rest)
    known, values = goal.known[rows], goal.rows(rows)
    classify = goal.task == "classification"
    how = {"classify": classify, "seed": seed, "watch": watch, "verbose": verbose}
    if known.all():
        choice = choose(X, _plain(values), **how)
        score = choice.estimator.loo_score_
    else:
        choice, score = _few_targets(X, values, known, **how)
        if not hasattr(choice.estimator, "coupling_"):
            notes.append(
                "Rows' neighbours tell less about the target than the rows that have one: those "
                "alone were fitted, on columns as all rows show them."
            )
    choice.estimator.set_params(verbose=0)
    summary = {
        "rows": len(rows),
        "rows_with_target": int(known.sum()),
        "semi_supervised": not bool(known.all()),
        "chosen": _chosen(choice),
        "loo_score": None if score is None else float(score),
        "loo_measure": "accuracy" if classify else "R²",
        "seconds": round(time.perf_counter() - start, 2),
        "seed": seed,
        "fitted_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        "notes": [*table.notes, *encoder.notes, *([goal.note] if goal.note else []), *notes],
    }
    return TableModel(encoder, choice.view, choice.estimator, name, goal.task, summary)


def _used(goal, few, seed):
    """Which rows are used, and sentences about those whose target is blank."""
    known, blank = np.flatnonzero(goal.known), np.flatnonzero(~goal.known)
    if not len(blank):
        return np.arange(len(goal.known)), []
    what = f"{len(blank):,} of {len(goal.known):,} rows have a blank {goal.name!r}"
    if not few:
        return known, [
            f"{what}: the {len(known):,} others are enough, and these were left out; "
            "--unlabelled-blank makes use of them."
        ]
    notes = [f"{what}: the fit is semi-supervised, and learns from their columns."]
    room = max(_GRAPH_ROWS - len(known), 0)
    if len(blank) > room:
        blank = check_random_state(seed).permutation(blank)[:room]
        notes.append(f"A random {room:,} of them were used; the graph would be large with all.")
    return np.sort(np.concatenate([known, blank])), notes


def _few_targets(X, values, known, *, classify, seed, watch, verbose):
    """A semi-supervised fit; the columns' view is chosen by the rows that have a target."""
    watch("the rows with a target")
    steps = steps_help(X[known], _plain(values[known]), classify, seed, watch)
    watch("all rows")
    view = View(steps=steps).fit(X)
    shared = {"random_state": seed, "verbose": verbose}
    if classify:
        # Every row counts the same, as it does in the accuracy that the model is judged by.
        estimator = SemiSupervisedELMClassifier(class_weight=None, **shared)
        given = _marked(values, known)
    else:
        estimator = SemiSupervisedELMRegressor(**shared)
        given = np.where(known, values, np.nan)
    estimator.fit(view.transform(X), given)
    if estimator.coupling_ == "none":
        # The graph says nothing: what else there is to choose from is better than one model.
        how = {"classify": classify, "seed": seed, "watch": watch, "verbose": verbose}
        choice = choose(X[known], _plain(values[known]), seen=X, **how)
        return choice, choice.estimator.loo_score_
    return Choice(view, estimator, np.nan), getattr(estimator, "loo_score_", None)


def _plain(values):
    """Words as an array of strings, which is what estimators expect."""
    return values.astype(str) if values.dtype == object else values


def _marked(values, known):
    """Labels with None where there is none; −1 as a word, for as a number it means none."""
    if values.dtype != object and -1 not in values[known]:
        return np.where(known, values, -1)
    marked = values.astype(str).astype(object)
    marked[~known] = None
    return marked


def _check_enough(goal):
    found = int(goal.known.sum())
    if found < _FEWEST_ROWS:
        raise InvalidInputError(
            f"Only {found} rows have a target in {goal.name!r}; at least {_FEWEST_ROWS} are needed."
        )


def _chosen(choice):
    """The choice as plain data."""
    estimator = choice.estimator
    found = {"estimator": type(estimator).__name__, "steps": bool(len(choice.view.edge_))}
    for name in ("n_hidden_", "C_", "lam_", "rank_", "method_"):
        if hasattr(estimator, name):
            value = getattr(estimator, name)
            found[name.rstrip("_")] = value if isinstance(value, int | str) else float(value)
    gamma = getattr(getattr(estimator, "kernel_", None), "gamma", None)
    if gamma is not None:
        found["gamma"] = float(gamma)
    return found


def _versions():
    return {
        "ulmus": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _nobody(_):
    """Nobody watches."""
