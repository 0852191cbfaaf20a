"""How the number of clusters was chosen."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ulmus.docstrings import documented
from ulmus.exceptions import InvalidInputError
from ulmus.plotting.canvas import Display, fitted_step


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
        ax, **kwargs : matplotlib Axes or None, dict
            As for `plot`, which draws it.
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
