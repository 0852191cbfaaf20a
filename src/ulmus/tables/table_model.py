"""A fitted model of a table: from columns to predictions, and how it was made."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ulmus.exceptions import InvalidInputError, RowsGoneError
from ulmus.tables.encoder import TableEncoder
from ulmus.tables.kinds import as_text
from ulmus.tables.suspicions import known_share, row_hashes
from ulmus.tables.table import as_table
from ulmus.typing import Rows
from ulmus.validation import valid_rows


class ClippedColumns(TransformerMixin, BaseEstimator):
    """Columns clipped to the range seen in `fit`; a sparse matrix stays as it is.

    Clipping keeps one stray value from taking a prediction anywhere.

    Attributes
    ----------
    low_, high_ : ndarray of shape (n_features,)
        The range of each column; empty where the matrix was sparse.
    """

    def fit(self, X: Rows, y: Any = None) -> "ClippedColumns":
        """Learn the range."""
        self.n_features_in_ = X.shape[1]
        self.low_ = self.high_ = np.zeros(0, np.float32)
        if not sparse.issparse(X):
            self.low_, self.high_ = X.min(axis=0), X.max(axis=0)
        return self

    def transform(self, X: Rows) -> Rows:
        """The clipped columns."""
        check_is_fitted(self)
        return self.clipped(valid_rows(self, X, reset=False))

    def clipped(self, X: Rows) -> Rows:
        """The same of rows that are known to be a matrix of as many finite columns."""
        if sparse.issparse(X) or not len(self.low_):
            return X
        return np.clip(X, self.low_, self.high_)


@dataclass(eq=False, repr=False)
class TableModel:
    """What `fit_table` found: from a table to predictions.

    Parameters
    ----------
    encoder : TableEncoder
        Columns into numbers.
    view : ClippedColumns
        Clips the numbers to the range of the rows that were fitted.
    estimator : estimator
        A fitted classifier or regressor.
    target : str
        The column that was learnt.
    task : {"classification", "regression"}
        What it was taken for.
    summary : dict
        Rows, seconds, what was chosen, the leave-one-out score and that of a baseline, how much
        each column matters, versions and notes: plain data.
    fingerprint : ndarray of uint64
        Hashes of the rows that were fitted, or of some of many.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.tables import Table, fit_table
    >>> size = np.arange(40.0)
    >>> kind = np.where(size < 20, "small", "large").astype(object)
    >>> model = fit_table(Table(("size", "kind"), {"size": size % 23, "kind": kind}), "kind")
    >>> model.classes.tolist()
    ['large', 'small']
    >>> model.predict(Table(("size",), {"size": np.array([22.0])})).shape
    (1,)
    """

    encoder: TableEncoder
    view: ClippedColumns
    estimator: Any
    target: str
    task: str
    summary: dict[str, Any]
    fingerprint: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))

    def __repr__(self) -> str:
        chosen = type(self.estimator).__name__
        return f"TableModel(target={self.target!r}, task={self.task!r}, estimator={chosen})"

    @property
    def classes(self) -> np.ndarray | None:
        """The labels, or None where numbers are predicted."""
        return getattr(self.estimator, "classes_", None)

    def predict(self, table: Any) -> np.ndarray:
        """Labels or numbers for the rows of a table, in their order.

        It must have the columns that the model was fitted to, in any order; others are ignored.
        """
        return np.asarray(self.estimator.predict(self.matrix(table)))

    def predict_proba(self, table: Any) -> np.ndarray:
        """Probabilities of the classes, a column for each of ``classes``."""
        if self.classes is None:
            raise InvalidInputError(
                f"The model predicts numbers ({self.target!r}), which have no probabilities."
            )
        return np.asarray(self.estimator.predict_proba(self.matrix(table)))

    def predict_interval(self, table: Any, coverage: float = 0.9) -> np.ndarray:
        """The ends of an interval for each number, which holds this share of new rows."""
        if self.classes is not None:
            raise InvalidInputError(
                f"The model predicts a class ({self.target!r}), without intervals; predict_set "
                "gives the classes that a row may have."
            )
        self._check_coverage("")
        return np.asarray(self.estimator.predict_interval(self.matrix(table), coverage=coverage))

    def predict_set(self, table: Any, coverage: float = 0.9) -> np.ndarray:
        """Which classes each row may have, so that the sets hold this share of new rows' classes.

        A column of booleans for each of ``classes``.
        """
        if self.classes is None:
            raise InvalidInputError(
                f"The model predicts numbers ({self.target!r}), which have no sets; "
                "predict_interval gives the ends between which they lie."
            )
        self._check_coverage("")
        return np.asarray(self.estimator.predict_set(self.matrix(table), coverage=coverage))

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The columns that were fitted, and after them those that were left out."""
        return np.array([*self.encoder.names, *self.encoder.dropped], dtype=object)

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each of ``feature_names_in_`` matters, in shares that sum to one.

        It is what ``estimator.feature_importances_`` says of all that a column was encoded as; a
        column that was left out has zero. A model that was loaded without fitted rows has what its
        summary says, to four digits.
        """
        known, names = self.summary["importances"], self.encoder.names
        try:
            shares = column_shares(self.encoder, self.estimator.feature_importances_)
        except AttributeError:
            if len(known) < len(names):
                raise
            shares = np.array([known[name] for name in names])
        return np.concatenate([shares, np.zeros(len(self.encoder.dropped))])

    def columns(
        self, X: Rows, probabilities: bool = False, interval: float | None = None
    ) -> dict[str, np.ndarray]:
        """What there is to say of the rows of a `matrix`: prediction, probability, interval or set.

        ``interval`` is how many of a hundred new rows it is to hold, or the set of classes, whose
        names are joined by "|". Errors name `ulmus predict`'s options.
        """
        self.check_wishes(probabilities, interval)
        y, P = self.labelled(X)
        found = {"prediction": y}
        if P is not None and self.classes is not None:
            found["probability"] = P.max(axis=1)
            names = (f"probability of {name}" for name in as_text(self.classes))
            found |= dict(zip(names, P.T, strict=True)) if probabilities else {}
        return found if interval is None else found | self._covering(X, interval)

    def check_wishes(self, probabilities: bool, interval: float | None) -> None:
        """Refuse what this model cannot say of a row."""
        if self.classes is None and probabilities:
            raise InvalidInputError(
                f"The model predicts numbers ({self.target!r}), which have no probabilities; leave "
                "--probabilities out, or give --interval 90."
            )
        if interval is not None:
            other = ", or give --probabilities" if self.classes is not None else ""
            self._check_coverage(f"; leave --interval out{other}")

    def _check_coverage(self, advice: str) -> None:
        if not self.covers:
            one, of = ("class", "sets") if self.classes is not None else ("number", "intervals")
            raise InvalidInputError(
                f"The model predicts a {one}, from few labelled rows ({self.target!r}), without "
                f"{of}{advice}."
            )

    @property
    def covers(self) -> bool:
        """Whether there are intervals, or sets of classes, with a given coverage."""
        name = "predict_interval" if self.classes is None else "predict_set"
        return hasattr(self.estimator, name)

    def _covering(self, X: Rows, percent: float) -> dict[str, np.ndarray]:
        """The ends of intervals, or sets of classes."""
        try:
            if self.classes is not None:
                sets = np.asarray(self.estimator.predict_set(X, coverage=percent / 100))
                return {"set": _joined(as_text(self.classes), sets)}
            ends = np.asarray(self.estimator.predict_interval(X, coverage=percent / 100))
        except RowsGoneError as error:
            raise InvalidInputError(
                "--interval: the model's file has no fitted rows to leave out, as ulmus.save(..., "
                "for_update=False) leaves none. `ulmus fit` writes a file with them; or leave "
                "--interval out."
            ) from error
        return {"lower": ends[:, 0], "upper": ends[:, 1]}

    def known_share(self, X: Rows) -> float | None:
        """The share of the rows of a `matrix` that the model was fitted to; None if unknown."""
        return known_share(row_hashes(X), self.fingerprint)

    def matrix(self, table: Any) -> Rows:
        """The rows as the estimator takes them: encoded columns, clipped.

        `labelled` takes them.
        """
        table = as_table(table)
        if not len(table):
            raise InvalidInputError("The table has no rows.")
        if self.target in table.names and self.target not in self.encoder.names:
            table = table.without(self.target)
        return self.view.clipped(self.encoder.matrix(table))

    def labelled(self, X: Rows) -> tuple[np.ndarray, np.ndarray | None]:
        """Predictions for the rows of a `matrix` and, for classes, their probabilities.

        The largest probability is that of the predicted class, so that one pass gives both.
        """
        if self.classes is None:
            return np.asarray(self.estimator.predict(X), dtype=float), None
        P = np.asarray(self.estimator.predict_proba(X), dtype=float)
        return self.classes[P.argmax(axis=1)], P


def column_shares(encoder: TableEncoder, shares: np.ndarray) -> np.ndarray:
    """Shares of the encoder's columns, from those of all that each was encoded as."""
    owner = np.repeat(np.arange(len(encoder.names)), encoder.widths)
    return np.bincount(owner, shares, len(encoder.names))


def _joined(names: list[str], sets: np.ndarray) -> np.ndarray:
    """The names of each set of classes (n × k), joined by "|"; one within a name is "\\|"."""
    escaped = [name.replace("\\", "\\\\").replace("|", "\\|") for name in names]
    texts = [
        "|".join(name for name, there in zip(escaped, row, strict=True) if there) for row in sets
    ]
    return np.array(texts, dtype=object)
