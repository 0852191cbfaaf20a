"""Weights of the columns by leave-one-out, for kernels and for hidden layers.

Columns are weighed by the root of the mean squared gradient of the fitted outputs, the diagonal of
the average gradient outer product (Radhakrishnan et al., 2024), and all is solved again. The least
error over left-out rows decides how often.

Weights follow from the same rows, so the errors that are left out with them are too small: they are
multiplied by 1 + 2d/n, as a prediction error is for d fitted parameters (Akaike, 1969).

All rules were fixed on half of the visible tables and confirmed on the others; `docs/benchmarks`
says which, and what they reached.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from ulmus.hidden import sample_rows
from ulmus.methods.ridge import Ridge, solve
from ulmus.problem import ErrorPath, Problem
from ulmus.slopes import Slopes
from ulmus.sources.source import AtHand

# Rows that everything is chosen on. An eigendecomposition of 2000 rows takes 1.2 s of one core.
CHOICE_ROWS = 2000
# How often columns are weighed; a third time gained nothing on the mean. Where the error still
# falls by five per cent, as it does where nearly all columns are noise, they are weighed again.
_ROUNDS, _MOST_ROUNDS, _FALLS = 2, 6, 0.95
# No column has a smaller weight than this part of the largest.
_LEAST_WEIGHT = 1e-3
# Rows over which gradients are averaged, and the most values of units or kernels times columns for
# that: about a second.
_GRADIENT_ROWS, _GRADIENT_WORK = 600, 1e9


class Candidate(Protocol):
    """Something fitted on weighed columns."""

    @property
    def squared(self) -> float:
        """The least squared error over left-out rows."""

    def next_weights(self, count: np.ndarray | None, seed: int) -> np.ndarray | None:
        """Weights from its gradients; None where nothing varies."""


Kind = TypeVar("Kind", bound=Candidate)


def correction(columns: int, total: float) -> float:
    """What left-out errors are multiplied by where as many columns have been weighed."""
    return 1.0 + 2.0 * columns / total


def gradient_rows(n: int, units: int, columns: int, seed: int) -> np.ndarray:
    """The rows that gradients of so many units are averaged over."""
    most = int(np.clip(_GRADIENT_WORK // (units * columns), 1, _GRADIENT_ROWS))
    return np.arange(n) if n <= most else np.sort(sample_rows(seed, most, n))


def weights_of(slopes: Slopes, share: np.ndarray) -> np.ndarray | None:
    """√(mean squared gradient) by column, of mean square one; None where nothing varies."""
    size = np.sqrt(slopes.squares(share / share.sum()))
    if not size.max() > 0:
        return None
    weights = np.maximum(size / size.max(), _LEAST_WEIGHT)
    weights /= np.sqrt(np.mean(weights**2))
    return np.asarray(weights)


def weighings(
    start: Kind, again: Callable[[np.ndarray, int], Kind], count: np.ndarray | None, seed: int
) -> Iterator[Kind]:
    """The same with columns weighed once, twice and so on, while the error falls."""
    last = start
    for number in range(1, _MOST_ROUNDS + 1):
        weights = last.next_weights(count, seed)
        if weights is None:
            return
        found = again(weights, number)
        yield found
        if found.squared > (1.0 if number < _ROUNDS else _FALLS) * last.squared:
            return
        last = found


# ---------------------------------------------------------------- hidden layers
@dataclass(frozen=True)
class WeighedLayer:
    """A hidden layer on weighed columns, fitted; ``round`` is how often they have been weighed.

    ``weights`` is None for columns as they are scaled.
    """

    weights: np.ndarray | None
    round: int
    problem: Problem
    path: ErrorPath
    coef: np.ndarray
    correction: float = 1.0

    @property
    def squared(self) -> float:
        """The least squared error over left-out rows."""
        return float(self.path.squared_error.min())

    @property
    def score(self) -> tuple[float, ...]:
        """Error rate, if there is one, and squared error, corrected for the fit of the weights."""
        best = int(np.argmin(self.path.squared_error))
        rates, squares = self.path.error_rate, self.path.squared_error
        both = (squares,) if rates is None else (rates, squares)
        return tuple(self.correction * float(errors[best]) for errors in both)

    def next_weights(self, count: np.ndarray | None, seed: int) -> np.ndarray | None:
        """Weights from the gradients of the outputs; None where nothing varies."""
        X, layer = self.problem.H.X, self.problem.H.layer
        some = gradient_rows(X.shape[0], layer.width, X.shape[1], seed)
        share = np.ones(len(some)) if count is None else count[some]
        coef = self.coef / (np.abs(self.coef).max() or 1.0)
        slopes = layer.slopes(X[some], coef)
        # By columns that are scaled and not weighed, whatever their own units are.
        factor = np.ones(X.shape[1]) if self.weights is None else self.weights
        return weights_of(replace(slopes, factor=factor), share)


def weighed_layers(
    problem_of: Callable[[np.ndarray | None], Problem],
    C: Any,
    columns: int,
    count: np.ndarray,
    seed: int,
) -> list[WeighedLayer]:
    """A hidden layer on columns as they are, and weighed while that lowers the error.

    ``problem_of`` gives the problem over the layer with these weights, of rows in float64 that
    count so often; ``columns`` of them vary. There is nothing to try with more columns than rows:
    no weights win by as much as the correction asks for.
    """
    # A row of weight two is two rows; one of weight ½ is one row.
    total = float(np.maximum(count, 1.0).sum())
    if columns >= total:
        return []

    def fitted(weights: np.ndarray | None, number: int, factor: float) -> WeighedLayer:
        problem = problem_of(weights)
        path = solve(problem, C, seed).path
        assert path is not None  # there are several C
        # At the least squared error, which a row of weight two moves as two rows do.
        best = float(path.C[np.argmin(path.squared_error)])
        coef = Ridge(best, asked=False).fit(AtHand(problem, seed)).coef
        return WeighedLayer(weights, number, problem, path, coef, factor)

    first = fitted(None, 0, 1.0)
    again = partial(fitted, factor=correction(columns, total))
    return [first, *weighings(first, again, count, seed)]
