"""Rows on a map."""

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ulmus.exceptions import InvalidInputError
from ulmus.missing import narrowed
from ulmus.plotting.canvas import COLOURS, MARKERS, MUTED, axes_on, ink, legend_beside, plain
from ulmus.targets import codes_of, distinct, known_labels

__all__ = ["EmbeddingDisplay"]

# A legend of more classes than this would be larger than the map.
_MOST_NAMED = 60
# Up to this many rows a marker has its full area; more rows have smaller ones, to a third of it.
_ROWS = 500
_AREA = 36.0


class EmbeddingDisplay:
    """Rows on a map, each in its class's colour and shape, and hollow where that is uncertain.

    Parameters
    ----------
    points : array-like of shape (n_samples, 2)
        Where each row is.
    labels : array-like of shape (n_samples,) or None, default=None
        Class or cluster of each row. −1 and missing values mark rows without one, which are grey.
    certainty : array-like of shape (n_samples,) or None, default=None
        How sure that is, from 0, a hollow marker, to 1, a full one.

    Attributes
    ----------
    scatters_ : list of matplotlib PathCollection
        The rows of each class, in the order of ``classes``; those without a label come first.
    classes : ndarray of shape (n_classes,)
        The classes that occur.
    legend_ : matplotlib Legend or None
        The classes' names, beside the map; None past sixty, or without labels.
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure they belong to.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMClassifier, ELMEmbedding
    >>> from ulmus.plotting import EmbeddingDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMEmbedding(n_hidden=100, random_state=0).fit(X)
    >>> classifier = ELMClassifier(n_hidden=100, random_state=0).fit(X[::10], y[::10])
    >>> display = EmbeddingDisplay.from_estimator(model, X, classifier=classifier)
    >>> display.classes.tolist(), len(display.certainty)
    ([0, 1, 2], 150)
    """

    def __init__(self, points, labels=None, *, certainty=None):
        self.points = points
        self.labels = labels
        self.certainty = certainty

    @classmethod
    def from_estimator(
        cls, estimator, X, y=None, *, classifier=None, components=(0, 1), ax=None, **kwargs
    ):
        """Draw rows where a fitted model puts them.

        Parameters
        ----------
        estimator : ELMEmbedding, ELMSpectralClustering, or any transformer or Pipeline
            A fitted model that gives two columns or more.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or None, default=None
            Their labels; None is what ``classifier`` predicts, or a clusterer's own clusters.
        classifier : classifier or None, default=None
            A fitted one with ``predict_proba``, which says how sure it is of each row.
        components : tuple of two int, default=(0, 1)
            Which columns go across and up.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            For ``ax.scatter``.

        Returns
        -------
        display : EmbeddingDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        proba = None
        if classifier is not None:
            if not hasattr(classifier, "predict_proba"):
                raise InvalidInputError(
                    f"{type(classifier).__name__} gives no probabilities, so there is no certainty "
                    "to draw; wrap it in scikit-learn's CalibratedClassifierCV, or leave it out."
                )
            proba = classifier.predict_proba(X)
            y = classifier.predict(X) if y is None else y
        elif y is None and _is_clusterer(estimator):
            y = estimator.predict(X)
        points = _columns(estimator, X, components)
        return cls.from_predictions(points, y, proba=proba, ax=ax, **kwargs)

    @classmethod
    def from_predictions(cls, points, labels=None, *, proba=None, ax=None, **kwargs):
        """Draw rows at given places.

        Parameters
        ----------
        points : array-like of shape (n_samples, 2)
            Where each row is.
        labels : array-like of shape (n_samples,) or None, default=None
            Class or cluster of each row; −1, None and NaN mark rows without one.
        proba : array-like of shape (n_samples, n_classes) or None, default=None
            Probabilities of each class, such as ``predict_proba`` or ``label_distributions_``
            give; a row's certainty is the largest of its own.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            For ``ax.scatter``.

        Returns
        -------
        display : EmbeddingDisplay
            What was drawn.
        """
        certainty = None if proba is None else plain(proba).max(axis=1)
        labels = None if labels is None else column_or_1d(plain(labels))
        return cls(plain(points), labels, certainty=certainty).plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs):
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            For ``ax.scatter``.

        Returns
        -------
        display : EmbeddingDisplay
            This display.
        """
        points = np.asarray(self.points)
        if points.ndim != 2 or points.shape[1] != 2:
            raise InvalidInputError(
                f"points has shape {points.shape}; a map needs two columns for each row."
            )
        check_consistent_length(points, self.labels, self.certainty)
        self.figure_, self.ax_ = axes_on(ax)
        codes = self._codes(len(points))
        self.scatters_ = []
        if (codes < 0).any():
            name = None if self.labels is None else "no label"
            self._scatter(points, codes < 0, MUTED, ".", name, kwargs)
        style = {"s": _area(int(np.sum(codes >= 0)))} | kwargs
        for code, label in enumerate(self.classes):
            colour, marker = COLOURS[code % len(COLOURS)], MARKERS[code % len(MARKERS)]
            self._scatter(points, codes == code, colour, marker, str(label), style)
        self.ax_.set(xlabel="first coordinate", ylabel="second coordinate", xticks=[], yticks=[])
        self.legend_ = self._legend() if 0 < len(self.classes) <= _MOST_NAMED else None
        return self

    def _codes(self, n_rows):
        """The class of each row by its place in ``classes``, and −1 for none."""
        if self.labels is None:
            self.classes = np.empty(0)
            return np.full(n_rows, -1)
        labels = plain(self.labels)
        known = known_labels(labels)
        self.classes = distinct(narrowed(labels[known]))
        codes = np.full(n_rows, -1)
        codes[known] = codes_of(labels[known], self.classes)
        return codes

    def _scatter(self, points, rows, colour, marker, name, style):
        """The rows of one class, an edge in its colour around as much of it as is certain."""
        from matplotlib.colors import to_rgba_array

        faces = to_rgba_array([colour] * int(rows.sum()))
        edges = faces.copy()
        if self.certainty is not None:
            faces[:, 3] = np.clip(np.asarray(self.certainty)[rows], 0.0, 1.0)
        self.scatters_.append(
            self.ax_.scatter(
                *points[rows].T,
                **(
                    {
                        "facecolors": faces,
                        "edgecolors": edges,
                        "linewidths": 0.7,
                        "s": _area(len(points)),
                        "marker": marker,
                        "label": name,
                    }
                    | style
                ),
            )
        )

    def _legend(self):
        """The classes' names beside the map, where no row is."""
        handles = list(self.scatters_)
        names = [handle.get_label() for handle in handles]
        if self.certainty is not None:
            colour = ink(self.ax_)
            for face, name in ((colour, "certain"), ("none", "uncertain")):
                # Off the map: it is there for the legend alone.
                handle = self.ax_.scatter([], [], facecolors=face, edgecolors=colour)
                handles.append(handle)
                names.append(name)
        return legend_beside(self.ax_, handles, names)


def _area(n_rows):
    """How large the markers of so many rows are."""
    return float(np.clip(_AREA * _ROWS / max(n_rows, 1), _AREA / 3, _AREA))


def _is_clusterer(estimator):
    """Whether an estimator, or the last of a pipeline, finds clusters."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    return hasattr(last, "labels_") and hasattr(last, "predict")


def _columns(estimator, X, components):
    """Two columns of what the estimator makes of X."""
    embedding = getattr(estimator, "embedding_", estimator)
    embedding = embedding if hasattr(embedding, "transform") else estimator
    if not hasattr(embedding, "transform"):
        raise InvalidInputError(
            f"{type(estimator).__name__} has no transform, so there is no map to draw; use "
            "ELMEmbedding, or give the points to from_predictions."
        )
    E = embedding.transform(X)
    E = plain(E.toarray() if hasattr(E, "toarray") else E)
    if E.ndim != 2 or E.shape[1] <= max(components) or len(components) != 2:
        raise InvalidInputError(
            f"components={tuple(components)} names two columns, and "
            f"{type(embedding).__name__} gives {E.shape[1]}; a map needs n_components=2 or more."
        )
    return E[:, list(components)]
