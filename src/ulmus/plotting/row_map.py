"""Rows on a map."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ulmus.docstrings import documented
from ulmus.estimators.layout import ELMLayout
from ulmus.exceptions import InvalidInputError
from ulmus.files import write_text
from ulmus.plotting import canvas
from ulmus.plotting.canvas import COLOURS, MARKERS, Display, plain
from ulmus.plotting.html_map import html_map, words_of
from ulmus.targets import codes_of, distinct, known_labels
from ulmus.typing import Seed
from ulmus.validation import missing, narrowed

# A legend of more classes than this would be larger than the map.
_MOST_NAMED = 60
# Up to this many rows a marker has its full area; more rows have smaller ones, to a third of it.
_ROWS, _AREA = 500, 36.0


@documented
@dataclass(eq=False, repr=False)
class EmbeddingDisplay(Display):
    """Rows on a map, in the colour and shape of their class, hollow if the class is uncertain.

    It is drawn by ``ax.scatter``.

    Parameters
    ----------
    points : array-like of shape (n_samples, 2)
        The position of each row.
    labels : array-like of shape (n_samples,) or None, default=None
        Class or cluster of each row. −1 and missing values mark rows without one, which are grey.
    certainty : array-like of shape (n_samples,) or None, default=None
        Certainty of the label, from 0 (a hollow marker) to 1 (a full one).

    Attributes
    ----------
    scatters_ : list of matplotlib PathCollection
        The rows of each class, in the order of ``classes``; those without a label come first.
    classes : ndarray of shape (n_classes,)
        The classes that occur.
    legend_ : matplotlib Legend or None
        The classes' names, beside the map; None past sixty, or without labels.

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

    points: Any
    labels: Any = None
    _: KW_ONLY
    certainty: Any = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        classifier: Any = None,
        components: tuple[int, int] = (0, 1),
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw rows where a fitted model puts them.

        Parameters
        ----------
        estimator : ELMLayout, ELMEmbedding, ELMSpectralClustering, or any transformer or Pipeline
            A fitted model that gives two columns or more.
        y : array-like of shape (n_samples,) or None, default=None
            Their labels; None is what ``classifier`` predicts, or a clusterer's own clusters.
        classifier : classifier or None, default=None
            A fitted one with ``predict_proba``, which says how sure it is of each row.
        components : tuple of two int, default=(0, 1)
            Which columns go across and up.
        """
        last, proba = canvas.fitted_step(estimator), None
        if classifier is not None:
            if not hasattr(classifier, "predict_proba"):
                raise InvalidInputError(
                    f"{type(classifier).__name__} gives no probabilities, so there is no certainty "
                    "to draw; wrap it in scikit-learn's CalibratedClassifierCV, or leave it out."
                )
            proba = classifier.predict_proba(X)
            y = classifier.predict(X) if y is None else y
        elif y is None and hasattr(last, "labels_") and hasattr(last, "predict"):
            y = estimator.predict(X)
        points = _columns(estimator, X, components)
        return cls.from_predictions(points, y, proba=proba, ax=ax, **kwargs)

    @classmethod
    def from_rows(
        cls,
        X: Any,
        y: Any = None,
        *,
        classifier: Any = None,
        random_state: Seed = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Lay out rows by `ELMLayout` and draw them.

        Parameters
        ----------
        y, classifier : array-like or None, classifier or None
            As for `from_estimator`.
        random_state : int, RandomState instance or None, default=None
            Seeds the layout.
        """
        layout = ELMLayout(random_state=random_state).fit(X)
        return cls.from_estimator(layout, X, y, classifier=classifier, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls, points: Any, labels: Any = None, *, proba: Any = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw rows at given places.

        Parameters
        ----------
        points : array-like of shape (n_samples, 2)
            The position of each row.
        labels : array-like of shape (n_samples,) or None, default=None
            Class or cluster of each row; −1, None and NaN mark rows without one.
        proba : array-like of shape (n_samples, n_classes) or None, default=None
            Probabilities of each class, such as ``predict_proba`` or ``label_distributions_``
            give; a row's certainty is the largest of its own.
        """
        certainty = None if proba is None else plain(proba).max(axis=1)
        labels = None if labels is None else column_or_1d(plain(labels))
        return cls(plain(points), labels, certainty=certainty).plot(ax, **kwargs)

    def save_html(
        self,
        path: Any,
        rows: Any = None,
        *,
        label_name: str = "label",
        image_shape: tuple[int, ...] | None = None,
        title: str = "Map of rows",
    ) -> None:
        """Write the map as one HTML file, which needs no network; hovering shows the row.

        Parameters
        ----------
        path : str or path-like
            The file; one that is there is replaced.
        rows : DataFrame, dict of columns or array of shape (n_samples, n_features), or None
            What is shown of each row: the cells of at most 30 columns, or its image.
        label_name : str, default="label"
            What the legend calls the labels.
        image_shape : tuple of int or None, default=None
            Height, width and, for colour, 3, where ``rows`` is an array of images.
        title : str, default="Map of rows"
            The page's title.
        """
        images, cells = None, {}
        if image_shape is not None:
            images = np.reshape(plain(rows), (len(self.points), *image_shape))
        elif rows is not None:
            cells = {name: words_of(column, ~missing(column)) for name, column in _named(rows)}
        colours = {}
        if self.labels is not None:
            labels = plain(self.labels)
            colours = {label_name: words_of(labels, known_labels(labels))}
        page = html_map(self.points, cells=cells, colours=colours, images=images, title=title)
        write_text(path, page)

    def __post_init__(self) -> None:
        shape = np.shape(self.points)
        if len(shape) != 2 or shape[1] != 2:
            raise InvalidInputError(
                f"points has shape {shape}; a map needs two columns for each row."
            )
        check_consistent_length(self.points, self.labels, self.certainty)

    def _draw(self, **kwargs: Any) -> None:
        codes = self._codes(len(self.points))
        self.scatters_: list[Any] = []
        if (codes < 0).any():
            name = None if self.labels is None else "no label"
            self._scatter(codes < 0, canvas.MUTED, ".", name, {"s": _area(len(codes))} | kwargs)
        style = {"s": _area(int(np.sum(codes >= 0)))} | kwargs
        for code, label in enumerate(self.classes):
            colour, marker = COLOURS[code % len(COLOURS)], MARKERS[code % len(MARKERS)]
            self._scatter(codes == code, colour, marker, str(label), style)
        self.ax_.set(xlabel="first coordinate", ylabel="second coordinate", xticks=[], yticks=[])
        self.legend_ = self._legend() if 0 < len(self.classes) <= _MOST_NAMED else None

    def _codes(self, n_rows: int) -> np.ndarray:
        """The class of each row by its place in ``classes``, and −1 for none."""
        codes, self.classes = np.full(n_rows, -1), np.empty(0)
        if self.labels is not None:
            labels = plain(self.labels)
            known = known_labels(labels)
            self.classes = distinct(narrowed(labels[known]))
            codes[known] = codes_of(labels[known], self.classes)
        return codes

    def _scatter(
        self, rows: np.ndarray, colour: str, marker: str, name: str | None, style: dict[str, Any]
    ) -> None:
        """The rows of one class, an edge in its colour around as much of it as is certain."""
        from matplotlib.colors import to_rgba_array

        edges = to_rgba_array([colour] * int(rows.sum()))
        faces = edges.copy()
        if self.certainty is not None:
            faces[:, 3] = np.clip(np.asarray(self.certainty)[rows], 0.0, 1.0)
        look = {"facecolors": faces, "edgecolors": edges, "linewidths": 0.7, "marker": marker}
        points = np.asarray(self.points)[rows]
        self.scatters_.append(self.ax_.scatter(*points.T, **({"label": name} | look | style)))

    def _legend(self) -> Any:
        """The classes' names beside the map, where no row is."""
        handles = list(self.scatters_)
        names = [handle.get_label() for handle in handles]
        if self.certainty is not None:
            for face, name in ((self._ink, "certain"), ("none", "uncertain")):
                # Off the map: it is there for the legend alone.
                handles.append(self.ax_.scatter([], [], facecolors=face, edgecolors=self._ink))
                names.append(name)
        return canvas.legend_beside(self.ax_, handles, names)


def _area(n_rows: int) -> float:
    """How large the markers of so many rows are."""
    return float(np.clip(_AREA * _ROWS / max(n_rows, 1), _AREA / 3, _AREA))


def _named(rows: Any) -> list[tuple[str, np.ndarray]]:
    """The columns of a table by name, or of an array by number."""
    if hasattr(rows, "columns") or hasattr(rows, "keys"):
        names = rows.columns if hasattr(rows, "columns") else rows
        return [(str(name), plain(rows[name])) for name in names]
    rows = plain(rows)
    return [(f"column {k}", rows[:, k]) for k in range(rows.shape[1])]


def _columns(estimator: Any, X: Any, components: tuple[int, int]) -> np.ndarray:
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
