"""TSVM: a support vector machine that also chooses the labels it was not given.

It minimises ‖f‖² γ + mean loss of the labelled rows + mean loss of the others, over f and over
their labels, of which a given share is positive. The loss is the square of the hinge. Joachims
(1999) exchanges pairs of labels while that helps, and raises the others' part from near nothing
to its full weight; here all pairs that help are exchanged at once (Sindhwani and Keerthi 2006).
"""

import numpy as np

from papers.kernel_machines import squared_hinge

# The unlabelled rows' weight, from a first look at them to its full value.
_RISING = 4.0 ** np.arange(-6, 1)
_ROUNDS = 20


def transductive(Z, labelled, t, gamma):
    """Weights of a linear TSVM, f = Zw, and the labels (−1 and 1) it gives to all rows.

    Z are rows as they are or in the coordinates of a kernel. As many of the rows without a label as
    of those with one are taken to be positive, in parts. ``gamma`` is γ of ‖f‖².
    """
    others = np.setdiff1d(np.arange(len(Z)), labelled)
    positive = round(float(np.mean(t > 0)) * len(others))
    labels = np.zeros(len(Z))
    labels[labelled] = t
    w = squared_hinge(Z[labelled], t, _weights(len(Z), labelled, gamma)[labelled])
    labels[others] = _highest(Z[others] @ w, positive)
    for part in _RISING:
        c = _weights(len(Z), labelled, gamma, part)
        for _ in range(_ROUNDS):
            w = squared_hinge(Z, labels, c, w)
            # For this w no other labels with as many positive ones have a lower loss.
            found = _highest(Z[others] @ w, positive)
            if np.array_equal(found, labels[others]):
                break
            labels[others] = found
    return w, labels


def _weights(n, labelled, gamma, part=1.0):
    """What each row weighs: 1/γ for the labelled ones together, and as much for the others."""
    c = np.full(n, part / (gamma * max(n - len(labelled), 1)))
    c[labelled] = 1.0 / (gamma * len(labelled))
    return c


def _highest(f, positive):
    """1 for as many rows as should be positive, and −1 for the others."""
    labels = np.full(len(f), -1.0)
    labels[np.argsort(-f, kind="stable")[:positive]] = 1.0
    return labels
