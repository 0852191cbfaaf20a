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
        self._check_intervals("")
        return np.asarray(self.estimator.predict_interval(self.matrix(table), coverage=coverage))

    def columns(
        self, X: Rows, probabilities: bool = False, interval: float | None = None
    ) -> dict[str, np.ndarray]:
        """What there is to say of the rows of a `matrix`: prediction, probability, interval.

        ``interval`` is how many of a hundred new rows it is to hold. Errors name `ulmus predict`'s
        options.
        """
        self.check_wishes(probabilities, interval)
        y, P = self.labelled(X)
        if P is None or self.classes is None:
            found = {"prediction": y}
            return found if interval is None else found | self._interval(X, interval)
        found = {"prediction": y, "probability": P.max(axis=1)}
        names = (f"probability of {name}" for name in as_text(self.classes))
        return found | dict(zip(names, P.T, strict=True)) if probabilities else found

    def check_wishes(self, probabilities: bool, interval: float | None) -> None:
        """Refuse what this model cannot say of a row."""
        if self.classes is None and probabilities:
            raise InvalidInputError(
                f"The model predicts numbers ({self.target!r}), which have no probabilities; leave "
                "--probabilities out, or give --interval 90."
            )
        if interval is not None:
            other = ", or give --probabilities" if self.classes is not None else ""
            self._check_intervals(f"; leave --interval out{other}")

    def _check_intervals(self, advice: str) -> None:
        if not hasattr(self.estimator, "predict_interval"):
            what = "a class" if self.classes is not None else "a number, from few labelled rows"
            raise InvalidInputError(
                f"The model predicts {what} ({self.target!r}), without intervals{advice}."
            )

    def _interval(self, X: Rows, percent: float) -> dict[str, np.ndarray]:
        try:
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
        if self.target in table.names and self.target not in self.encoder.names:
            table = table.without(self.target)
        if not len(table):
            raise InvalidInputError("The table has no rows.")
        return self.view.clipped(self.encoder.matrix(table))

    def labelled(self, X: Rows) -> tuple[np.ndarray, np.ndarray | None]:
        """Predictions for the rows of a `matrix` and, for classes, their probabilities.

        The largest probability is that of the predicted class, so that one pass gives both.
        """
        if self.classes is None:
            return np.asarray(self.estimator.predict(X), dtype=float), None
        P = np.asarray(self.estimator.predict_proba(X), dtype=float)
        return self.classes[P.argmax(axis=1)], P
