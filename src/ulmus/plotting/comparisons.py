"""What a fit compared: candidates by their weights or agreement, and numbers of clusters."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ulmus.docstrings import documented
from ulmus.exceptions import InvalidInputError
from ulmus.plotting.canvas import COLOURS, MARKERS, Display, fitted_step, legend_beside


@documented
@dataclass(eq=False, repr=False)
class CandidatesDisplay(Display):
    """The weight of every candidate of a semi-supervised model against its left-out error.

    Of a clusterer: how far each candidate agrees with the others, the best first. Kinds differ in
    colour and shape, and the legend has the weight of all candidates of a kind, or the best
    agreement of any. It is drawn by ``ax.scatter``.

    Parameters
    ----------
    kind : array-like of str
        The kind of every candidate.
    error : array-like of float or None
        Its error on labelled rows left out; None where candidates are clusterings.
    weight : array-like of float
        Its weight, which sum to one, or its agreement.

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
        self.points_ = {
            name: self.ax_.scatter(
                along[kind == name],
                height[kind == name],
                **({"color": COLOURS[k], "marker": MARKERS[k], "alpha": 0.7} | kwargs),
            )
            for k, name in enumerate(names)
        }
        digits = ".2f" if agreed else ".0%"
        words = [f"{name}, {shares[name]:{digits}}" for name in names]
        title = "best agreement of" if agreed else "weight of"
        self.legend_ = legend_beside(self.ax_, list(self.points_.values()), words, title=title)
        if agreed:
            self.ax_.set(
                xlabel="candidate, the one in use first", ylabel="agreement with the others"
            )
            return
        self.ax_.set(xlabel="error on left-out labels", ylabel="weight", yscale="log")
        # Candidates with smaller weights do not matter for the average.
        self.ax_.set_ylim(bottom=1e-6)


@documented
@dataclass(eq=False, repr=False)
class ClusterNumberDisplay(Display):
    """How far clusterings agree on each number of clusters, and the number in use.

    It is drawn by ``ax.plot``.

    Parameters
    ----------
    n_clusters : array-like of int
        The numbers that were compared.
    score : array-like of float
        How far clusterings agree on each.
    chosen : int or None, default=None
        The number in use.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    chosen_ : matplotlib Line2D or None
        The mark on the number in use.

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
