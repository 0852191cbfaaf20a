"""Sums with a batch taken out again, if the batch can have been among them.

Rows with positive weights have a positive semi-definite [H 1 Y]ᵀC[H 1 Y], and every such matrix
is that of some rows. So what is left is looked at as a whole: the weight, the classes' totals on
the diagonal, and the rest by one Cholesky factorisation, each beside its size before.
"""

import numpy as np

from ulmus.backends.linalg import Cholesky, NotPositiveDefinite, add_to_diagonal
from ulmus.backends.namespace import eps, from_numpy, namespace
from ulmus.exceptions import InvalidInputError
from ulmus.problem import Moments
from ulmus.typing import Array

__all__ = ["remaining"]

# How many times farther off than its estimate the rounding of sums may be.
_MARGIN = 16.0


def remaining(moments: Moments, batch: Moments) -> Moments:
    """The sums less those of the batch."""
    left = moments - batch
    if left.weight <= _rounding(left, moments) * moments.weight:
        raise InvalidInputError(
            f"Forgetting rows of weight {batch.weight:g} out of {moments.weight:g} leaves none to "
            "fit. Forget fewer rows, or fit a new model."
        )
    if not _possible(left, moments):
        raise InvalidInputError(
            "These rows were not all fitted, or with other targets or weights: no rows have the "
            "sums that would be left. Forget rows as they were fitted, with the weight that "
            "decay= has left them."
        )
    return left


def _possible(left: Moments, before: Moments) -> bool:
    """Whether some rows have these sums, to the rounding of the sums ``before``."""
    xp, whole = namespace(before.gram), _whole(before)
    size = xp.sqrt(xp.linalg.diagonal(whole))
    size = xp.where(size > 0, size, size + 1.0)
    scaled = _whole(left) / size / size[:, None]
    try:
        Cholesky(add_to_diagonal(scaled, _rounding(left, before)), overwrite=True)
    except NotPositiveDefinite:
        return False
    return True


def _whole(m: Moments) -> Array:
    """[H 1 Y]ᵀC[H 1 Y]."""
    xp = namespace(m.gram)
    s, t = m.hidden[:, None], m.target[:, None]
    weight = from_numpy(np.array([[m.weight]]), m.gram)
    rows = [[m.gram, s, m.cross], [s.T, weight, t.T], [m.cross.T, t, m.energy]]
    return xp.concat([xp.concat(row, axis=1) for row in rows])


def _rounding(left: Moments, before: Moments) -> float:
    """How far below zero rounding may move an eigenvalue, beside a diagonal of ones."""
    xp = namespace(before.gram)
    largest = float(xp.max(xp.linalg.diagonal(before.gram)))
    sums = left.rounding / largest if largest > 0 else 0.0
    return _MARGIN * (sums + before.gram.shape[0] * eps(before.gram.dtype))
