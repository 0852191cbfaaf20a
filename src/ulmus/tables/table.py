"""A table as it was read: named columns, or one matrix; and words for what is in it."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ulmus.arguments import hint
from ulmus.exceptions import TableError
from ulmus.typing import Rows

# Letters of a cell, and cells of a list, that notes and errors show.
_LONGEST = 60
_MOST = 5


@dataclass(frozen=True)
class Table:
    """Rows of a file: columns of numbers and text by name, or a matrix.

    Parameters
    ----------
    names : tuple of str
        The columns, in the file's order.
    columns : dict of str to ndarray
        Each a float64 array with NaN where a cell is blank, or an object array of str with None
        there. Empty where there is a matrix.
    matrix : ndarray or CSR array, default=None
        All columns at once, of a file that has no others.
    target : ndarray, default=None
        What the file itself says is to be learnt.
    notes : tuple of str
        What was decided on the way, in sentences.
    decimal_comma : bool, default=False
        Whether 1,5 is a number in this file.
    image_shape : tuple of int
        Height, width and, for colour, 3, where the rows are images.
    files : tuple of str
        The images' files, one for each row.

    Examples
    --------
    >>> from ulmus.tables import Table
    >>> columns = {"age": np.array([31.0]), "city": np.array(["Oslo"], dtype=object)}
    >>> table = Table(("age", "city"), columns)
    >>> table["age"], len(table), table.without("age").names
    (array([31.]), 1, ('city',))
    """

    names: tuple[str, ...]
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    matrix: Rows | None = None
    target: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    decimal_comma: bool = False
    image_shape: tuple[int, ...] = ()
    files: tuple[str, ...] = ()

    def __len__(self) -> int:
        if self.matrix is not None:
            return int(self.matrix.shape[0])
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.columns:
            return self.columns[name]
        place = self._place(name)
        assert self.matrix is not None
        column = self.matrix[:, [place]]
        column = column if isinstance(column, np.ndarray) else column.toarray()
        return np.asarray(column, dtype=float).ravel()

    def without(self, name: str) -> "Table":
        """The same without a column."""
        kept = np.delete(np.arange(len(self.names)), self._place(name))
        names = tuple(self.names[j] for j in kept)
        if self.matrix is not None:
            return replace(self, names=names, matrix=self.matrix[:, kept], image_shape=())
        return replace(self, names=names, columns={other: self.columns[other] for other in names})

    def rows(self, index: np.ndarray) -> "Table":
        """The same with these rows only, by number or by a mask."""
        return replace(
            self,
            columns={name: values[index] for name, values in self.columns.items()},
            matrix=None if self.matrix is None else self.matrix[index],
            target=None if self.target is None else self.target[index],
            files=tuple(np.array(self.files, dtype=object)[index]) if self.files else (),
        )

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise TableError(f"There is no column {name!r}; {hint(name, self.names)}")
        return self.names.index(name)


def counted(number: int, noun: str) -> str:
    """1 row, 2,000 rows."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def quoted(cell: str) -> str:
    """A cell in quotes, cut off where it is long."""
    return repr(cell if len(cell) <= _LONGEST else cell[: _LONGEST - 3] + "...")


def listed(cells: Iterable[str]) -> str:
    """The first few of some cells, in quotes."""
    found = [quoted(cell) for cell in cells]
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return ", ".join(found[:_MOST]) + more
