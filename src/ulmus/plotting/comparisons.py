"""What a fit compared: candidates, numbers of clusters, and ranks of a kernel's factor."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import eigvalsh

from ulmus.docstrings import documented
from ulmus.exceptions import InvalidInputError
from ulmus.kernels import Precomputed
from ulmus.kernels.kernel_matrix import DEFAULT_TOL
from ulmus.plotting.canvas import COLOURS, MARKERS, Display, fitted_step, legend_beside, plain

# Most rows for which the eigenvalues of an exact kernel are computed.
_MOST_ROWS = 5000


@documented
@dataclass(eq=False, repr=False)
class CandidatesDisplay(Display):
    """The weight of every candidate of a semi-supervised model against its left-out error.

    For a clusterer: the agreement of each candidate with the others, the best first. Kinds differ
    in colour and shape. The legend has the weight of all candidates of a kind, or their best
    agreement. It is drawn by ``ax.scatter``.

    Parameters
    ----------
    kind : array-like of str
        The kind of every candidate.
    error : array-like of float or None
        Its error on left-out labelled rows; None if candidates are clusterings.
    weight : array-like of float
        Its weight (weights sum to one), or its agreement.

    Attributes
    ----------
    points_ : dict of matplotlib PathCollection
        The points of each kind.
    legend_ : matplotlib Legend
        The kinds and their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from ulmus import SemiSupervisedELMClassifier
    >>> from ulmus.plotting import CandidatesDisplay
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> few = np.where(np.arange(200) < 20, y, -1)
    >>> model = SemiSupervisedELMClassifier(n_hidden=50, random_state=0).fit(X, few)
    >>> display = CandidatesDisplay.from_estimator(model)
    >>> sorted(display.points_)
    ['alone', 'clusters', 'free', 'tight']
    """

    kind: Any
    error: Any
    weight: Any

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Plot the candidates of a fitted model.

        Parameters
        ----------
        estimator : SemiSupervisedELMClassifier, SemiSupervisedELMRegressor, a clusterer or Pipeline
            A fitted model that has weighed candidates.
        """
        model = fitted_step(estimator)
        table = getattr(model, "candidates_", None)
        if table is None:
            raise InvalidInputError(
                f"{type(model).__name__} has no candidates to draw; use a semi-supervised model or "
                "a clusterer with coupling='auto'."
            )
        if "agreement" in table:
            return cls(table["kind"], None, table["agreement"]).plot(ax, **kwargs)
        if "error" not in table:
            raise InvalidInputError(
                "No candidate has a left-out error: every class has one label. Label one row more "
                "of some class."
            )
        return cls(table["kind"], table["error"], table["weight"]).plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        kind, height = np.asarray(self.kind), np.asarray(self.weight)
        agreed = self.error is None
        along = np.arange(1, len(kind) + 1) if agreed else np.asarray(self.error)
        of_kind = np.max if agreed else np.sum
        shares = {name: float(of_kind(height[kind == name])) for name in np.unique(kind).tolist()}
        names = sorted(shares, key=shares.__getitem__, reverse=True)
        self.points_ = {}
        for name, colour, marker in zip(names, COLOURS, MARKERS, strict=False):
            own, style = kind == name, {"color": colour, "marker": marker, "alpha": 0.7} | kwargs
            self.points_[name] = self.ax_.scatter(along[own], height[own], **style)
        digits, title = (".2f", "best agreement of") if agreed else (".0%", "weight of")
        words = [f"{name}, {shares[name]:{digits}}" for name in names]
        self.legend_ = legend_beside(self.ax_, list(self.points_.values()), words, title=title)
        if agreed:
            across = "candidate, the one in use first"
            self.ax_.set(xlabel=across, ylabel="agreement with the others")
            return
        self.ax_.set(xlabel="error on left-out labels", ylabel="weight", yscale="log")
        # Candidates with smaller weights do not matter for the average.
        self.ax_.set_ylim(bottom=1e-6)


@documented
@dataclass(eq=False, repr=False)
class ClusterNumberDisplay(Display):
    """The agreement of clusterings for each number of clusters, and the chosen number.

    It is drawn by ``ax.plot``.

    Parameters
    ----------
    n_clusters : array-like of int
        The numbers that were compared.
    score : array-like of float
        The agreement of clusterings for each number.
    chosen : int or None, default=None
        The chosen number.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    chosen_ : matplotlib Line2D or None
        The mark at the chosen number.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from ulmus import ELMKMeans
    >>> from ulmus.plotting import ClusterNumberDisplay
    >>> X, _ = make_blobs(90, centers=3, cluster_std=0.5, random_state=0)
    >>> model = ELMKMeans("auto", random_state=0).fit(X)
    >>> display = ClusterNumberDisplay.from_estimator(model)
    >>> display.chosen
    3
    """

    n_clusters: Any
    score: Any
    chosen: int | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw how a fitted model chose its number of clusters.

        Parameters
        ----------
        estimator : ELMSpectralClustering, ELMKMeans or Pipeline
            A fitted model with ``n_clusters="auto"``.
        """
        model = fitted_step(estimator)
        path = getattr(model, "n_clusters_path_", None)
        if path is None:
            raise InvalidInputError(
                f"{type(model).__name__} has compared no numbers of clusters; fit a clusterer with "
                "n_clusters='auto'."
            )
        return cls(path["n_clusters"], path["score"], model.n_clusters_).plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        numbers, score = np.asarray(self.n_clusters), np.asarray(self.score)
        (self.line_,) = self.ax_.plot(numbers, score, **({"marker": "."} | kwargs))
        self.chosen_ = None
        if self.chosen is not None:
            height = float(score[numbers == self.chosen][0])
            label = f"in use: {self.chosen} clusters"
            self.chosen_ = self._mark(self.chosen, height, self.line_.get_color(), label=label)
            self.ax_.legend()
        self.ax_.set(xlabel="number of clusters", ylabel="agreement of clusterings")
        self.ax_.set_xticks(numbers)


@documented
@dataclass(eq=False, repr=False)
class KernelSpectrumDisplay(Display):
    """The missing fraction of a kernel's trace, against the number of columns.

    With eigenvectors for columns it is the spectrum: the missing part after k columns is the sum of
    all eigenvalues but the first k. It is drawn by ``ax.plot``.

    Parameters
    ----------
    missing : array-like of shape (n_columns,)
        The missing fraction after each column, from 0 to 1.
    rank : int or None, default=None
        The chosen number of columns.
    tol : float or None, default=None
        The tolerance of the missing fraction.
    name : str or None, default=None
        The curve's name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve; it begins at no columns, where everything is missing.
    rank_, tol_ : matplotlib Line2D or None
        The mark at the chosen rank, and the line at the tolerance.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import KernelELMClassifier, LowRank
    >>> from ulmus.plotting import KernelSpectrumDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelELMClassifier(method=LowRank(tol=1e-3), random_state=0).fit(X, y)
    >>> display = KernelSpectrumDisplay.from_estimator(model)
    >>> display.rank == model.rank_
    True
    """

    missing: Any
    _: KW_ONLY
    rank: int | None = None
    tol: float | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Plot the part of the trace that the factor of a fitted model leaves out.

        Parameters
        ----------
        estimator : kernel ELM, KernelFeatures, an estimator with such features, or Pipeline
            A fitted model. For an exact one the eigenvalues are computed here, for at most 5000
            rows.
        name : str or None, default=None
            The curve's name in the legend; None is the method's.
        """
        model = fitted_step(estimator)
        model = model if hasattr(model, "rank_") else getattr(model, "features_", model)
        if not (hasattr(model, "rank_") and hasattr(model, "kernel_")):
            raise InvalidInputError(
                f"{type(model).__name__} has no factor of a kernel to draw; use a kernel ELM or "
                "KernelFeatures."
            )
        if not hasattr(model, "approximation_path_"):
            name = name or "exact, by eigenvectors"
            return cls(_eigenvalues_left(model), name=name).plot(ax, **kwargs)
        path, tol = plain(model.approximation_path_), _tolerance(model)
        name = name or getattr(model, "method_", model.method)
        return cls(path, rank=model.rank_, tol=tol, name=name).plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        ax, missing = self.ax_, np.concatenate([[1.0], self.missing])
        # Zero cannot be shown on a logarithmic axis.
        missing = np.where(missing > 0, missing, np.nan)
        style = {} if self.name is None else {"label": self.name}
        (self.line_,) = ax.plot(np.arange(len(missing)), missing, **(style | kwargs))
        self.rank_ = self.tol_ = None
        colour = self.line_.get_color()
        if self.tol:
            label = f"tolerance {self.tol:g}"
            self.tol_ = ax.axhline(self.tol, color=colour, ls="--", linewidth=1, label=label)
        if self.rank is not None:
            label = f"in use: {self.rank} columns"
            at = self.rank, missing[self.rank]
            self.rank_ = self._mark(*at, colour, clip_on=False, label=label)
        ax.set(xlabel="columns", ylabel="part of trace missing", yscale="log")
        ax.set_xlim(left=0)
        self._name_curves()


def _eigenvalues_left(model: Any) -> np.ndarray:
    """The missing part after each eigenvector of an exact kernel."""
    name, n, why = type(model).__name__, model.landmarks_.shape[0], ""
    if n > _MOST_ROWS:
        why = f"has {n} rows, whose eigenvalues take too long to draw"
    if isinstance(model.kernel_, Precomputed):
        why = "used a precomputed kernel as it was and did not keep it"
    if why:
        raise InvalidInputError(f"This {name} {why}; fit it with rank= or tol=, to draw a factor.")
    K = plain(model.kernel_(model.landmarks_, model.landmarks_)).astype(float)
    values = np.maximum(eigvalsh(K)[::-1], 0.0)
    # Summed from the smallest value, because a difference from one would lose it by rounding.
    return np.append(np.cumsum(values[::-1])[::-1][1:], 0.0) / values.sum()


def _tolerance(model: Any) -> float | None:
    """The fraction of the trace that ends the search; None where the rank alone does."""
    how = model if isinstance(model.method, str) else model.method
    tol = getattr(model, "tol", None) or getattr(how, "tol", None)
    return DEFAULT_TOL if tol is None and (model.rank or how.rank) is None else tol
