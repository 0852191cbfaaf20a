"""From a table to a matrix X, and later tables in the same way."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin

from ulmus.arguments import check_known, counted, hint, listed
from ulmus.exceptions import TableError
from ulmus.tables.columns import (
    HOLDS,
    Category,
    Met,
    Number,
    Text,
    met_sentences,
    unusable,
    usable,
    varied,
)
from ulmus.tables.header import PLACE
from ulmus.tables.kinds import column_of, names_rows
from ulmus.tables.table import Table, as_table
from ulmus.typing import Rows

# A matrix wider than this with fewer entries than this share is sparse.
_WIDE, _FEW = 1000, 0.05
# A file may hold a million arrays, and a column may need two.
_MOST_NAMED = 450_000
# Numbers get their ranks too where no more columns than these have any: in wider tables, such as
# signals and images, ranks lowered the accuracy (benchmarks/tables.py).
_MOST_RANKED = 32


@dataclass(eq=False, repr=False)
class TableEncoder(TransformerMixin, BaseEstimator):
    """A table's columns as a matrix of float32, in a way that is settled once and kept.

    Numbers are scaled, and far values squashed; blanks are filled by the median. Text becomes a
    column of zeros and ones for each category. `notes` says what was decided.

    Attributes
    ----------
    names : tuple of str
        Columns that are used, in the order of the first table.
    kinds : tuple of str
        "number", "boolean", "date", "category" or "text", one for each.
    given : dict of str to str
        Kinds that were said, not found: of these columns by name.
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
    ('age', 'city=Oslo', 'city=Rome', 'city is missing')
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
    given: dict[str, str] = field(default_factory=dict)

    def fit(self, table: Any, y: Any = None) -> "TableEncoder":
        """Decide how each column becomes numbers; a table that is refused changes nothing."""
        table = as_table(table)
        X = table.matrix
        made = _of_columns(table, self.given) if X is None else _of_matrix(X, table)
        self.__dict__.pop("_columns", None)
        self.__dict__.update(vars(made), given=self.given)
        return self

    def __sklearn_clone__(self) -> "TableEncoder":
        return TableEncoder(given=dict(self.given))

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return ["given"]  # the other fields are found by `fit`

    def fit_transform(self, table: Any, y: Any = None) -> Rows:
        """The matrix of the table that the encoder is fitted to."""
        return self.fit(table).transform(table)

    def transform(self, table: Any) -> Rows:
        """The matrix of a table, or of a frame, with these columns, in any order."""
        return self.matrix(table)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the matrix' columns, as scikit-learn asks for them."""
        self._check_fitted()
        return np.array(self.feature_names_out, dtype=object)

    def _check_fitted(self) -> None:
        if not self.names:
            raise TableError("The encoder knows no columns yet; fit it to a table first.")

    def matrix(self, table: Any) -> Rows:
        """What `transform` gives, as a matrix whatever `set_output` asks for."""
        self._check_fitted()
        table = as_table(table)
        met: list[str] = []
        X = self._matrix(table, met) if self.width else self._encoded(table, met)
        self.met = tuple(met)
        return X

    def column(self, name: str) -> Number | Category | Text:
        """How one column is encoded."""
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, Number | Category | Text]:
        # Made once: the codes of many categories take longer than one row.
        states = self.columns.items()
        return {name: _CLASSES.get(state["kind"], Number)(**state) for name, state in states}

    def ids(self, table: Table) -> list[str]:
        """Columns of a table that are not used, and that are called as ids are."""
        if table.matrix is not None:
            return []
        return [name for name in table.names if name not in self.names and names_rows(name)]

    @property
    def decisions(self) -> list[tuple[str, str]]:
        """What became of each column: its kind and features, or why it was left out."""
        if self.width:
            return []
        parts = zip(self.names, self.kinds, self.widths, strict=True)
        kept = [(name, f"{kind}, {counted(width, 'feature')}") for name, kind, width in parts]
        return [*kept, *((name, f"left out: {why}") for name, why in self.dropped.items())]

    @property
    def widths(self) -> list[int]:
        """How many columns of the matrix each column of a table becomes."""
        if self.width:
            return [1] * self.width
        return [len(self.column(name).outputs("")) for name in self.names]

    def _encoded(self, table: Table, met: list[str]) -> Rows:
        """The matrix of a table of named columns; what `fit` had not met is added to ``met``."""
        if table.matrix is not None:
            raise TableError(
                f"The model knows columns by name ({listed(self.names)}), and this file is a "
                "matrix without them; give a table with those columns."
            )
        present, known = set(table.names), {*self.names, *self.dropped}
        lacking = [name for name in self.names if name not in present]
        if lacking:
            what = f"The column {lacking[0]!r} is missing"
            if len(lacking) > 1:
                what = f"{counted(len(lacking), 'column')} are missing, {listed(lacking)}"
            advice = hint(lacking[0], table.names)
            if (
                table.names
                and all(map(PLACE.fullmatch, table.names))
                and not PLACE.fullmatch(lacking[0])
            ):
                advice = "the file has no row of names; write them above its rows."
            raise TableError(f"{what}; {advice}")
        extra = [name for name in table.names if name not in known]
        if extra:
            met.append(f"Columns the model does not know were ignored: {listed(extra)}.")
        of_columns: list[Met] = []
        blocks = (
            self.column(name).encoded(name, table[name], table.decimal_comma, of_columns)
            for name in self.names
        )
        if self.sparse:
            X = sp.hstack([sp.csr_array(block) for block in blocks], format="csr")
        else:
            X = np.hstack(list(blocks))
        met += met_sentences(of_columns)
        return X

    def _matrix(self, table: Table, met: list[str]) -> Rows:
        """The rows of a table that is a matrix; what `fit` had not met is added to ``met``."""
        X, shape = table.matrix, tuple(table.image_shape)
        if X is None:
            raise TableError(
                f"The model was fitted to a matrix of {self.width} columns without names, and this "
                "file is a table; give a file of the same kind."
            )
        if bool(shape) != bool(self.image_shape):
            raise TableError("The model and the file are not both of images.")
        if shape != tuple(self.image_shape):
            raise TableError(
                f"The model was fitted to images of shape {self.image_shape} and these are of "
                f"{shape}; read them with image_shape={self.image_shape}."
            )
        more = X.shape[1] - self.width
        if self.sparse:
            if more > 0:
                met.append(f"{counted(more, 'column')} that the model does not know ignored.")
            # Columns at the end of a sparse file may have no entry.
            kept = sp.csr_array(X)[:, : self.width]
            return sp.csr_array((kept.data, kept.indices, kept.indptr), (len(table), self.width))
        if more:
            raise TableError(f"The file has {X.shape[1]} columns and the model {self.width}.")
        X = X.toarray() if sp.issparse(X) else X
        blank = ~usable(X)
        if not blank.any():
            return X
        met.append(_filled(X))
        return np.where(blank, self.fill.astype(X.dtype), X)


_CLASSES: dict[str, Any] = {"category": Category, "text": Text}


def _of_columns(table: Table, given: dict[str, str]) -> TableEncoder:
    for name, kind in given.items():
        table[name]  # an error where there is none
        check_known("kind", kind, (*HOLDS, *_CLASSES))
    if len(table.names) > _MOST_NAMED:
        raise TableError(
            f"The table has {len(table.names):,} columns, and a model's file has room for "
            f"{_MOST_NAMED:,} by name; give them as a matrix, in an npz file."
        )
    made, outputs = TableEncoder(), []
    notes: list[str] = []
    numbers = [table[name] for name in table.names if table[name].dtype != object]
    ranked = sum(varied(x[usable(x)]) for x in numbers) <= _MOST_RANKED
    for name in table.names:
        column = column_of(name, table[name], table.decimal_comma, ranked, notes, given.get(name))
        if isinstance(column, str):
            made.dropped[name] = column
        else:
            made.columns[name] = dict(vars(column))
            outputs += column.outputs(name)
    for reason in dict.fromkeys(made.dropped.values()):
        names = [name for name, why in made.dropped.items() if why == reason]
        each = "each" if len(names) > 1 else "it"
        notes.append(f"Left out, as {each} {reason}: {listed(names)}.")
    if not made.columns:
        why = " ".join(notes) or "The table has no other."
        raise TableError(f"No column is left to learn from. {why}")
    made.names, made.feature_names_out = tuple(made.columns), tuple(outputs)
    made.kinds = tuple(state["kind"] for state in made.columns.values())
    # Entries of a row: two of a number, its value and perhaps its rank, and one of a category.
    entries = len(made.kinds) + sum(kind != "category" for kind in made.kinds)
    made.sparse = len(outputs) > _WIDE and entries / len(outputs) < _FEW
    made.notes = tuple(notes)
    return made


def _of_matrix(X: Rows, table: Table) -> TableEncoder:
    made = TableEncoder(table.names, feature_names_out=table.names, sparse=sp.issparse(X))
    made.width, made.image_shape = len(table.names), table.image_shape
    if not made.sparse:
        blank = ~usable(X)
        seen = np.maximum((~blank).sum(axis=0), 1)
        made.fill = np.where(blank, 0, X).sum(axis=0, dtype=float) / seen
        made.notes = (_filled(X),) if blank.any() else ()
    return made


def _filled(X: np.ndarray) -> str:
    return f"{unusable(X)} filled by the columns' means."
