"""Probabilities from decision values, with one temperature.

Leave-one-out decision values are as unbiased as a validation set's, so the
temperature a of softmax(a f) is fitted to them. One positive number leaves every
order as it was: the likeliest class is always the predicted one.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from ulmus.backends.namespace import eps, from_numpy, namespace
from ulmus.targets import chosen
from ulmus.typing import Array

__all__ = ["TEMPERATURES", "probabilities", "temperature", "temperature_for"]

# log a: from probabilities that are all but equal to ones that are all but certain.
_BOUNDS = (-7.0, 7.0)
# The range of every fitted a.
TEMPERATURES = (float(np.exp(_BOUNDS[0])), float(np.exp(_BOUNDS[1])))


def temperature(F: np.ndarray, codes: np.ndarray, weight: np.ndarray | None = None) -> float:
    """The a > 0 under which softmax(a F), or expit(a F), makes the codes likeliest.

    Each row is taken to be right with probability (N + 1)/(N + 2), as Platt does:
    a few rows that are all right are no proof of certainty.

    Examples
    --------
    >>> import numpy as np
    >>> F = np.tile([[-1.0], [1.0], [1.0], [1.0]], (1000, 1))
    >>> a = temperature(F, np.tile([0, 1, 1, 0], 1000))  # three of four are right
    >>> bool(abs(a - np.log(3)) < 0.01)
    True
    """
    c = np.ones(len(F)) if weight is None else weight
    doubt = 1.0 / (c.sum() + 2.0)
    logits = _logits(F)
    own = logits[np.arange(len(F)), codes]
    others = (logits.sum(axis=1) - own) / (logits.shape[1] - 1)
    return _likeliest(logits, (1.0 - doubt) * own + doubt * others, c)


def temperature_for(F: np.ndarray, P: np.ndarray) -> float:
    """The a > 0 under which softmax(a F), or expit(a F), is closest to the probabilities P."""
    logits = _logits(F)
    return _likeliest(logits, (P * logits).sum(axis=1), np.ones(len(F)))


def _logits(F: np.ndarray) -> np.ndarray:
    return np.column_stack([-F / 2, F / 2]) if F.shape[1] == 1 else F


def _likeliest(logits: np.ndarray, expected: np.ndarray, weight: np.ndarray) -> float:
    """The a for logits whose mean under the true probabilities is ``expected``."""

    def loss(log_a: float) -> float:
        a = np.exp(log_a)
        return float(weight @ (logsumexp(a * logits, axis=1) - a * expected))

    return float(np.exp(minimize_scalar(loss, bounds=_BOUNDS, method="bounded").x))


def probabilities(F: Array, a: float) -> Array:
    """One row of class probabilities for each row of decision values."""
    xp = namespace(F)
    logits = xp.concat([0.0 * F, F], axis=1) if F.shape[1] == 1 else F
    P = xp.exp(a * (logits - xp.max(logits, axis=1, keepdims=True)))
    P /= xp.sum(P, axis=1, keepdims=True)
    # Decision values too close for the exponential to tell apart tie; the choice stands.
    picked = chosen(F)
    tied = picked != xp.argmax(P, axis=1)
    if bool(xp.any(tied)):
        own = picked[:, None] == from_numpy(np.arange(P.shape[1]), picked, picked.dtype)
        above = xp.max(P, axis=1, keepdims=True) * (1.0 + 2.0 * eps(P.dtype))
        P = xp.where(own & tied[:, None], above, P)
    return P
