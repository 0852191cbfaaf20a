"""Columns of numbers, dates and categories into a matrix, and later tables in the same way."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.arguments import hint
from ulmus.exceptions import TableError
from ulmus.tables.columns import Category, Number, column_of
from ulmus.tables.squashing import unusable, usable, varied
from ulmus.tables.table import Table
from ulmus.tables.wording import counted, listed
from ulmus.typing import Rows

__all__ = ["TableEncoder"]

# A matrix wider than this with fewer entries than this share is sparse.
_WIDE, _FEW = 1000, 0.05
# A file may hold a million arrays, and a column may need two.
_MOST_NAMED = 450_000
# Numbers get their ranks too where no more columns than these have any: in wider tables, such as
# signals and images, ranks lowered the accuracy (benchmarks/tables.py).
_MOST_RANKED = 32


@dataclass
class TableEncoder:
    """A table's columns as a matrix of float32, in a way that is settled once and kept.

    Numbers are scaled, and far values squashed; blanks are filled by the median. Text becomes a
    column of zeros and ones for each category. `notes` says what was decided.

    Attributes
    ----------
    names : tuple of str
        Columns that are used, in the order of the first table.
    kinds : tuple of str
        "number", "boolean", "date" or "category", one for each.
    columns : dict of str to dict
        How each is turned into numbers.
    dropped : dict of str to str
        Columns that are not used, and why.
    feature_names_out : tuple of str
        Names of the matrix' columns.
    sparse : bool
        Whether the matrix is a CSR array: it is wide and mostly zeros.
    width : int
        Columns of the matrix that the table was, where it was one, else 0.
    image_shape : tuple of int
        Height, width and, for colour, 3, where the rows were images.
    notes : tuple of str
        What was decided in `fit`, in sentences.
    met : tuple of str
        What the latest `transform` met that `fit` had not, in sentences.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.tables import Table, TableEncoder
    >>> city = np.array(["Oslo", "Rome", "Oslo", None], dtype=object)
    >>> table = Table(("age", "city"), {"age": np.array([31.0, 45, 62, 18]), "city": city})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.feature_names_out
    ('age', 'city=Oslo', 'city=Rome', 'city is blank')
    >>> encoder.transform(table)[:, 1:]
    array([[1., 0., 0.],
           [0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """

    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    feature_names_out: tuple[str, ...] = ()
    sparse: bool = False
    width: int = 0
    image_shape: tuple[int, ...] = ()
    fill: np.ndarray = field(default_factory=lambda: np.zeros(0))
    notes: tuple[str, ...] = ()
    met: tuple[str, ...] = ()

    def fit(self, table: Table) -> "TableEncoder":
        """Decide what each column is and how it becomes numbers."""
        vars(self).update(vars(TableEncoder()))
        if table.matrix is not None:
            return self._fit_matrix(table)
        if len(table.names) > _MOST_NAMED:
            raise TableError(
                f"The table has {len(table.names):,} columns, and a model's file has room for "
                f"{_MOST_NAMED:,} by name; give them as a matrix, in an npz file."
            )
        notes: list[str] = []
        numbers = [table[name] for name in table.names if table[name].dtype != object]
        ranked = sum(varied(x[usable(x)]) for x in numbers) <= _MOST_RANKED
        for name in table.names:
            column, told = column_of(
                name, table[name], decimal_comma=table.decimal_comma, ranked=ranked
            )
            notes += told
            if isinstance(column, str):
                self.dropped[name] = column
            else:
                self.columns[name] = dict(vars(column))
        if not self.columns:
            why = " ".join(self._left_out()) or "There are none."
            raise TableError(f"No column is left to learn from. {why}")
        self.names = tuple(self.columns)
        self.kinds = tuple(state["kind"] for state in self.columns.values())
        self.feature_names_out = tuple(
            out for name in self.names for out in self.column(name).outputs(name)
        )
        dense = sum(isinstance(self.column(name), Number) for name in self.names)
        width = len(self.feature_names_out)
        self.sparse = width > _WIDE and (dense + len(self.names)) / width < _FEW
        self.notes = (*notes, *self._left_out())
        return self

    def _left_out(self) -> Iterator[str]:
        for reason in dict.fromkeys(self.dropped.values()):
            names = [name for name, why in self.dropped.items() if why == reason]
            yield f"Left out, as {'each' if len(names) > 1 else 'it'} {reason}: {listed(names)}."

    def fit_transform(self, table: Table) -> Rows:
        """The matrix of the table that the encoder is fitted to."""
        return self.fit(table).transform(table)

    def transform(self, table: Table) -> Rows:
        """The matrix of a table with these columns, in any order."""
        if not self.names:
            raise TableError("The encoder knows no columns yet; fit it to a table first.")
        if self.width:
            return self._transform_matrix(table)
        if table.matrix is not None:
            raise TableError(
                f"The model knows columns by name ({listed(self.names)}), and this file is a "
                "matrix without them; give a table with those columns."
            )
        present = set(table.names)
        for name in self.names:
            if name not in present:
                raise TableError(f"The column {name!r} is missing; {hint(name, table.names)}")
        met: list[str] = []
        known = {*self.names, *self.dropped}
        extra = [name for name in table.names if name not in known]
        if extra:
            met.append(f"Columns the model does not know were ignored: {listed(extra)}.")
        blocks = []
        for name in self.names:
            block, notes = self.column(name).encoded(name, table[name], table.decimal_comma)
            blocks.append(block)
            met += notes
        self.met = tuple(met)
        if self.sparse:
            return sp.hstack([sp.csr_array(block) for block in blocks], format="csr")
        return np.hstack([b if isinstance(b, np.ndarray) else b.toarray() for b in blocks])

    def _fit_matrix(self, table: Table) -> "TableEncoder":
        X = table.matrix
        assert X is not None
        self.names = self.feature_names_out = table.names
        self.width, self.image_shape = len(table.names), table.image_shape
        self.sparse = sp.issparse(X)
        if not self.sparse:
            blank = ~usable(X)
            seen = np.maximum((~blank).sum(axis=0), 1)
            self.fill = np.where(blank, 0, X).sum(axis=0, dtype=float) / seen
            if blank.any():
                self.notes = (f"{unusable(X)} filled by the columns' means.",)
        return self

    def _transform_matrix(self, table: Table) -> Rows:
        X = table.matrix
        if X is None:
            raise TableError(
                f"The model was fitted to a matrix of {self.width} columns without names, and this "
                "file is a table; give a file of the same kind."
            )
        if tuple(table.image_shape) != tuple(self.image_shape):
            if not table.image_shape or not self.image_shape:
                raise TableError("The model and the file are not both of images.")
            raise TableError(
                f"The model was fitted to images of shape {self.image_shape} and these are of "
                f"{table.image_shape}; read them with image_shape={self.image_shape}."
            )
        if self.sparse:
            return self._same_width(sp.csr_array(X))
        X = X.toarray() if sp.issparse(X) else X
        if X.shape[1] != self.width:
            raise TableError(f"The file has {X.shape[1]} columns and the model {self.width}.")
        blank = ~usable(X)
        self.met = ()
        if not blank.any():
            return X
        self.met = (f"{unusable(X)} filled by the columns' means.",)
        return np.where(blank, self.fill.astype(X.dtype), X)

    def _same_width(self, X: Rows) -> Rows:
        """As many columns as in `fit`: in a sparse file, columns at the end may have no entry."""
        more = X.shape[1] - self.width
        ignored = f"{counted(more, 'column')} that the model does not know ignored."
        self.met = (ignored,) if more > 0 else ()
        kept = X[:, : self.width]
        return sp.csr_array((kept.data, kept.indices, kept.indptr), (X.shape[0], self.width))

    def encoded_width(self) -> int:
        """How many columns the matrix of a table has."""
        return self.width or sum(len(self.column(name).outputs("")) for name in self.names)

    def column(self, name: str) -> Number | Category:
        """How one column is encoded."""
        state = self.columns[name]
        return Category(**state) if state["kind"] == "category" else Number(**state)
