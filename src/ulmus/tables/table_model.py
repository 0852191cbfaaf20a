"""A fitted model together with the columns it reads."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ulmus.exceptions import InvalidInputError
from ulmus.tables.clipped_bins import ClippedBins
from ulmus.tables.encoder import TableEncoder
from ulmus.tables.table import Table
from ulmus.typing import Rows

__all__ = ["TableModel"]


@dataclass(eq=False, repr=False)
class TableModel:
    """What `fit_table` found: from a table to predictions.

    Parameters
    ----------
    encoder : TableEncoder
        Columns into numbers.
    view : ClippedBins
        Clips the numbers, and adds steps where they help.
    estimator : estimator
        A fitted classifier or regressor.
    target : str
        The column that was learnt.
    task : {"classification", "regression"}
        What it was taken for.
    summary : dict
        Rows, seconds, what was chosen, the leave-one-out score, versions and notes: plain data.

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
    view: ClippedBins
    estimator: Any
    target: str
    task: str
    summary: dict[str, Any]

    @property
    def classes(self) -> np.ndarray | None:
        """The labels, or None where numbers are predicted."""
        return getattr(self.estimator, "classes_", None)

    def predict(self, table: Table) -> np.ndarray:
        """Labels or numbers for the rows of a table, in their order.

        It must have the columns that the model was fitted to, in any order; others are ignored.
        """
        found: np.ndarray = self.estimator.predict(self.matrix(table))
        return found

    def predict_proba(self, table: Table) -> np.ndarray:
        """Probabilities of the classes, a column for each of ``classes``."""
        if self.classes is None:
            raise InvalidInputError(
                f"The model predicts numbers ({self.target!r}), which have no probabilities."
            )
        found: np.ndarray = self.estimator.predict_proba(self.matrix(table))
        return found

    def matrix(self, table: Table) -> Rows:
        """The rows as the estimator takes them: encoded columns, and steps if there are any."""
        if self.target in table.names and self.target not in self.encoder.names:
            table = table.without(self.target)
        if not len(table):
            raise InvalidInputError("The table has no rows.")
        return self.view.transform(self.encoder.transform(table))
