"""How closely SS-ELM's outputs on the given rows are tied to its hidden layer.

Tight, as published, every output is Hβ. With many more rows than units Hβ cannot hold what the
graph knows; free, the graph speaks first, and β is fitted to what it said of every row. Where the
labelled rows alone tell more than their neighbours do, the graph is left out.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ulmus.arguments import check_known
from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import doubles, namespace, placed, take, to_numpy
from ulmus.calibration import probabilities
from ulmus.estimators.free import GraphLabels, graph_lams, spread_labels
from ulmus.estimators.shape import COUPLINGS, coupling_for
from ulmus.estimators.stage import layer_of
from ulmus.exceptions import InvalidParameterError, UnreachedRowsWarning
from ulmus.fitted import ForUpdate, OnDevice
from ulmus.hidden import Hidden
from ulmus.methods.ridge import Ridge, ridge_grid, solve
from ulmus.problem import Moments, Problem
from ulmus.sources.source import Sample, Summed
from ulmus.targets import ClassTargets
from ulmus.typing import Array

__all__ = ["FreeCoupling"]

# Labels that leave more rows' classes as they were cost a sum over the others alone.
_CHANGED = 0.25
# Far from its label a row hears little, and that little names its class.
_TOL = 1e-5


class FreeCoupling:
    """The free coupling, for an estimator with labels, a graph and a hidden layer."""

    coupling_: str
    coupling_reason_: str
    spread_path_: dict[str, np.ndarray]
    _at_scale: bool
    _graph_outputs: ForUpdate[OnDevice[Array | None]]
    _graph_labels: ForUpdate[GraphLabels | None]
    _pseudo_targets: ForUpdate[Any]
    _sums: ForUpdate[OnDevice[Moments | None]]

    def _coupled(self, H, validation):
        """Which coupling the shape asks for, and why."""
        check_known("coupling", self.coupling, COUPLINGS)
        if self.coupling == "free" and validation is not None:
            raise InvalidParameterError(
                "validation chooses C and lam of coupling='tight'; leave it out with "
                "coupling='free', whose lam is chosen by leaving out labelled rows."
            )
        if self.coupling != "auto":
            return self.coupling, "asked for"
        if not isinstance(self.lam, str) or self.solver != "auto" or validation is not None:
            return "tight", "lam, solver or validation was given"
        return coupling_for(H)

    def _fit_free(self, H, y):
        """Spread the labels, and fit β to what comes of it."""
        known, targets, weight = self._labels(y)
        lams = graph_lams(self.lam)
        said = self._spread(known, targets, weight, lams)
        if self.coupling == "auto" and said.error is not None:
            alone = self._labelled_alone(H, known, targets, weight)
            if alone.path is not None and said.error > _error(alone.path):
                return self._fit_unless_graph_hurts(H, y, targets, weight, said, alone)
        return self._follow(y, H, known, targets, weight, said)

    def _fit_unless_graph_hurts(self, H, y, targets, weight, said, alone):
        """Where the graph alone does worse than the labelled rows alone: a little of it, or none.

        The tight form's λ may be as small as leaving rows out says.
        """
        self.spread_path_ = said.path
        self._graph_outputs = self._graph_labels = self._sums = None
        reason = f"left-out labelled rows: error {_error(alone.path):.3g} without the graph"
        self.coupling_reason_ = f"{reason}, {said.error:.3g} by the graph alone"
        self.coupling_, self.solver_ = "tight", "spectral"
        self.solver_reason_ = "one eigendecomposition serves every C and lam"
        self._fit_surface(H, y)
        if self._surface_error() < _error(alone.path):
            return self
        self.coupling_reason_ += f", {self._surface_error():.3g} with a little of it"
        self.coupling_, self.solver_ = "none", alone.method
        self.solver_reason_ = "the labelled rows are solved for alone"
        self._basis = None
        vars(self).pop("surface_", None)
        self.C_, self.lam_, self.selection_ = alone.C, 0.0, "loo"
        self.loo_score_ = self._score_of_error(_error(alone.path), targets, weight)
        return self._accept(y, targets, weight, alone.coef, alone.loo, alone.loo_rows)

    def _spread(self, known, targets, weight, lams, before=None):
        """What the graph says of all rows; warn of those that it is silent about."""
        tol = min(self.tol, _TOL)
        said = spread_labels(
            self._laplacian, known, targets, weight, lams, tol, self.max_iter, before
        )
        silent = int(np.count_nonzero(~said.reached))
        if silent:
            warnings.warn(
                f"{silent} of {len(said.reached)} rows are joined to no labelled row by the graph; "
                "the model alone names them. More neighbours, or a label among them, would help.",
                UnreachedRowsWarning,
                stacklevel=2,
            )
        return said

    def _labelled_alone(self, H, known, targets, weight):
        """The supervised fit to the labelled rows."""
        part = H.take(np.flatnonzero(known))
        problem = Problem(part, targets.placed(part.X), placed(weight, part.X))
        return solve(problem, ridge_grid(self.C), seed=0)

    def _follow(self, y, H, known, targets, weight, said):
        """β for the classes or values that the graph gave."""
        pseudo, rows = said.pseudo_targets(known), np.flatnonzero(said.reached)
        part = H if len(rows) == len(H) else H.take(rows)
        problem = Problem(part, _taken(pseudo, rows).placed(H.X))
        solution = solve(problem, ridge_grid(self.C), seed=0)
        # Of fewer rows than units there are no sums, and no need of them.
        self._sums = solution.moments if isinstance(solution.moments, Moments) else None
        self.C_ = solution.C
        return self._adopt(y, H, known, targets, weight, said, pseudo, solution.coef)

    def _adopt(self, y, H, known, targets, weight, said, pseudo, coef):
        self.lam_, self.selection_ = said.lam, "fixed" if said.path is None else "loo"
        for name in ("spread_path_", "loo_score_"):
            vars(self).pop(name, None)
        if said.path is not None:
            self.spread_path_ = said.path
            self.loo_score_ = self._score_of_error(said.error, targets, weight)
        self._graph_labels, self._pseudo_targets = said, pseudo
        # The labelled rows are few among those fitted, so that their own weight tells little.
        own = doubles(H.take(np.flatnonzero(known)).all())
        fitted = matmul(own, coef)
        self._accept(y, targets, weight, coef, fitted, np.arange(len(targets)), said.steps)
        self._graph_outputs = placed(self._outputs_of(said), self._rows)
        return self

    def _outputs_of(self, said):
        """F of all rows: the graph's, or the model's where the graph is silent."""
        F = said.outputs + to_numpy(self.intercept_)
        silent = np.flatnonzero(~said.reached)
        if len(silent):
            F[silent] = to_numpy(self._map(take(self._rows, silent)))
            if isinstance(said.targets, ClassTargets):
                P = probabilities(F[silent], self.temperature_)
                F[silent] = 2.0 * (P[:, 1:] if F.shape[1] == 1 else P) - 1.0
        return F

    def _transduced(self):
        """F of all rows: what the graph said, or Hβ where the two are one."""
        return self._map(self._rows) if self._graph_outputs is None else self._graph_outputs

    def _relabel_free(self, y):
        """One warm-started solve on the graph, and sums over the rows whose class changed."""
        H = Hidden(layer_of(self.features_, self._rows, self.dtype), self._rows)
        known, targets, weight = self._labels(y)
        if self._graph_labels is None:
            alone = self._labelled_alone(H, known, targets, weight)
            self.C_ = alone.C
            if alone.path is not None:
                self.loo_score_ = self._score_of_error(_error(alone.path), targets, weight)
            return self._accept(y, targets, weight, alone.coef, alone.loo, alone.loo_rows)
        before, old = self._graph_labels, self._pseudo_targets
        said = self._spread(known, targets, weight, graph_lams(self.lam), before)
        pseudo = said.pseudo_targets(known)
        same = np.array_equal(said.reached, before.reached) and said.mass.shape == before.mass.shape
        changed = np.flatnonzero((pseudo.array != old.array).reshape(len(H), -1).any(axis=1))
        if not same or self._sums is None or len(changed) > _CHANGED * len(H):
            return self._follow(y, H, known, targets, weight, said)
        if len(changed):
            self._sums = _retargeted(self._sums, H, changed, old, pseudo)
        problem = Problem(H, pseudo.placed(H.X))
        solution = Ridge(self.C_).fit(Summed(self._sums, Sample(problem, None, changed[:0])))
        return self._adopt(y, H, known, targets, weight, said, pseudo, solution.coef)

    def _score_of_error(self, error, targets, weight):
        """What `score` would be on left-out labelled rows with this error."""
        if isinstance(targets, ClassTargets):
            return 1.0 - error
        spread = float(np.average((targets.values**2).sum(axis=1), weights=weight))
        return 1.0 - error / spread if spread else None


def _error(path):
    """The left-out error of classes, or else of numbers, at the best C."""
    errors = path.squared_error if path.error_rate is None else path.error_rate
    return float(errors[path.best])


def _retargeted(sums, H, rows, old, new):
    """The sums once these rows' targets are others: HᵀH stays as it is."""
    every = np.dtype(float)
    gone, come = (placed(each.block(rows, every), H.X) for each in (old, new))
    part, cross = H.take(rows), 0.0 * sums.cross
    for some, block in part.blocks():
        cross += matmul(doubles(block).T + H.offset, (come - gone)[some, :])
    return replace(
        sums,
        cross=sums.cross + cross,
        energy=sums.energy + namespace(cross).sum(come**2 - gone**2, axis=0),
        target=sums.target + namespace(cross).sum(come - gone, axis=0),
    )


def _taken(targets, rows):
    """The targets of some rows."""
    if isinstance(targets, ClassTargets):
        return ClassTargets(targets.codes[rows], targets.n_classes)
    return type(targets)(targets.values[rows])
