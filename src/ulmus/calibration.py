"""Probabilities from decision values, with one temperature.

Leave-one-out decision values are as honest as a validation set's, so the
temperature a of softmax(a f) is fitted to them. One positive number leaves every
order as it was: the likeliest class is always the predicted one.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp, softmax

__all__ = ["probabilities", "temperature"]

# log a: from probabilities that are all but equal to ones that are all but certain.
_BOUNDS = (-7.0, 7.0)


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
    logits = np.column_stack([-F / 2, F / 2]) if F.shape[1] == 1 else F
    own = logits[np.arange(len(F)), codes]
    others = (logits.sum(axis=1) - own) / (logits.shape[1] - 1)
    expected = (1.0 - doubt) * own + doubt * others

    def loss(log_a: float) -> float:
        a = np.exp(log_a)
        return float(c @ (logsumexp(a * logits, axis=1) - a * expected))

    return float(np.exp(minimize_scalar(loss, bounds=_BOUNDS, method="bounded").x))


def probabilities(F: np.ndarray, a: float) -> np.ndarray:
    """One row of class probabilities for each row of decision values."""
    if F.shape[1] == 1:
        P = np.column_stack([expit(-a * F), expit(a * F)])
        chosen = (F[:, 0] > 0).astype(int)
    else:
        P = softmax(a * F, axis=1)
        chosen = F.argmax(axis=1)
    # Decision values too close for the exponential to tell apart tie; the choice stands.
    tied = np.flatnonzero(P.argmax(axis=1) != chosen)
    P[tied, chosen[tied]] = np.nextafter(P[tied].max(axis=1), 2.0, dtype=P.dtype)
    return P
