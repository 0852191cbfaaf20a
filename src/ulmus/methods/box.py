"""Minimise a quadratic on a box, to high accuracy for any conditioning.

    min ½αᵀQα + pᵀα,   0 ≤ α ≤ upper,   Q positive semi-definite

Coordinate descent is slow where Q has a few large eigenvalues and many small ones, as with hidden
layers. A primal-dual interior point method takes some twenty steps for any Q, each a factorisation
of the size of the rows' smaller side. It need not converge: once it is known which variables are at
a bound, Newton steps on the others give the solution, with exact zeros.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ulmus.backends.gram import Gram
from ulmus.backends.linalg import Cholesky, NotPositiveDefinite, add_to_diagonal, matmul
from ulmus.hidden import row_blocks
from ulmus.typing import Array

_BLOCK = 2048
# Gap relative to the objective below which Newton steps on the free variables are tried.
_CROSSOVER = 1e-3
# Newton steps of one such try.
_TRIES = 10
_SHORTEST = 1e-9


@dataclass(frozen=True)
class DenseCurvature:
    """Q itself."""

    Q: Array

    @property
    def rank(self) -> int:
        """An upper bound of the rank of Q."""
        return len(self.Q)

    def apply(self, x: Array) -> Array:
        """Q x."""
        return self.Q @ x

    def face(self, F: Array) -> Array:
        """Q[F, F], dense."""
        return np.asfortranarray(self.Q[np.ix_(F, F)])

    def shifted(self, D: Array) -> Callable[[Array], Array]:
        """Solves (Q + diag D) x = r for positive D."""
        return Cholesky(add_to_diagonal(self.Q, D), overwrite=True).solve


@dataclass(frozen=True)
class RowCurvature:
    """Q = AAᵀ for more rows than columns, in the same four ways."""

    A: Array

    @property
    def rank(self) -> int:
        return int(self.A.shape[1])

    def apply(self, x: Array) -> Array:
        return self.A @ (self.A.T @ x)

    def face(self, F: Array) -> Array:
        return np.asfortranarray(matmul(self.A[F], self.A[F].T))

    def shifted(self, D: Array) -> Callable[[Array], Array]:
        """By Woodbury: (D + AAᵀ)⁻¹ = V − VA(I + AᵀVA)⁻¹AᵀV with V = 1/D."""
        V = 1.0 / D
        total = Gram(self.rank, V)
        for part in row_blocks(len(V), _BLOCK):
            total.add(self.A[part] * np.sqrt(V[part])[:, None])
        factor = Cholesky(add_to_diagonal(total.total(), 1.0, overwrite=True), overwrite=True)

        def solve(r: Array) -> Array:
            x = V * r
            return x - V * (self.A @ factor.solve(self.A.T @ x))

        return solve


@dataclass(frozen=True)
class Box:
    """The problem."""

    Q: DenseCurvature | RowCurvature
    p: Array
    upper: Array

    def gradient(self, alpha: Array) -> Array:
        """Qα + p."""
        return self.Q.apply(alpha) + self.p

    def value(self, alpha: Array) -> float:
        """½αᵀQα + pᵀα."""
        return 0.5 * float(alpha @ (self.gradient(alpha) + self.p))


def pull(alpha: Array, upper: Array, gradient: Array) -> Array:
    """The projected gradient: zero at the minimum."""
    return np.where(
        alpha <= 0.0,
        np.minimum(gradient, 0.0),
        np.where(alpha >= upper, np.maximum(gradient, 0.0), gradient),
    )


def violation(alpha: Array, upper: Array, gradient: Array) -> float:
    """The largest violation of the optimality conditions."""
    return float(np.max(np.abs(pull(alpha, upper, gradient)), initial=0.0))


@dataclass
class _Point:
    """α, its distance u to the upper bound, and the multipliers of both bounds."""

    a: Array
    u: Array
    s: Array
    z: Array
    g: Array

    @property
    def gap(self) -> float:
        """Sum of the complementarity products."""
        return float(self.a @ self.s + self.u @ self.z)

    def longest(self, step: "tuple[Array, Array, Array]") -> float:
        """The longest step for which variables and multipliers stay positive, at most one."""
        a, s, z = step
        longest = 1.0
        for x, dx in ((self.a, a), (self.u, -a), (self.s, s), (self.z, z)):
            shrinks = dx < 0
            if shrinks.any():
                longest = min(longest, float(np.min(x[shrinks] / -dx[shrinks])))
        return longest

    def rounded(self, upper: Array) -> Array:
        """α with variables that are smaller than the multiplier of a bound moved onto it."""
        scaled, rest = self.a / upper, self.u / upper
        return np.where(
            (self.s > self.z) & (self.s > scaled),
            0.0,
            np.where((self.z > self.s) & (self.z > rest), upper, self.a),
        )


def interior(box: Box, alpha: Array, tol: float, max_steps: int) -> tuple[Array, int]:
    """The minimum, to a projected gradient of ``tol``, and the number of factorisations.

    Mehrotra's predictor and corrector. After ``max_steps``, or where rounding allows no more
    progress, it is the lowest point so far.
    """
    point, steps, crossover = _start(box, alpha), 0, _CROSSOVER
    best, lowest = alpha, box.value(alpha)
    while steps < max_steps:
        value = 0.5 * float(point.a @ (point.g + box.p))
        if point.gap <= crossover * (abs(value) + point.gap):
            tried, done, more = polish(
                box, point.rounded(box.upper), tol, min(_TRIES, max_steps - steps)
            )
            steps += more
            if done:
                return tried, steps
            if box.value(tried) < lowest:
                best, lowest = tried, box.value(tried)
            crossover *= 0.03
            if steps == max_steps:
                break
        try:
            length = _advance(box, point)
        except NotPositiveDefinite:
            break
        steps += 1
        if not length > _SHORTEST:
            break
    return best, steps


def _start(box: Box, alpha: Array) -> _Point:
    """A point well inside the box, with multipliers that make its gradient vanish."""
    a = np.clip(alpha, 0.1 * box.upper, 0.9 * box.upper)
    g = box.gradient(a)
    room = max(0.1, float(np.abs(g).mean()))
    return _Point(a, box.upper - a, np.maximum(g, 0.0) + room, np.maximum(-g, 0.0) + room, g)


def _advance(box: Box, point: _Point) -> float:
    """One predictor and corrector step from one factorisation; returns its length."""
    a, u, s, z = point.a, point.u, point.s, point.z
    solve = box.Q.shifted(s / a + z / u)
    off = point.g - s + z

    def step(lower: Array, higher: Array) -> tuple[Array, Array, Array]:
        da = solve(lower / a - higher / u - off)
        return da, (lower - s * da) / a, (higher + z * da) / u

    da, ds, dz = step(-a * s, -u * z)
    t = point.longest((da, ds, dz))
    reached = float((a + t * da) @ (s + t * ds) + (u - t * da) @ (z + t * dz))
    mean = point.gap / (2 * len(a))
    aim = mean * (reached / point.gap) ** 3
    da, ds, dz = step(aim - a * s - da * ds, aim - u * z + da * dz)
    t = min(1.0, 0.995 * point.longest((da, ds, dz)))
    if not np.isfinite(t) or not np.isfinite(da).all():
        return 0.0
    point.a, point.s, point.z = a + t * da, s + t * ds, z + t * dz
    point.u = u - t * da
    point.g = box.gradient(point.a)
    return t


def polish(box: Box, alpha: Array, tol: float, max_steps: int) -> tuple[Array, bool, int]:
    """α after Newton steps in the free variables, whether they converged, and their number.

    They converge in a few steps once the set of variables at a bound is nearly right, and not
    otherwise, so they end when a step no longer helps. The first step moves free variables only:
    until these are right, the gradient does not show which of the others should move.
    """
    alpha = alpha.copy()
    for steps in range(max_steps + 1):
        g = box.gradient(alpha)
        if violation(alpha, box.upper, g) <= tol:
            return alpha, True, steps
        free = (alpha > 0.0) & (alpha < box.upper)
        F = np.flatnonzero(free | (pull(alpha, box.upper, g) != 0.0) if steps else free)
        if steps == max_steps or not 0 < len(F) <= 1.2 * box.Q.rank:
            break
        moved = _face_step(box.Q.face(F), g[F], alpha[F], box.upper[F])
        if moved is None:
            break
        alpha[F] = moved
    return alpha, False, steps


def _face_step(Q: Array, g: Array, alpha: Array, upper: Array) -> Array | None:
    """A lower point on the projected Newton path from α; None if there is none."""
    shift = 1e-14 * float(np.trace(Q))
    while True:
        try:
            direction = -Cholesky(add_to_diagonal(Q, shift), overwrite=True).solve(g)
            break
        except NotPositiveDefinite:
            shift = 100.0 * shift if shift > 0.0 else 1.0
    t = 1.0
    while t > _SHORTEST:
        new = np.clip(alpha + t * direction, 0.0, upper)
        step = new - alpha
        slope = float(g @ step)
        if slope + 0.5 * float(step @ (Q @ step)) < -1e-4 * abs(slope):
            return new
        t *= 0.5
    return None
