"""What the semi-supervised estimators share: a few labels, a graph, one solve."""

from abc import ABCMeta, abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length, validate_data

from ulmus.arguments import check_known, check_number, check_whole, grid_of
from ulmus.backends.namespace import (
    beside,
    gathered,
    is_collection,
    is_numpy,
    on_host,
    placed,
    same_place,
    to_numpy,
)
from ulmus.backends.threads import held_threads
from ulmus.distributed import BlockRows
from ulmus.estimators.importances import feature_importances
from ulmus.estimators.row_graphs import (
    FEW_LABELS,
    are_words,
    comparison,
    coupling_of,
    entries_of,
    finds_neighbors,
    laplacians,
    map_of_words,
    one_unit,
    units_from_labelled,
    units_from_rows,
)
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.base import column_statistics, merged
from ulmus.features.hidden_layer import HiddenModel, fitted_map, layer_of
from ulmus.features.kernel_space import KernelFeatures
from ulmus.features.random_units import RandomFeatures
from ulmus.features.row_units import RowFeatures
from ulmus.fitted import (
    ForUpdate,
    MadeAgain,
    OnDevice,
    atomic,
    forget_fit,
    log_facts,
    snapshot,
    watched,
)
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden
from ulmus.methods.candidates import KINDS
from ulmus.methods.iterative import ConjugateGradients
from ulmus.methods.manifold import Manifold
from ulmus.methods.manifold_basis import GraphSolution, ManifoldBasis
from ulmus.methods.pool import Pool, Pooled
from ulmus.methods.prepared import Prepared
from ulmus.methods.ridge import ridge_grid
from ulmus.progress import units
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.sources.source import OnGraph
from ulmus.targets import Targets
from ulmus.typing import Array, Rows
from ulmus.validation import plain, valid_rows

_GRID = np.logspace(-6, 6, 13)
_SOLVERS = ("auto", "spectral", "direct", "cg")


class SemiSupervisedELM(HiddenModel, metaclass=ABCMeta):
    """What the classifier and the regressor share."""

    C_: float
    lam_: float
    coupling_: str
    coupling_reason_: str
    surface_: dict[str, np.ndarray]
    candidates_: dict[str, np.ndarray]
    left_out_: dict[str, np.ndarray]
    selection_: str
    loo_score_: float | None
    solver_: str
    solver_reason_: str
    n_iter_: int
    _rows: ForUpdate[OnDevice[Rows]]
    _y: ForUpdate[OnDevice[Array]]
    _graphs: ForUpdate[tuple[Laplacian, ...]]
    _reused: ForUpdate[ManifoldBasis | Pooled | None]
    _prepared: MadeAgain[Prepared]
    _class_prior: ForUpdate[Any]
    _one_unit: ForUpdate[bool]
    feature_importances_ = property(feature_importances)
    _default_map = RowFeatures

    @abstractmethod
    def _labels(self, y: np.ndarray, weighting: Any) -> tuple[np.ndarray, Any, np.ndarray]:
        """Which rows have a label, their targets, and what each of them weighs at C = 1."""

    def _weightings(self) -> list[Any]:
        """The class weights that are tried."""
        return [None]

    @abstractmethod
    def _check_target(self, X: Any, y: Any) -> np.ndarray:
        """y as an array of one entry a row."""

    @abstractmethod
    def _validation_targets(self, y: np.ndarray) -> Targets:
        """Targets of validation rows, in the terms of the fitted ones."""

    def _learn_temperature(self, source: OnGraph, solution: GraphSolution) -> None:
        """Fit a temperature to left-out decision values, where there are classes."""

    @atomic
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        validation: Any = None,
        class_prior: Any = None,
        client: Any = None,
    ) -> Self:
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
        class_prior : "labels", "uniform", array-like of shape (n_classes,) or None, default=None
            The classes' shares among all rows, where they are known: as many as among the labels,
            equal ones, or numbers in the order of ``classes_``. Probabilities of all rows are
            scaled to them, and classes chosen by these. `relabel` keeps it. The published form
            does not have it.
        client : distributed.Client or None, default=None
            Who works on Dask collections; None is whoever Dask would ask.
        """
        forget_fit(self)
        if y is None and is_collection(X):
            raise InvalidInputError("A fit on Dask collections requires y, a Dask collection too.")
        if y is None:
            validate_data(self, X, y)  # says that y is required
        check_known("coupling", self.coupling, FEW_LABELS)
        if not isinstance(self.solver, ConjugateGradients):
            check_known("solver", self.solver, _SOLVERS)
        check_number("solver.tol", self._stop.tol)
        check_whole("solver.max_iter", self._stop.max_iter, least=1)
        self._published()  # wrong grids should not wait for the graph
        self._class_prior = class_prior
        if is_collection(X):
            return self._fit_blocks(X, y, validation, client)
        return self._fit(X, y, validation)

    @held_threads()
    def relabel(self, y: Any) -> Self:
        """The model for other labels on the same rows.

        What depends on the rows alone, the graph and the factorisation, is used
        again, and what the old labels have in common with the new ones. Candidates are weighed
        anew, or C and lam chosen; C of the last ridge stays. Where many labels come at once,
        candidates are weighed by 240 000 / n_samples of them, or by as many as make sixteen, and by
        those before. The fit keeps what depends on the rows alone, about 100 MB, and hidden rows up
        to 5000.

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
        sources = model._sources(y)
        if isinstance(model._reused, Pooled):
            if not hasattr(before, "_prepared"):
                before._prepared = model._prepare(model._reused.bases)
            model._prepared = before._prepared
            solution = model._pooled(sources, model._prepared)
        else:
            solution = model._published(solver="spectral").fit(sources[0])
            # The eigenvectors serve all labels, this model's too.
            before._reused = solution.reused
        return model._accept(y, sources[0], solution)

    def _fit(self, X: Any, y: Any, validation: Any) -> Self:
        """Fit rows that are in memory."""
        y = on_host(y)
        X = gathered(valid_rows(self, X, reset=True, ensure_min_samples=2))
        y = self._check_target(X, y)
        self.coupling_, self.coupling_reason_ = coupling_of(self, validation)
        self._check_labels(y)
        self._settle(X, is_numpy(X) and are_words(entries_of(X), X.shape))
        with watched(self, "Graph", units) as update:
            return self._learn(y, validation, update)

    def _fit_blocks(self, X: Any, y: Any, validation: Any, client: Any) -> Self:
        """Fit the rows of Dask collections; y, the graph and the labelled rows come home."""
        if self.solver not in ("auto", "spectral"):
            raise InvalidParameterError(
                f"solver={self.solver!r} needs all rows at once, not a Dask collection; use 'auto' "
                "or 'spectral'."
            )
        self.coupling_, self.coupling_reason_ = coupling_of(self, validation)
        rows = BlockRows(self, X, y, client=client)
        parts, targets, entries = zip(*rows.survey(_look), strict=True)
        y, columns = self._check_target(rows, np.concatenate(targets)), merged(parts)
        self._check_labels(y)
        self._settle(rows, are_words(sum(entries), rows.shape), columns)
        return self._learn(y, validation)

    def _settle(self, rows: Rows | BlockRows, words: bool, columns: Any = None) -> None:
        """Fit the map and find the graphs; of rows in blocks the columns' statistics are known."""
        default = map_of_words if words else RandomFeatures
        self.features_ = fitted_map(self, rows, None, None, 2000, default, columns=columns)
        self._rows, self._reused = rows, None
        # Edges that are given need no unit; neighbours are found by distances.
        apart = words or not finds_neighbors(self.graph)
        self._one_unit = apart or one_unit(rows, self.coupling_, columns)
        compare = comparison(self.features_, words, self.coupling_, columns)
        self._graphs = tuple(laplacians(self.graph, self.coupling_, rows, compare))

    def _check_labels(self, y: np.ndarray) -> None:
        """Refuse wrong labels before the graph is built."""
        for weighting in self._weightings():
            _, targets, _ = self._labels(y, weighting)
        if self._class_prior is not None and self.coupling_ == "published":
            raise InvalidParameterError(
                "class_prior scales averaged probabilities, and the published form has none; use "
                "coupling='auto', 'tight' or 'free', without solver and validation."
            )
        self._shares(targets)

    @abstractmethod
    def _shares(self, targets: Targets) -> np.ndarray | None:
        """The classes' shares among all rows, where they are known."""

    def _learn(self, y: np.ndarray, validation: Any, watch: Any = None) -> Self:
        """Fit to labels of rows whose map and graphs are known."""
        sources = self._sources(y, self._held_out(validation), watch)
        if self.coupling_ == "published":
            solution = self._published().fit(sources[0])
        else:
            rows = self._prepare(watch=watch)
            solution = self._pooled(sources, rows)
            rows.settle(solution.reused.ridge)
            self._prepared = rows
        return self._accept(y, sources[0], solution)

    def _checked_rows(self, X: Any, y: Any, weight: Any, reset: bool) -> tuple[Rows, Any, None]:
        """A block's rows and targets, for `BlockRows`; the targets are checked all together."""
        X, y = valid_rows(self, X, reset), plain(y)
        check_consistent_length(X, y)
        return X, y, None

    def _prepare(self, bases: tuple[ManifoldBasis, ...] = (), watch: Any = None) -> Prepared:
        """What depends on the rows alone, with a layer of units that are drawn from them."""
        further = (units_from_rows(self.features_, self._rows),) if self._has_layers else ()
        layers = [self._hidden(self._rows, each) for each in (self.features_, *further)]
        return Prepared(layers[0], self._graphs, bases, watch, tuple(layers[1:]))

    def _pooled(self, sources: list[OnGraph], rows: Prepared) -> GraphSolution:
        """The average of candidates, one more layer having units from the labelled rows."""
        C, lam = (
            None if isinstance(given, str) else grid_of(name, given, _GRID)
            for name, given in (("C", self.C), ("lam", self.lam))
        )
        kinds, own = KINDS if self.coupling_ == "pool" else (self.coupling_,), None
        if self._has_layers:
            own = self._hidden(self._rows, units_from_labelled(self, sources[0]))
        shares = self._shares(sources[0].targets)
        pool = Pool(kinds, C, lam, ridge_grid(self.C), shares, self._one_unit)
        return pool.fit(sources, rows, own, self._reused)

    @property
    def _has_layers(self) -> bool:
        """Whether layers besides the default one are tried; rows of words have that alone."""
        words = isinstance(self.features_, KernelFeatures)
        return self.features is None and self.coupling_ == "pool" and not words

    def _published(self, solver: str | None = None) -> Manifold:
        C, lam = grid_of("C", self.C, _GRID), grid_of("lam", self.lam, _GRID, zero=True)
        asked = "cg" if isinstance(self.solver, ConjugateGradients) else self.solver
        return Manifold(C, lam, asked if solver is None else solver, self._stop)

    @property
    def _stop(self) -> ConjugateGradients:
        return self.solver if isinstance(self.solver, ConjugateGradients) else ConjugateGradients()

    def _hidden(self, X: Rows, features: Any) -> Any:
        """The hidden rows of X, which may lie in blocks."""
        if isinstance(X, BlockRows):
            return HiddenBlocks(X, features, self.dtype)
        return Hidden(layer_of(features, X, self.dtype), X)

    def _sources(self, y: np.ndarray, held: Any = None, watch: Any = None) -> list[OnGraph]:
        """The rows on their first graph, with these labels, for all class weights."""
        y = y if self.coupling_ == "published" else self._thinned(y)
        basis = self._reused if isinstance(self._reused, ManifoldBasis) else None
        labels = [self._labels(y, weighting) for weighting in self._weightings()]
        every = self._hidden(self._rows, self.features_)
        some = every.take(np.flatnonzero(labels[0][0]))
        return [OnGraph(some, *each, self._graphs[0], every, basis, held, watch) for each in labels]

    def _thinned(self, y: np.ndarray) -> np.ndarray:
        """The same without targets that others beside them make superfluous."""
        return y

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
        return self._hidden(X, self.features_), targets.placed(X)

    def _accept(self, y: np.ndarray, source: OnGraph, solution: GraphSolution) -> Self:
        """Turn a solution into fitted attributes."""
        self.coupling_ = solution.coupling
        self.coupling_reason_ = solution.why or self.coupling_reason_
        self.solver_, self.solver_reason_ = solution.method, solution.reason
        self.C_, self.lam_, self.selection_ = solution.C, solution.lam, solution.selection
        self.beta_, self.n_iter_ = solution.coef, solution.steps
        self.n_hidden_ = solution.coef.shape[0]
        level, left_out = self._level(source.targets), solution.left_out
        self.intercept_ = placed(level, solution.coef)
        if left_out is not None:
            left_out = left_out | {"outputs": left_out["outputs"] + level}
        found = {
            "surface_": solution.surface,
            "candidates_": solution.candidates,
            "left_out_": left_out,
            "loo_score_": solution.score(source.targets, source.weight),
        }
        for name, value in found.items():
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)
        self._y, self._reused = beside(y, solution.coef), solution.reused
        self._learn_temperature(source, solution)
        log_facts(self)
        return self

    def _transduced(self) -> Array:
        """Outputs of all rows: probabilities or values that were averaged, or Hβ if published."""
        if not isinstance(self._reused, Pooled):
            return self._map(self._rows)
        F = to_numpy(self._reused.outputs)
        return placed(F if hasattr(self, "classes_") else F + to_numpy(self.intercept_), self._rows)

    def __str__(self) -> str:
        """The constructor, and below it the two heaviest kinds where candidates were averaged."""
        more = hasattr(self, "candidates_")
        return f"{self!r}\n{self.coupling_}: {self.coupling_reason_}" if more else repr(self)

    def _get_fitted_attr_html(self, doc_link: str = "") -> dict[str, Any]:
        """No table of attributes in a notebook: two of them predict every row when looked at."""
        return {}

    def _level(self, targets: Targets) -> np.ndarray:
        """What the targets were short of."""
        return np.zeros(targets.outputs)


def _look(X: Rows, y: Any, weight: Any, estimator: Any) -> tuple[Any, Any, int]:
    """A block's statistics, its targets, and how many entries are not zero."""
    return column_statistics(X, y, weight, estimator), y, entries_of(X)
