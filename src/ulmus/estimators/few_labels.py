"""What the semi-supervised estimators share: a few labels, a graph, one solve."""

from abc import ABCMeta, abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length, validate_data

from ulmus.arguments import check_known, check_number, check_whole, grid_of
from ulmus.backends.linalg import held_threads
from ulmus.backends.namespace import (
    beside,
    gathered,
    is_collection,
    on_host,
    placed,
    same_place,
    take,
    to_numpy,
)
from ulmus.distributed.rows import BlockRows
from ulmus.estimators.class_labels import probabilities
from ulmus.estimators.graph_blocks import laplacian_over_blocks, manifold_gram_over_blocks
from ulmus.estimators.importances import feature_importances
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.base import column_statistics, merged
from ulmus.features.hidden_layer import (
    HiddenModel,
    comparable_rows,
    fitted_map,
    layer_of,
    map_over_blocks,
    scaled_rows,
)
from ulmus.fitted import ForUpdate, OnDevice, atomic, forget_fit, snapshot
from ulmus.graphs import Laplacian, as_laplacian
from ulmus.hidden import Hidden
from ulmus.methods.coupling import COUPLINGS, GRAPHS, coupling_for
from ulmus.methods.iterative import ConjugateGradients
from ulmus.methods.manifold import GraphSolution, Manifold
from ulmus.methods.manifold_basis import ManifoldBasis, basis_of
from ulmus.methods.ridge import ridge_grid
from ulmus.methods.spreading import Followed, FreeUnlessWorse, Spreading, labels_alone
from ulmus.progress import log_facts, units, watched
from ulmus.sources.source import OnGraph
from ulmus.targets import ClassTargets, Targets
from ulmus.typing import Array, Rows
from ulmus.validation import plain, valid_rows

__all__ = ["SemiSupervisedELM"]

_GRID = np.logspace(-6, 6, 13)
_SOLVERS = ("auto", "spectral", "direct", "cg")


class SemiSupervisedELM(HiddenModel, metaclass=ABCMeta):
    """What the classifier and the regressor share."""

    C_: float
    lam_: float
    coupling_: str
    coupling_reason_: str
    surface_: dict[str, np.ndarray]
    spread_path_: dict[str, np.ndarray]
    selection_: str
    loo_score_: float | None
    solver_: str
    solver_reason_: str
    n_iter_: int
    _at_scale: bool
    _rows: ForUpdate[OnDevice[Rows]]
    _y: ForUpdate[OnDevice[Array]]
    _laplacian: ForUpdate[Laplacian]
    _reused: ForUpdate[ManifoldBasis | Followed | None]
    feature_importances_ = property(feature_importances)

    @abstractmethod
    def _labels(self, y: np.ndarray) -> tuple[np.ndarray, Any, np.ndarray]:
        """Which rows have a label, their targets, and what each of them weighs at C = 1."""

    @abstractmethod
    def _check_target(self, X: Any, y: Any) -> np.ndarray:
        """y as an array of one entry a row."""

    @abstractmethod
    def _validation_targets(self, y: np.ndarray) -> Targets:
        """Targets of validation rows, in the terms of the fitted ones."""

    def _calibrate(self, targets: Any, loo: Array, rows: Any, weight: np.ndarray) -> None:
        """Learn from left-out decision values; nothing by default."""

    @atomic
    def fit(self, X: Any, y: Any, *, validation: Any = None, client: Any = None) -> Self:
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
        if y is None and is_collection(X):
            raise InvalidInputError("A fit on Dask collections requires y, a Dask collection too.")
        if y is None:
            validate_data(self, X, y)  # says that y is required
        check_known("coupling", self.coupling, COUPLINGS)
        if not isinstance(self.solver, ConjugateGradients):
            check_known("solver", self.solver, _SOLVERS)
        check_number("solver.tol", self._stop.tol)
        check_whole("solver.max_iter", self._stop.max_iter, least=1)
        self._tight()  # wrong grids should not wait for the graph
        if is_collection(X):
            return self._fit_blocks(X, y, validation, client)
        return self._fit(X, y, validation)

    @held_threads()
    def relabel(self, y: Any) -> Self:
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
        source = model._source(y)
        if model.coupling_ == "none":
            solution = labels_alone(source, ridge_grid(model.C))
        elif isinstance(model._reused, Followed):
            solution = model._spreading().refit(source, model._reused)
        else:
            solution = model._tight(solver="spectral").fit(source)
            # The eigenvectors serve all labels, this model's too.
            before._reused = solution.reused
        return model._accept(y, source, solution)

    def _fit(self, X: Any, y: Any, validation: Any) -> Self:
        """Fit rows that are in memory."""
        y = on_host(y)
        X = gathered(valid_rows(self, X, reset=True, ensure_min_samples=2))
        y = self._check_target(X, y)
        self.features_ = fitted_map(self, X, default_width=2000)
        self._rows, self._reused, self._at_scale = X, None, False
        self._labels(y)  # a wrong y, or a wrong grid, should not wait for the graph
        self.coupling_, self.coupling_reason_ = self._coupling(self._hidden(X), validation)
        tight, method = self.coupling_ == "tight", self._method()
        self._at_scale = not tight
        compared = (scaled_rows if tight else comparable_rows)(self.features_, X)
        graph = GRAPHS[self.coupling_] if self.graph is None else self.graph
        self._laplacian = as_laplacian(graph, compared)
        with watched(self, "Graph", units) as update:
            source = self._source(y, self._held_out(validation), update)
            solution = method.fit(source)
        return self._accept(y, source, solution)

    def _fit_blocks(self, X: Any, y: Any, validation: Any, client: Any) -> Self:
        """Fit the rows of Dask collections; y and the labelled rows come home, and M does."""
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
        self._at_scale = False
        self._labels(y)  # a wrong y should not wait for the graph
        self.features_ = map_over_blocks(self, rows, merged(columns), default_width=2000)
        self._laplacian = laplacian_over_blocks(self.graph, self.features_, rows)
        M = manifold_gram_over_blocks(self.features_, rows, self._laplacian, self.dtype)
        self._rows, self._reused = rows, basis_of(M)
        source = self._source(y, self._held_out(validation))
        return self._accept(y, source, self._method().fit(source))

    def _checked_rows(self, X: Any, y: Any, weight: Any, reset: bool) -> tuple[Rows, Any, None]:
        """A block's rows and targets, for `BlockRows`; the targets are checked all together."""
        X = valid_rows(self, X, reset)
        y = plain(y)
        check_consistent_length(X, y)
        return X, y, None

    def _coupling(self, H: Hidden, validation: Any) -> tuple[str, str]:
        """Which coupling was asked for, or serves the shape, and why."""
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

    def _method(self) -> Manifold | Spreading | FreeUnlessWorse:
        """What finds the output weights."""
        if self.coupling_ == "tight":
            return self._tight()
        free = self._spreading()
        return free if self.coupling == "free" else FreeUnlessWorse(free, self._tight())

    def _spreading(self) -> Spreading:
        lam = None if isinstance(self.lam, str) else grid_of("lam", self.lam, _GRID)
        return Spreading(ridge_grid(self.C), lam, self._stop)

    def _tight(self, solver: str | None = None) -> Manifold:
        C, lam = grid_of("C", self.C, _GRID), grid_of("lam", self.lam, _GRID, zero=True)
        asked = "cg" if isinstance(self.solver, ConjugateGradients) else self.solver
        return Manifold(C, lam, asked if solver is None else solver, self._stop)

    @property
    def _stop(self) -> ConjugateGradients:
        given = isinstance(self.solver, ConjugateGradients)
        return self.solver if given else ConjugateGradients()

    def _hidden(self, X: Rows) -> Hidden:
        return Hidden(layer_of(self.features_, X, self.dtype), X)

    def _source(self, y: np.ndarray, held: Any = None, watch: Any = None) -> OnGraph:
        """The rows on their graph, with these labels."""
        known, targets, weight = self._labels(y)
        numbers = np.flatnonzero(known)
        if isinstance(self._rows, BlockRows):
            every, some = None, self._hidden(take(self._rows, numbers))
        else:
            every = self._hidden(self._rows)
            some = every.take(numbers)
        basis = self._reused if isinstance(self._reused, ManifoldBasis) else None
        return OnGraph(some, known, targets, weight, self._laplacian, every, basis, held, watch)

    def _held_out(self, validation: Any) -> tuple[Hidden, Targets] | None:
        """Hidden validation rows and their targets."""
        if validation is None:
            return None
        if not (isinstance(validation, tuple | list) and len(validation) == 2):
            raise InvalidInputError("validation must be a pair (X, y).")
        y = on_host(validation[1])
        X = gathered(valid_rows(self, validation[0], reset=False))
        same_place(X=self._rows, validation=X)
        targets = self._validation_targets(self._check_target(X, y))
        return self._hidden(X), targets.placed(X)

    def _accept(self, y: np.ndarray, source: OnGraph, solution: GraphSolution) -> Self:
        """Turn a solution into fitted attributes."""
        self.coupling_ = solution.coupling
        self.coupling_reason_ = solution.why or self.coupling_reason_
        self.solver_, self.solver_reason_ = solution.method, solution.reason
        self.C_, self.lam_, self.selection_ = solution.C, solution.lam, solution.selection
        self.beta_, self.n_iter_ = solution.coef, solution.steps
        self.n_hidden_ = solution.coef.shape[0]
        self.intercept_ = placed(self._level(source.targets), solution.coef)
        found: dict[str, Any] = {"surface_": solution.surface, "spread_path_": solution.spread_path}
        if solution.selection == "loo" and solution.error is not None:
            found["loo_score_"] = _score_of(solution.error, source.targets, source.weight)
        for name in ("surface_", "spread_path_", "loo_score_"):
            self.__dict__.pop(name, None)
        self.__dict__ |= {name: value for name, value in found.items() if value is not None}
        self._y, self._reused = beside(y, solution.coef), solution.reused
        self._calibrate(source.targets, solution.loo, solution.loo_rows, source.weight)
        log_facts(self)
        return self

    def _transduced(self) -> Array:
        """Outputs of all rows: the graph's where the coupling is free, and else Hβ."""
        if not isinstance(self._reused, Followed):
            return self._map(self._rows)
        labels = self._reused.labels
        F = labels.outputs + to_numpy(self.intercept_)
        unreached = np.flatnonzero(~labels.reached)
        if len(unreached):
            F[unreached] = to_numpy(self._map(take(self._rows, unreached)))
            if isinstance(labels.targets, ClassTargets):
                P = probabilities(F[unreached], self.temperature_)
                F[unreached] = 2.0 * (P[:, 1:] if F.shape[1] == 1 else P) - 1.0
        return placed(F, self._rows)

    def _get_fitted_attr_html(self, doc_link: str = "") -> dict[str, Any]:
        """No table of attributes in a notebook: two of them predict every row when looked at."""
        return {}

    def _level(self, targets: Targets) -> np.ndarray:
        """What the targets were short of."""
        return np.zeros(targets.outputs)


def _look(X: Rows, y: Any, weight: Any, estimator: Any) -> tuple[Any, Any]:
    """A block's statistics, and its targets."""
    return column_statistics(X, y, weight, estimator), y


def _score_of(error: float, targets: Any, weight: np.ndarray) -> float | None:
    """What `score` would be on left-out labelled rows with this error."""
    if isinstance(targets, ClassTargets):
        return 1.0 - error
    spread = float(np.average((targets.values**2).sum(axis=1), weights=weight))
    return 1.0 - error / spread if spread else None
