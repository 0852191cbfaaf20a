"""Clusters against classes."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ulmus.docstrings import documented
from ulmus.metrics import matched
from ulmus.plotting.canvas import Display, plain
from ulmus.targets import distinct
from ulmus.validation import complete

# Width of numbers relative to a cell, and their least size in points; smaller ones are left out.
_FILLED, _SMALLEST = 0.6, 4.5
# Most letters of all names on the horizontal axis; longer ones are rotated.
_CROWDED = 40


@documented
@dataclass(eq=False, repr=False)
class ClusterConfusionDisplay(Display):
    """How many rows of each class are in each cluster, every class beside its own cluster.

    Clusters are matched to classes one to one as `ulmus.metrics.clustering_accuracy` does, so that
    the matched cells are on the diagonal; clusters without a class come last. The colour of a cell
    is its share of the class, the number its rows. It is drawn by ``ax.imshow``;
    ``include_values=False`` leaves out the numbers, and True writes them in small cells too.

    Parameters
    ----------
    confusion_matrix : array-like of shape (n_classes, n_clusters)
        Rows of each class in each cluster.
    classes : array-like of shape (n_classes,) or None, default=None
        The classes' names, down; None numbers them.
    clusters : array-like of shape (n_clusters,) or None, default=None
        The clusters' names, across; None numbers them.

    Attributes
    ----------
    accuracy : float
        The share of the rows in matched cells.
    im_ : matplotlib AxesImage
        The cells.
    text_ : ndarray of matplotlib Text or None
        The numbers in them; those of matched cells are bold.

    Examples
    --------
    >>> from ulmus.plotting import ClusterConfusionDisplay
    >>> classes, clusters = ["a", "a", "b", "b"], [1, 1, 0, 1]
    >>> display = ClusterConfusionDisplay.from_predictions(classes, clusters)
    >>> display.confusion_matrix.tolist(), display.clusters.tolist()
    ([[2, 0], [1, 1]], [1, 0])
    >>> display.accuracy
    0.75
    """

    confusion_matrix: Any
    _: KW_ONLY
    classes: Any = None
    clusters: Any = None

    @property
    def accuracy(self) -> float:
        """The share of the rows in matched cells."""
        counts = np.asarray(self.confusion_matrix)
        return float(counts[matched(counts)].sum() / counts.sum())

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **kwargs: Any) -> Self:
        """Plot the clusters of these rows against their classes.

        Parameters
        ----------
        estimator : clusterer or Pipeline
            A fitted one; without ``predict``, X must be the rows it was fitted to.
        y : array-like of shape (n_samples,)
            Their classes.
        **kwargs : dict
            As for `from_predictions`, which draws it.
        """
        check_is_fitted(estimator)
        labels = estimator.predict(X) if hasattr(estimator, "predict") else estimator.labels_
        return cls.from_predictions(y, labels, **kwargs)

    @classmethod
    def from_predictions(cls, y_true: Any, labels: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Plot clusters against classes.

        Parameters
        ----------
        y_true, labels : array-like of shape (n_samples,)
            The classes and the clusters.
        """
        y_true = column_or_1d(complete(plain(y_true), "draw the others alone"))
        labels = column_or_1d(plain(labels))
        check_consistent_length(y_true, labels)
        counts = np.asarray(contingency_matrix(y_true, labels))
        columns = matched(counts)[1]
        order = [*columns, *np.setdiff1d(np.arange(counts.shape[1]), columns)]
        display = cls(counts[:, order], classes=distinct(y_true), clusters=distinct(labels)[order])
        return display.plot(ax, **kwargs)

    def _draw(self, *, include_values: bool | None = None, **kwargs: Any) -> None:
        ax, counts = self.ax_, np.asarray(self.confusion_matrix)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        style = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest"}
        self.im_ = ax.imshow(shares, **(style | kwargs))
        size, self.text_ = self._text_size(counts), None
        if include_values or (include_values is None and size >= _SMALLEST):
            self.text_ = self._write(counts, shares, size)
        for axis, names, n in (
            (ax.yaxis, self.classes, counts.shape[0]),
            (ax.xaxis, self.clusters, counts.shape[1]),
        ):
            axis.set_ticks(range(n), labels=list(map(str, range(n) if names is None else names)))
            for text in axis.get_ticklabels():
                text.set_parse_math(False)
        if max(len(t.get_text()) for t in ax.get_xticklabels()) * counts.shape[1] > _CROWDED:
            ax.tick_params(axis="x", rotation=90)
        ax.set(xlabel="cluster", ylabel="class", title=f"accuracy {self.accuracy:.1%}")

    def _text_size(self, counts: np.ndarray) -> float:
        """The largest font size in points at which every count fits its cell."""
        box = self.ax_.bbox
        cell = min(box.width / counts.shape[1], box.height / counts.shape[0])
        # A digit is about 0.6 of its height wide.
        wide = max(1.0, 0.6 * len(f"{counts.max():g}"))
        return min(10.0, _FILLED * cell * 72 / self.figure_.dpi / wide)

    def _write(self, counts: np.ndarray, shares: np.ndarray, size: float) -> np.ndarray:
        """Write the count of each cell, in the end of the colour map with more contrast."""
        own = set(zip(*matched(counts), strict=True))
        text = np.empty(counts.shape, dtype=object)
        for row, column in np.ndindex(counts.shape):
            style = {
                "color": self.im_.cmap(0.0 if self.im_.norm(shares[row, column]) > 0.5 else 1.0),
                "weight": "bold" if (row, column) in own else "normal",
                "fontsize": size,
            }
            words = f"{counts[row, column]:g}"
            text[row, column] = self.ax_.text(column, row, words, ha="center", va="center", **style)
        return text
