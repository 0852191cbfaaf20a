"""Removing rows from sums; refused where these cannot have been among the summed rows."""

import numpy as np

from ulmus.backends.linalg import Cholesky, NotPositiveDefinite, add_to_diagonal
from ulmus.backends.namespace import eps, from_numpy, namespace
from ulmus.exceptions import InvalidInputError
from ulmus.problem import Moments
from ulmus.reservoir import Reservoir
from ulmus.typing import Array

# Rounding of sums, in units of its estimate.
_MARGIN = 16.0


def check_found(before: Reservoir, after: Reservoir, missing: int, count: int) -> None:
    """Refuse to forget all rows, or rows that are not among the kept ones."""
    if not len(after) or count > len(before):
        raise InvalidInputError(
            f"Forgetting {count} of {len(before)} rows leaves none to fit. Forget fewer rows, or "
            "fit a new model."
        )
    if missing:
        raise InvalidInputError(
            f"{missing} of the {count} rows to forget were not fitted, or with another target or "
            "less weight. Forget rows as they were fitted, with the weight that decay= has left "
            "them."
        )


def remaining(moments: Moments, batch: Moments) -> Moments:
    """The sums minus those of the batch, if the batch can have been among the summed rows.

    Rows with positive weights have a positive semi-definite [H 1 y]ᵀC[H 1 y] for every column y of
    Y, and every such matrix is that of some rows. So the weight is checked, then [H 1] by a
    Cholesky factorisation, and then that no column's energy is below its explained part.
    """
    left = moments - batch
    if left.weight <= _rounding(left, moments) * moments.weight:
        raise InvalidInputError(
            f"Forgetting rows of weight {batch.weight:g} out of {moments.weight:g} leaves none to "
            "fit. Forget fewer rows, or fit a new model."
        )
    if not possible(left, moments):
        raise InvalidInputError(
            "These rows were not all fitted, or with other targets or weights: no rows have the "
            "sums that would be left. Forget rows as they were fitted, with the weight that "
            "decay= has left them."
        )
    return left


def possible(left: Moments, before: Moments) -> bool:
    """Whether some rows have these sums, up to the rounding of the sums ``before``."""
    xp, slack = namespace(before.gram), _rounding(left, before)
    size, outer = _size(xp.linalg.diagonal(_with_ones(before))), _size(before.energy)
    scaled = _with_ones(left) / size / size[:, None]
    try:
        factor = Cholesky(add_to_diagonal(scaled, slack), overwrite=True)
    except NotPositiveDefinite:
        return False
    cross = xp.concat([left.cross, left.target[None, :]]) / size[:, None] / outer
    explained = xp.sum(factor.whiten(cross) ** 2, axis=0)
    return bool(xp.all(left.energy / outer**2 + slack > explained))


def _with_ones(m: Moments) -> Array:
    """[H 1]ᵀC[H 1]."""
    xp, s = namespace(m.gram), m.hidden[:, None]
    weight = from_numpy(np.array([[m.weight]]), m.gram)
    return xp.concat([xp.concat([m.gram, s], axis=1), xp.concat([s.T, weight], axis=1)])


def _size(squares: Array) -> Array:
    """The square roots, one where there is zero."""
    xp = namespace(squares)
    return xp.where(squares > 0, xp.sqrt(xp.clip(squares, min=0.0)), 0.0 * squares + 1.0)


def _rounding(left: Moments, before: Moments) -> float:
    """The rounding of eigenvalues, of a matrix with ones on its diagonal."""
    xp = namespace(before.gram)
    largest = float(xp.max(xp.linalg.diagonal(before.gram)))
    sums = left.rounding / largest if largest > 0 else 0.0
    return _MARGIN * (sums + before.gram.shape[0] * eps(before.gram.dtype))
