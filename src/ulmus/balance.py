"""Balanced class weights, and how they change when a row is left out.

A row with sample weight sᵢ has the weight cᵢ = sᵢ S/(m Sₜ), where Sₜ is the total of its class, S
that of all rows and m the number of classes. If u of sᵢ is left out, S and Sₜ lose u, so that all
weights are multiplied by a = (S − u)/S, and those of the row's own class by b = Sₜ/(Sₜ − u) as
well. A fit without the row is therefore a fit with fixed weights in which the row's class weighs b
times as much, C is a times as large, and the row loses b times its weight.

With equal sample weights, a and b are the same for all rows of a class. Otherwise each row has its
own; the residual is an analytic function of u, and is interpolated between a few values of u.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebpts1
from scipy.interpolate import BarycentricInterpolator

from ulmus.targets import balanced

# A class with less than this part of its total left is treated as empty.
_GONE = 1e-9
# Relative error of the interpolation over u, which determines the number of nodes.
_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Leaving:
    """Rows of one class that are left out one at a time, by their numbers.

    ``a`` and ``b`` are those of each row. ``nodes`` are the pairs (a, b) to solve for, and
    ``share`` (rows × nodes) the interpolation weights of each row.
    """

    code: int
    rows: np.ndarray
    a: np.ndarray
    b: np.ndarray
    nodes: list[tuple[float, float]]
    share: np.ndarray

    def each(self) -> Iterator[tuple[float, float, np.ndarray]]:
        """a, b and every row's share, one node after the other."""
        for (a, b), share in zip(self.nodes, self.share.T, strict=True):
            yield a, b, share


def rebalanced(
    codes: np.ndarray, totals: np.ndarray, weight: np.ndarray, unit: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Totals, weights and units of some rows as in a fit to these alone."""
    factor = balanced(totals)[codes]
    fresh = np.bincount(codes, weights=weight / factor, minlength=len(totals))
    change = balanced(fresh)[codes] / factor
    return fresh, weight * change, unit * change


def leavings(
    codes: np.ndarray, totals: np.ndarray, unit: np.ndarray, rows: np.ndarray
) -> Iterator[Leaving]:
    """The ``rows`` by class; ``unit`` is what each row of all loses of its weight."""
    S, m, factors = float(totals.sum()), np.count_nonzero(totals), balanced(totals)
    for code in np.unique(codes[rows]).tolist():
        own = rows[codes[rows] == code]
        u, total = unit[own] / factors[code], float(totals[code])
        last = total - u <= _GONE * total
        if last.any():
            # Without its last row the class is empty, and the total is that of m − 1 classes.
            one = np.ones(1)
            for row, a in zip(own[last], (S - u[last]) / S * m / max(m - 1, 1), strict=True):
                yield Leaving(code, np.array([row]), a * one, one, [(float(a), 1.0)], one[:, None])
        if not last.all():
            yield _together(code, own[~last], u[~last], total, S)


def _together(code: int, rows: np.ndarray, u: np.ndarray, total: float, S: float) -> Leaving:
    values, which = np.unique(u.round(12), return_inverse=True)
    needed = _needed(float(values[0]), float(values[-1]), total)
    if len(values) <= needed:
        share = np.eye(len(values))[which]
    else:
        low, high = values[0], values[-1]
        values = (low + high) / 2.0 + (high - low) / 2.0 * chebpts1(needed)
        share = BarycentricInterpolator(values, np.eye(needed))(u)
    nodes = [((S - v) / S, total / (total - v)) for v in values.tolist()]
    return Leaving(code, rows, (S - u) / S, total / (total - u), nodes, share)


def _needed(low: float, high: float, total: float) -> int:
    """How many nodes between two values of u; the nearest pole is at u = Sₜ or beyond."""
    if high <= low:
        return 1
    z = max((2.0 * total - low - high) / (high - low), 1.0 + 1e-6)
    return int(np.ceil(-np.log(_TOLERANCE) / np.log(z + np.sqrt(z**2 - 1.0)))) + 1
