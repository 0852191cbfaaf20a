"""GELM: ridge with a penalty on the within-class scatter, which a left-out row changes too.

(G + λS + I/C) β = R, where S = Σ c(h − μ)(h − μ)ᵀ and μ is the mean of the row's class. Let N, a
diagonal, hold the classes' weights and M = HᵀCY N^(−½), so that S = G − MMᵀ: the moments are all it
needs. With ρ = λ/(1 + λ) and K = G + I/C(1 + λ) the matrix A is (1 + λ)(K − ρMMᵀ), plain ridge less
a matrix of rank m, and R = M N^½E lies in the span of M. With Θ = MᵀK⁻¹M, m × m, that leaves

    β = K⁻¹M (I − ρΘ)⁻¹ N^½E / (1 + λ):

the outputs are those of plain ridge on one-hot targets, recoded. Leaving a row out changes its
class mean too: A loses u hhᵀ + v ddᵀ, d = h − μ, v = λuN/(N − u), and the row's residual is

    [(1 − v dᵀA⁻¹d)(t − f) − v hᵀA⁻¹d βᵀd] / [(1 − u hᵀA⁻¹h)(1 − v dᵀA⁻¹d) − uv (hᵀA⁻¹d)²].
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ulmus.backends.linalg import column_major, eigh, matmul, qr
from ulmus.backends.namespace import doubles, from_numpy, namespace, ratio, take, zeros
from ulmus.hidden import rows_at_once
from ulmus.methods.manifold_basis import in_span
from ulmus.methods.quadratic_penalty import (
    Eigenbasis,
    QuadraticPenalty,
    Residuals,
    Root,
    System,
    rounding_of,
)
from ulmus.methods.ridge import solved
from ulmus.problem import Moments, Problem, Solution, Tally
from ulmus.sources.source import AtHand, Source
from ulmus.targets import ClassTargets, coded, signed
from ulmus.typing import Array

_EPS = float(np.finfo(float).eps)
# Most residuals in memory at once, rows × λ × outputs: so many fit the cache.
_RESIDUALS = 2**18


@dataclass(frozen=True)
class Classes:
    """M in some basis (q × m), and N."""

    M: Array
    totals: Array

    @classmethod
    def of(cls, cross: Array, totals: Array) -> "Classes":
        """From HᵀCY and N; a class without rows has a column of zeros."""
        xp = namespace(totals)
        # After forgetting, sums this small are rounding.
        totals = xp.where(totals > _EPS * xp.sum(totals), totals, 0.0 * totals)
        return cls(ratio(cross, xp.sqrt(totals)), totals)


@dataclass(frozen=True)
class Recoding:
    """Θ = O diag(θ) Oᵀ, by which every λ is solved.

    ``weights`` is K⁻¹M O, so that a row has the coordinates φ = h·weights. With more classes than
    M has rows, O has as many columns as M has rows: θ and φ are zero in all other directions.
    """

    weights: Array
    theta: Array
    O: Array
    classes: Classes

    @classmethod
    def of(cls, solved: Array, classes: Classes) -> "Recoding":
        """From K⁻¹M."""
        M = classes.M
        if M.shape[0] < M.shape[1]:
            span, R = qr(M.T)
            theta, O = eigh(column_major(matmul(R, matmul(solved, span))))
            O = matmul(span, O)
        else:
            theta, O = eigh(column_major(matmul(M.T, solved)))
        # Θ is at most the identity, but for rounding.
        return cls(matmul(solved, O), namespace(O).clip(theta, 0.0, 1.0), O, classes)

    @property
    def targets(self) -> Array:
        """OᵀN^½E."""
        root = namespace(self.O).sqrt(self.classes.totals)
        return signed(self.O.T * root)

    def gain(self, lam: np.ndarray) -> Array:
        """1/(1 + λ)(1 − ρθ) = 1/(1 + λ − λθ), directions by λ."""
        return 1.0 / (1.0 + from_numpy(lam, self.theta) * (1.0 - self.theta[:, None]))

    def coef(self, lam: float) -> Array:
        """β in the basis of ``weights``."""
        return matmul(self.weights * self.gain(np.array([lam]))[:, 0], self.targets)

    def left_out(
        self, phi: Array, kappa: Array, codes: Array, unit: Array, strengths: np.ndarray
    ) -> Array:
        """Residuals (rows × λ × m) of rows with coordinates φ and κ = hᵀK⁻¹h, each left out."""
        xp, lam = namespace(phi), from_numpy(strengths, phi)
        gain, own, N = self.gain(strengths), take(self.O, codes), self.classes.totals
        Nt = take(N, codes)[:, None]
        root = xp.sqrt(Nt)
        # hᵀA⁻¹h, hᵀA⁻¹μ and μᵀA⁻¹μ, then the same with d = h − μ.
        hh = (kappa[:, None] + matmul(phi**2, gain * lam)) / (1.0 + lam)
        hm = matmul(phi * own, gain) / root
        mm = matmul(own**2 * self.theta, gain) / Nt
        hd, dd = hh - hm, hh - 2.0 * hm + mm
        u = unit[:, None]
        # A class of one row has no scatter to lose.
        rest = xp.where(Nt - u <= _EPS * Nt, 0.0 * Nt, Nt - u)
        v = lam * ratio(u * Nt, rest)
        rest = 1.0 - v * dd
        whole = xp.clip((1.0 - u * hh) * rest - u * v * hd**2, min=_EPS)
        Z, T = self.targets, coded(ClassTargets(codes, N.shape[0]), slice(None), phi.dtype)
        few = phi.shape[0] < N.shape[0]

        def outputs(rows: Array) -> Array:
            each = xp.reshape(rows[:, None, :] * gain.T, (-1, Z.shape[0]))
            return xp.reshape(matmul(each, Z), (-1, hh.shape[1], Z.shape[1]))

        F, means = outputs(phi), outputs((own if few else self.O) * self.theta)
        means = (means if few else take(means, codes)) / root[:, :, None]
        rest, loose = (rest / whole)[:, :, None], (v * hd / whole)[:, :, None]
        return rest * (T[:, None, :] - F) - loose * (F - means)


@dataclass(frozen=True)
class ClassSpectrum(Eigenbasis):
    """The eigenbasis of G, and M in it."""

    classes: Classes

    def recoding(self, shared: float) -> Recoding:
        """Θ at one C(1 + λ)."""
        return Recoding.of(self.inverse(shared)[:, None] * self.classes.M, self.classes)


@dataclass(frozen=True)
class ScatterPenalty(QuadraticPenalty):
    """Pairs of λ and C; those with the same C(1 + λ), the inverse of K's ridge, share a matrix."""

    lam: np.ndarray
    fixed: ClassVar[bool] = False

    def shared(self) -> list[np.ndarray]:
        """The points, by their value of C(1 + λ), which is all that K depends on."""
        values = np.log(self.C * (1.0 + self.lam)).round(9)
        return [np.flatnonzero(values == value) for value in np.unique(values)]

    def point(self, k: int) -> tuple[float, float]:
        return float(self.C[k]), float(self.lam[k])

    def strength(self, k: int) -> float:
        """C(1 + λ)."""
        return float(self.C[k] * (1.0 + self.lam[k]))

    def only(self, k: int) -> Self:
        return replace(self, C=self.C[[k]], lam=self.lam[[k]])

    def coef(self, moments: Moments, problem: Problem, root: Root) -> tuple[Array, Array]:
        """β at the only pair, from K^(−½), and no b."""
        coef = recoding(moments, root).coef(float(self.lam[0]))
        return coef, zeros(coef.shape[1], coef)

    def residuals(
        self, moments: Moments, problem: Problem, rows: np.ndarray, root: Root, b: float
    ) -> Array:
        at, H = recoding(moments, root), doubles(problem.H.take(rows).all())
        kappa = namespace(H).sum(root.whiten(column_major(H.T)) ** 2, axis=0)
        codes, unit = _codes(problem, rows), b * problem.unit_weight(rows)
        return at.left_out(matmul(H, at.weights), kappa, codes, unit, self.lam)[:, 0, :]

    def tally(self, problem: Problem) -> Tally:
        return Tally(problem, self.C, self.lam)

    def eigenbasis(self, moments: Moments, problem: Problem) -> ClassSpectrum:
        w, V = eigh(moments.gram)
        classes = Classes.of(matmul(V.T, moments.cross), moments.energy)
        return ClassSpectrum(w, V, rounding_of(moments, V), classes)

    def system(
        self,
        basis: ClassSpectrum,
        problem: Problem,
        a: float = 1.0,
        b: float = 1.0,
        share: np.ndarray | None = None,
    ) -> System:
        return _ScatterSystem(basis, problem, b, share, self, a)

    def parts(self, problem: Problem) -> Iterator[tuple[np.ndarray, int]]:
        """The pairs that share a matrix."""
        for where in self.shared():
            width = len(where) * problem.targets.outputs
            yield where, min(max(1, _RESIDUALS // width), rows_at_once(width))


def recoding(moments: Moments, root: Root) -> Recoding:
    """Θ from some root of K⁻¹."""
    classes = Classes.of(moments.cross, moments.energy)
    return Recoding.of(root.solve(classes.M), classes)


@dataclass(frozen=True)
class _ScatterSystem(System):
    penalty: ScatterPenalty
    a: float

    def rows(self, p: Array, numbers: Any, block: slice) -> Callable[[Any], Residuals]:
        p, codes = doubles(p), _codes(self.problem, numbers)
        squares, unit = p**2, self.b * self.problem.unit_weight(numbers)
        share = None if self.share is None else from_numpy(self.share[block], p)[:, None, None]

        def at(where: np.ndarray) -> Residuals:
            shared, lam = self.a * self.penalty.strength(where[0]), self.penalty.lam[where]
            at_C, inverse = self.spectrum.recoding(shared), self.spectrum.inverse(shared)

            def residuals(part: slice, _: Any) -> Array:
                phi = matmul(p[part, :], at_C.weights)
                kappa = matmul(squares[part, :], inverse[:, None])[:, 0]
                found = at_C.left_out(phi, kappa, codes[part], unit[part], lam)
                return found if share is None else share[part, :, :] * found

            return residuals

        return at


def _codes(problem: Problem, rows: Any) -> Array:
    """The class of each row."""
    assert isinstance(problem.targets, ClassTargets)
    return take(problem.targets.codes, rows)


@dataclass(frozen=True)
class Points:
    """Pairs of λ and C to choose from; one pair is taken as it is unless ``chosen``."""

    lam: np.ndarray
    C: np.ndarray
    chosen: bool = True


@dataclass(frozen=True)
class ClassScatter:
    """Pairs of λ and C to choose from, or one; ``asked`` is as in `Ridge`."""

    points: Points
    asked: bool = True
    parameters: ClassVar[tuple[str, ...]] = ("C", "lam")

    @property
    def chooses(self) -> bool:
        return self.points.chosen

    @property
    def penalty(self) -> ScatterPenalty:
        """At every pair."""
        return ScatterPenalty(self.points.C, self.points.lam)

    @property
    def needs_rows(self) -> bool:
        return False

    def at(self, **values: float) -> Self:
        lam, C = (np.array([values[name]]) for name in ("lam", "C"))
        return replace(self, points=Points(lam, C, chosen=False), asked=False)

    def compared(self) -> Self:
        return replace(self, points=replace(self.points, chosen=True))

    def fit(self, source: Source) -> Solution:
        if source.at_hand and len(source.rows().H) < source.rows().H.width:
            return _few(source.rows(), self.penalty, self.chooses)
        return solved(self.penalty, source, self.chooses, self.asked)


def _few(problem: Problem, penalty: ScatterPenalty, chooses: bool) -> Solution:
    """With fewer rows than units, in the span of the rows."""
    few, span = in_span(problem.H)
    source = AtHand(replace(problem, H=few), calibrating=len(few))
    found = solved(penalty, source, chooses, asked=False)
    return replace(found, coef=matmul(span, found.coef), moments=None)
