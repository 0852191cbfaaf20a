"""How much each input column matters: the mean squared gradient of the outputs.

For an estimator that states its gradients, ``_slopes(X)``, and keeps rows.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ulmus.backends.namespace import on_host, take
from ulmus.backends.threads import held_threads
from ulmus.features.scaling import ColumnStatistics
from ulmus.fitted import snapshot
from ulmus.hidden import block_rows, blocks_of, sample_rows
from ulmus.reservoir import SOME_ROWS
from ulmus.typing import Rows

# Rows times units times columns that take about half a second, and the fewest rows.
_WORK, _FEWEST = 1e8, 200


def feature_importances(model: Any) -> np.ndarray:
    """How much the outputs change with each column, as shares that sum to one.

    It is the mean squared gradient, exact from β and the formulas of the hidden units or the
    kernel, summed over the outputs, over at most 1000 of the fitted rows (down to 200, where units
    or landmarks times columns are many). A column counts in units of its standard deviation, so
    that measuring it in others changes nothing. Where the hidden units or the kernel state no
    gradient, there is no such attribute.
    """
    check_is_fitted(model)
    model = snapshot(model)
    with held_threads():
        shares = _squares(model, *_fitted_rows(model))
    total = shares.sum()
    return shares / total if total > 0 else shares


def _fitted_rows(model: Any) -> tuple[Rows, np.ndarray | None]:
    """The rows that were fitted, or some of them, and how much each counts."""
    rows, kept = vars(model).get("_rows"), vars(model).get("_kept")
    if rows is not None:
        return rows, None
    if kept is None:
        raise AttributeError(
            "feature_importances_ needs some of the fitted rows, and this model was saved "
            "without them; use for_update=True."
        )
    return kept.sample()


def _sampled(X: Rows, weight: np.ndarray | None, units: int) -> tuple[Rows, np.ndarray]:
    """Some of these rows, on the host, and weights that sum to one."""
    n, d = X.shape
    weight = np.ones(n) if weight is None else weight
    most = int(np.clip(_WORK // (units * d), _FEWEST, SOME_ROWS))
    if n > most:
        rows = np.sort(sample_rows(0, most, n))
        X, weight = take(X, rows), weight[rows]
    return on_host(X), weight / weight.sum()


def _squares(model: Any, X: Rows, weight: np.ndarray | None) -> np.ndarray:
    """The mean of ‖∂f/∂xⱼ‖² for every column j but for a factor, a block of rows at a time."""
    one = model._slopes(on_host(take(X, slice(0, 1))))
    if one is None:
        source = vars(model).get("features_", vars(model).get("kernel_"))
        raise AttributeError(
            f"There are no feature_importances_: {source!r} states no gradient. RandomFeatures "
            "with an activation given by name, RBFFeatures, and all kernels given by name but "
            "'precomputed' do."
        )
    X, weight = _sampled(X, weight, len(one.coef))
    scaling = vars(model).get("scaling_", getattr(vars(model).get("features_"), "scaling_", None))
    X = X if scaling is None else scaling.within(X)
    unit, total = ColumnStatistics.of(X, weight).deviation, np.zeros(X.shape[1])
    # Only the shares count, so β may be brought to a size whose square is a number.
    coef = one.coef / (np.abs(one.coef).max() or 1.0)
    # Beside the rows: two slopes for each unit, and one of them times β.
    for rows, block in blocks_of(X, block_rows(3 * len(coef), 8, 2 * X.shape[1])):
        total += replace(model._slopes(block), coef=coef).squares(weight[rows], unit)
    return total
