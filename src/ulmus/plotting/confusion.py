"""Clusters against classes."""

import numpy as np
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ulmus.metrics import matched
from ulmus.missing import complete
from ulmus.plotting.canvas import as_written, axes_on, plain
from ulmus.targets import distinct

__all__ = ["ClusterConfusionDisplay"]

# Numbers are this part of a cell wide, but for the axes' own words around the cells; smaller ones
# than so many points are not written unless that is asked for.
_FILLED = 0.6
_SMALLEST = 4.5
# Names across are turned where they have more letters than this together.
_CROWDED = 40


class ClusterConfusionDisplay:
    """How many rows of each class are in each cluster, every class beside its own cluster.

    Clusters are matched to classes one to one as `ulmus.metrics.clustering_accuracy` does, so that
    the matched cells lie along the diagonal; clusters that are left over come last. The colour of a
    cell is the part of its class, the number in it counts rows.

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
        The part of the rows in matched cells.
    im_ : matplotlib AxesImage
        The cells.
    text_ : ndarray of matplotlib Text or None
        The numbers in them; those of matched cells are bold.
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure they belong to.

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

    def __init__(self, confusion_matrix, *, classes=None, clusters=None):
        self.confusion_matrix = confusion_matrix
        self.classes = classes
        self.clusters = clusters

    @property
    def accuracy(self):
        """The part of the rows in matched cells."""
        counts = np.asarray(self.confusion_matrix)
        return float(counts[matched(counts)].sum() / counts.sum())

    @classmethod
    def from_estimator(cls, estimator, X, y, *, include_values=None, ax=None, **kwargs):
        """Draw the clusters of these rows against their classes.

        Parameters
        ----------
        estimator : clusterer or Pipeline
            A fitted one; without ``predict``, X must be the rows it was fitted to.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        include_values : bool or None, default=None
            Whether the counts are written; None does where there is room.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            For ``ax.imshow``.

        Returns
        -------
        display : ClusterConfusionDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        labels = estimator.predict(X) if hasattr(estimator, "predict") else estimator.labels_
        return cls.from_predictions(y, labels, include_values=include_values, ax=ax, **kwargs)

    @classmethod
    def from_predictions(cls, y_true, labels, *, include_values=None, ax=None, **kwargs):
        """Draw clusters against classes.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The classes.
        labels : array-like of shape (n_samples,)
            The clusters.
        include_values : bool or None, default=None
            Whether the counts are written; None does where there is room.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            For ``ax.imshow``.

        Returns
        -------
        display : ClusterConfusionDisplay
            What was drawn.
        """
        y_true = column_or_1d(complete(plain(y_true), "draw the others alone"))
        labels = column_or_1d(plain(labels))
        check_consistent_length(y_true, labels)
        counts = np.asarray(contingency_matrix(y_true, labels))
        _, columns = matched(counts)
        order = [*columns, *np.setdiff1d(np.arange(counts.shape[1]), columns)]
        display = cls(counts[:, order], classes=distinct(y_true), clusters=distinct(labels)[order])
        return display.plot(ax, include_values=include_values, **kwargs)

    def plot(self, ax=None, *, include_values=None, **kwargs):
        """Draw the cells.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        include_values : bool or None, default=None
            Whether the counts are written; None does where there is room.
        **kwargs : dict
            For ``ax.imshow``.

        Returns
        -------
        display : ClusterConfusionDisplay
            This display.
        """
        self.figure_, self.ax_ = axes_on(ax)
        counts = np.asarray(self.confusion_matrix)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        style = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest"}
        self.im_ = self.ax_.imshow(shares, **(style | kwargs))
        size = self._text_size(counts)
        if include_values is None:
            include_values = size >= _SMALLEST
        self.text_ = self._write(counts, shares, size) if include_values else None
        for axis, names, count in (
            (self.ax_.xaxis, self.clusters, counts.shape[1]),
            (self.ax_.yaxis, self.classes, counts.shape[0]),
        ):
            names = range(count) if names is None else names
            axis.set_ticks(range(count), labels=[str(name) for name in names])
            for text in axis.get_ticklabels():
                as_written(text)
        longest = max(len(text.get_text()) for text in self.ax_.get_xticklabels())
        if longest * counts.shape[1] > _CROWDED:
            self.ax_.tick_params(axis="x", rotation=90)
        self.ax_.set(xlabel="cluster", ylabel="class", title=f"accuracy {self.accuracy:.1%}")
        return self

    def _text_size(self, counts):
        """The size in points that lets every count stay in its cell."""
        box = self.ax_.bbox
        cell = min(box.width / counts.shape[1], box.height / counts.shape[0])
        cell *= 72 / self.figure_.dpi
        digits = len(f"{counts.max():g}")
        # A digit is about 0.6 of its height wide.
        return min(10.0, _FILLED * cell, _FILLED * cell / (0.6 * digits))

    def _write(self, counts, shares, size):
        """The count of each cell, in whichever end of the colours it stands out from."""
        light, dark = self.im_.cmap(0.0), self.im_.cmap(1.0)
        own = set(zip(*matched(counts), strict=True))
        text = np.empty(counts.shape, dtype=object)
        for cell in np.ndindex(counts.shape):
            text[cell] = self.ax_.text(
                cell[1],
                cell[0],
                f"{counts[cell]:g}",
                ha="center",
                va="center",
                fontsize=size,
                color=light if self.im_.norm(shares[cell]) > 0.5 else dark,
                weight="bold" if cell in own else "normal",
            )
        return text
