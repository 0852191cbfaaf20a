"""What the semi-supervised estimators share: a few labels, a graph, one solve."""

from abc import ABCMeta, abstractmethod
from copy import copy

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, validate_data

from ulmus.arguments import check_known, check_number, limits, numbers_of
from ulmus.backends.linalg import matmul
from ulmus.backends.namespace import (
    beside,
    doubles,
    gathered,
    is_collection,
    on_host,
    placed,
    same_place,
    take,
)
from ulmus.backends.threads import held_threads
from ulmus.distributed.rows import BlockRows
from ulmus.estimators.coupling import FreeCoupling
from ulmus.estimators.graph_blocks import laplacian_over_blocks, manifold_gram_over_blocks
from ulmus.estimators.importances import FeatureImportances
from ulmus.estimators.outputs import HiddenOutputs
from ulmus.estimators.shape import GRAPHS
from ulmus.estimators.stage import (
    comparable_rows,
    fitted_map,
    layer_of,
    map_over_blocks,
    scaled_rows,
)
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.base import column_statistics, merged
from ulmus.fitted import ForUpdate, OnDevice, atomic, forget_fit, snapshot
from ulmus.graphs import Laplacian, as_laplacian
from ulmus.hidden import Hidden, fits
from ulmus.methods.iterative import (
    conjugate_gradients,
    manifold_operator,
    nystrom_preconditioner,
)
from ulmus.methods.manifold_basis import ManifoldBasis, basis_of, manifold_basis, manifold_gram
from ulmus.methods.manifold_path import Labelled, point, surface
from ulmus.methods.ridge import manifold_primal
from ulmus.problem import Problem
from ulmus.progress import log_facts, units, watched
from ulmus.summary import Summary
from ulmus.targets import coded
from ulmus.typing import Array, Rows
from ulmus.validation import plain, valid_rows

__all__ = ["SemiSupervisedELM", "grid_of"]

_GRID = np.logspace(-6, 6, 13)
_SOLVERS = ("auto", "spectral", "direct", "cg")
_SKETCH = 100


class SemiSupervisedELM(
    FreeCoupling,
    FeatureImportances,
    Summary,
    HiddenOutputs,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """What the classifier and the regressor share."""

    C_: float
    lam_: float
    surface_: dict[str, np.ndarray]
    selection_: str
    loo_score_: float | None
    solver_: str
    solver_reason_: str
    n_iter_: int
    _rows: ForUpdate[OnDevice[Rows]]
    _laplacian: ForUpdate[Laplacian]
    _basis: ForUpdate[OnDevice[ManifoldBasis | None]]
    _y: ForUpdate[OnDevice[Array]]

    @abstractmethod
    def _labels(self, y):
        """Which rows have a label, their targets, and what each of them weighs at C = 1."""

    @abstractmethod
    def _check_target(self, X, y):
        """y as an array of one entry a row."""

    @abstractmethod
    def _validation_targets(self, y):
        """Targets of validation rows, in the terms of the fitted ones."""

    def _calibrate(self, targets, loo, rows, weight):
        """Learn from left-out decision values; nothing by default."""

    @atomic
    def fit(self, X, y, *, validation=None, client=None):
        """Fit to all rows, by the labels of some.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows, labelled and not.
        y : array-like of shape (n_samples,)
            The targets. None, NaN, pandas' NA and, for classes, −1 mark a row without one. A
            Dask collection when X is one.
        validation : tuple (X, y), default=None
            Further labelled rows to choose C and lam by, along with leaving out the
            labelled ones.
        client : distributed.Client or None, default=None
            Who works on Dask collections; None is whoever Dask would ask.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        forget_fit(self)
        if is_collection(X):
            return self._fit_blocks(X, y, validation, client)
        return self._fit(X, y, validation)

    @held_threads()
    def relabel(self, y):
        """The model for other labels on the same rows.

        What depends on the rows alone, the graph and the factorisation, is used
        again; C and lam are chosen anew. Where the coupling is free they stay, and the
        labels are spread starting from the old ones.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The new targets, marked as in `fit` where a row has none.

        Returns
        -------
        model : object
            A new estimator; this one stays as it is.
        """
        if not hasattr(self, "_rows"):
            raise InvalidInputError(
                "There are no rows to relabel; call fit first, or save the model with "
                "for_update=True."
            )
        before = snapshot(self)
        model = copy(before)
        y = model._check_target(model._rows, on_host(y))
        if model.coupling_ != "tight":
            return model._relabel_free(y)
        model._labels(y)  # a wrong y should not wait for the eigenvectors
        if model._basis is None:
            H = Hidden(layer_of(model.features_, model._rows, model.dtype), model._rows)
            model._basis = before._basis = manifold_basis(H, model._laplacian)
        model.__dict__.pop("_y", None)
        model._learn(y, None)
        return model

    def _fit(self, X, y, validation):
        if y is None:
            validate_data(self, X, y)  # says that y is required
        Cs, lams = grid_of("C", self.C), grid_of("lam", self.lam, zero=True)
        check_known("solver", self.solver, _SOLVERS)
        check_number("tol", self.tol)
        y = on_host(y)
        X = gathered(valid_rows(self, X, reset=True, ensure_min_samples=2))
        y = self._check_target(X, y)
        self.features_ = fitted_map(self, X, default_width=2000)
        self._rows = X
        self._labels(y)  # a wrong y should not wait for the graph
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        self.coupling_, self.coupling_reason_ = self._coupled(H, validation)
        tight = self.coupling_ == "tight"
        self._at_scale = not tight
        if self.coupling_ == "free":
            grid_of("lam", self.lam)  # zero would spread nothing
        graph = GRAPHS["tight" if tight else "free"] if self.graph is None else self.graph
        compared = (scaled_rows if tight else comparable_rows)(self.features_, X)
        self._laplacian = as_laplacian(graph, compared)
        if self.coupling_ == "free":
            self.solver_, self.solver_reason_ = "graph", "labels are spread before β is solved for"
            return self._fit_free(H, y)
        self.solver_, self.solver_reason_ = self._choose(H, Cs, lams, validation)
        if self.solver_ == "spectral":
            return self._fit_surface(H, y, validation)
        self._basis = None
        return self._solve_one(H, y, float(Cs[0]), float(lams[0]))

    def _fit_surface(self, H, y, validation=None):
        """Decompose what depends on the rows alone, and choose C and λ."""
        with watched(self, "Graph", units) as update:
            self._basis = manifold_basis(H, self._laplacian, update)
        return self._learn(y, validation)

    def _surface_error(self):
        """The left-out error at the point that was chosen."""
        surface = self.surface_
        errors = surface.get("error_rate", surface["squared_error"])
        row = np.flatnonzero(surface["lam"] == self.lam_)[0]
        return float(errors[row, np.flatnonzero(surface["C"] == self.C_)[0]])

    def _fit_blocks(self, X, y, validation, client):
        """Fit the rows of Dask collections; y and the labelled rows come home, and M does."""
        if y is None:
            raise InvalidInputError("A fit on Dask collections requires y, a Dask collection too.")
        for name, zero in (("C", False), ("lam", True)):
            grid_of(name, getattr(self, name), zero)  # wrong ones should not wait for the graph
        check_known("solver", self.solver, _SOLVERS)
        if self.solver not in ("auto", "spectral"):
            raise InvalidParameterError(
                f"solver={self.solver!r} needs all rows at once, not a Dask collection; use 'auto' "
                "or 'spectral'."
            )
        if self.coupling == "free":
            raise InvalidParameterError(
                "coupling='free' needs all rows at once, not a Dask collection; use 'tight'."
            )
        self.coupling_, self.coupling_reason_ = "tight", "the rows lie in blocks"
        rows = BlockRows(self, X, y, client=client)
        columns, targets = zip(*rows.survey(_look), strict=True)
        y = self._check_target(rows, np.concatenate(targets))
        self._labels(y)  # a wrong y should not wait for the graph
        self.features_ = map_over_blocks(self, rows, merged(columns), default_width=2000)
        self._laplacian = laplacian_over_blocks(self.graph, self.features_, rows)
        M = manifold_gram_over_blocks(self.features_, rows, self._laplacian, self.dtype)
        self._rows, self._basis = rows, basis_of(M)
        self.solver_, self.solver_reason_ = "spectral", "sums over blocks give HᵀΛH alone"
        return self._learn(y, validation)

    def _checked_rows(self, X, y, weight, reset):
        """A block's rows and targets, for `BlockRows`; the targets are checked all together."""
        X = valid_rows(self, X, reset)
        y = plain(y)
        check_consistent_length(X, y)
        return X, y, None

    def _choose(self, H, Cs, lams, validation):
        """Which solver, and why."""
        one = len(Cs) == len(lams) == 1
        if not one and self.solver in ("direct", "cg"):
            raise InvalidParameterError(
                f"solver={self.solver!r} solves for one C and one lam; give both as numbers, or "
                "use solver='spectral'."
            )
        if self.solver != "auto":
            return self.solver, "asked for"
        if not one:
            return "spectral", "one eigendecomposition serves every C and lam"
        if len(H) < H.width:
            return "spectral", "fewer rows than units: the work is done in the span of the rows"
        if not fits(H.width, H.width, 16):
            return "cg", "the h × h matrices do not fit in working_memory"
        return "direct", "one C and one lam: one Cholesky factorisation"

    def _learn(self, y, validation):
        """Choose C and λ on the surface, and solve there."""
        self._graph_outputs = None
        Cs, lams = grid_of("C", self.C), grid_of("lam", self.lam, zero=True)
        known, targets, weight = self._labels(y)
        rows = self._coordinates(take(self._rows, np.flatnonzero(known)))
        labelled = Labelled(self._basis, rows, targets.placed(rows), placed(weight, rows))
        row = column = 0
        for name in ("surface_", "selection_", "loo_score_"):
            vars(self).pop(name, None)
        self.selection_ = "fixed"
        if len(Cs) * len(lams) > 1:
            held = None if validation is None else self._held_out(validation)
            found = surface(labelled, lams, Cs, held)
            row, column = found.best
            self.surface_, self.selection_ = found.table(), found.kind
        self.C_, self.lam_ = float(Cs[column]), float(lams[row])
        if self.selection_ == "loo":
            self.loo_score_ = self._score_of_error(self._surface_error(), targets, weight)
        solved = point(labelled, self.lam_, self.C_)
        return self._accept(y, targets, weight, solved.coef, solved.loo, solved.rows)

    def _solve_one(self, H, y, C, lam):
        """Solve for one C and one λ without an eigendecomposition."""
        self._graph_outputs = None
        known, targets, weight = self._labels(y)
        self.C_, self.lam_, self.selection_ = C, lam, "fixed"
        part = H.take(np.flatnonzero(known))
        own = placed(weight, part.X)
        labelled = Problem(part, targets.placed(part.X), own)
        if self.solver_ == "direct":
            with watched(self, "Graph", units) as update:
                M = manifold_gram(H, self._laplacian, update)
            solution = manifold_primal(labelled, M, C, lam)
            loo, rows = solution.loo, solution.loo_rows
            return self._accept(y, targets, weight, solution.coef, loo, rows)
        c = np.zeros(len(H))
        c[known] = C * weight
        c = placed(c, H.X)
        apply = manifold_operator(H, self._laplacian, c, lam)
        rows = doubles(labelled.H.all())
        T = coded(labelled.targets, slice(0, len(targets)), rows.dtype)
        found = conjugate_gradients(
            apply,
            matmul(rows.T, C * own[:, None] * T),
            nystrom_preconditioner(apply, c, H.width, min(_SKETCH, H.width)),
            self.tol,
            self.max_iter,
        )
        steps = found.steps
        # Its matrix is never there to leave rows out with: the fitted values must do.
        fitted, every = matmul(rows, found.coef), np.arange(len(targets))
        return self._accept(y, targets, weight, found.coef, fitted, every, steps)

    def _accept(self, y, targets, weight, coef, loo, loo_rows, steps=1):
        self.beta_, self.n_iter_ = coef, steps
        self.intercept_ = placed(self._level(targets), coef)
        self.n_hidden_ = coef.shape[0]
        self._y = beside(y, coef)
        self._calibrate(targets, loo, loo_rows, weight)
        log_facts(self)
        return self

    def _get_fitted_attr_html(self, doc_link=""):
        """No table of attributes in a notebook: two of them predict every row when looked at."""
        return {}

    def _fitted_rows(self):
        if not hasattr(self, "_rows"):
            return super()._fitted_rows()  # which says why there are none
        return self._rows, None

    def _level(self, targets):
        """What the targets were short of."""
        return np.zeros(targets.outputs)

    def _coordinates(self, X):
        """H V for these rows."""
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        return matmul(doubles(H.all()), self._basis.basis)

    def _held_out(self, validation):
        """Validation rows in the manifold's coordinates, and their targets."""
        if not (isinstance(validation, tuple | list) and len(validation) == 2):
            raise InvalidInputError("validation must be a pair (X, y).")
        y = on_host(validation[1])
        X = gathered(valid_rows(self, validation[0], reset=False))
        same_place(X=self._rows, validation=X)
        targets = self._validation_targets(self._check_target(X, y))
        return self._coordinates(X), targets.placed(X)


def _look(X, y, weight, estimator):
    """A block's statistics, and its targets."""
    return column_statistics(X, y, weight, estimator), y


def grid_of(name, value, zero=False, default=_GRID):
    """C or λ as the array of values to choose from."""
    if isinstance(value, str) and value == "loo":
        return default
    values = numbers_of(value, zero)
    if values is None:
        least = "zero or more" if zero else "positive"
        raise InvalidParameterError(
            f"{name}={value!r} must be 'loo', a number that is {least}, or a list of such "
            f"numbers{limits(value)}."
        )
    return values
