"""How far rounding may move an answer: eps times the condition of the system that was solved.

A stable solver of A β = BᵀS, A = BᵀB + Q + rI with Q positive semi-definite, finds the answer to a
system whose matrix is off by a few eps‖A‖. With κ = ‖A‖/r and ‖β‖ ≤ ‖S‖/2√r this moves the outputs
Bβ by eps κ‖S‖ and β by eps κ‖S‖/√r, in feature space and in row space. A row that is left
out has the residual e/(1 − ℓ), which magnifies what moves e and the leverage ℓ by 1/(1 − ℓ).
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["EPS", "STEPS", "Conditioning", "assert_within", "with_ones"]

EPS = float(np.finfo(float).eps)
# What the rounding of all steps adds up to, as a multiple of that of one. The most that
# hundreds of examples of every law needed is 6.
STEPS = 16.0


def assert_within(found, expected, apart):
    """No entry of ``found`` is further from the expected one than ``apart``."""
    times = np.abs(np.asarray(found) - expected) / apart
    assert np.all(times <= 1.0), f"{np.max(times):.3g} times as far off as rounding explains"


@dataclass(frozen=True)
class Conditioning:
    """Of a fit: its matrix A, the ridge r in it, and ``size`` = ‖√c T‖ over the least √c."""

    A: np.ndarray
    ridge: float
    size: float

    @classmethod
    def of(cls, H, T, ridge, c=None, penalty=0.0):
        """For hidden rows H with the weights c; ``penalty`` is what else is in A."""
        c = np.ones(len(H)) if c is None else c
        root = np.sqrt(c[c > 0])
        H, T = H[c > 0] * root[:, None], T[c > 0] * root[:, None]
        A = H.T @ H + penalty + ridge * np.eye(H.shape[1])
        return cls(A, ridge, np.linalg.norm(T) / root.min())

    @property
    def outputs(self):
        """How far an output may be off."""
        return STEPS * EPS * np.linalg.norm(self.A, 2) / self.ridge * self.size

    @property
    def weights(self):
        """How far β may be off."""
        return self.outputs / np.sqrt(self.ridge)

    def new_rows(self, H):
        """How far the outputs of rows may be off that are no part of the fit."""
        return np.linalg.norm(H, axis=1)[:, None] * self.weights

    def left_out(self, H, residual, unit):
        """How far the output of each row may be off when ``unit`` of its weight is left out."""
        leverage = unit * np.sum(H * np.linalg.solve(self.A, H.T).T, axis=1)
        rest = np.clip(1.0 - leverage, EPS, None)
        worst = np.abs(residual).max(axis=1) / self.size
        return (self.outputs * (1.0 + worst) / rest)[:, None]

    def squared_error(self, H, residual, unit, c):
        """How far the weighted mean of the squares of left-out residuals may be off."""
        apart = self.left_out(H, residual, unit)
        return np.average(np.sum((2 * np.abs(residual) + apart) * apart, axis=1), weights=c)


def with_ones(H, ridge):
    """H with a column for an intercept, and what takes the ridge off that column."""
    H = np.column_stack([H, np.ones(len(H))])
    return H, -ridge * np.diag(np.r_[np.zeros(H.shape[1] - 1), 1.0])
