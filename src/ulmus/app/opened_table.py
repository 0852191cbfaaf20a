"""A table or a folder of images as the page needs it: numbers to learn from, rows to show."""

import hashlib
import io
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ulmus.app.actions import Labels
from ulmus.arguments import figure
from ulmus.backends.namespace import extra
from ulmus.exceptions import InvalidInputError
from ulmus.tables import Table, TableEncoder
from ulmus.tables.cells import words_of
from ulmus.tables.table_model import ClippedColumns
from ulmus.typing import Rows

# Columns and characters of a cell that are shown of a row.
_MOST_CELLS, _LONGEST_CELL = 100, 2000


@dataclass(frozen=True)
class OpenedTable:
    """Rows to show, the encoded ``X`` to learn from, and the labels that the file has.

    ``shape`` is that of the images whose pixels the columns are, where they are.
    """

    table: Table
    encoder: TableEncoder
    view: ClippedColumns
    X: Rows
    target: str
    labels: Labels
    shape: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.table)

    def cells(self, row: int) -> list[tuple[str, str]]:
        """Names and contents of a row's columns, as text."""
        names = self.table.names[:_MOST_CELLS]
        return list(zip(names, map(_as_cell, self._values(row)), strict=False))

    def name(self, row: int) -> str:
        """What a row is called: its file, or its number in the file from 1."""
        return self.table.files[row] if self.table.files else str(self.table.row_numbers[row])

    def picture(self, row: int) -> bytes:
        """The row as a PNG."""
        values = np.nan_to_num(np.array(self._values(row), dtype=float)).reshape(self.shape)
        low, high = self.brightness
        pixels = np.clip(255 * (values - low) / ((high - low) or 1.0), 0, 255).astype(np.uint8)
        stream = io.BytesIO()
        extra("PIL.Image", "app", "A picture of a row").fromarray(pixels).save(stream, "png")
        return stream.getvalue()

    def _values(self, row: int) -> list[Any]:
        if self.table.matrix is None:
            return [self.table.columns[name][row] for name in self.table.names]
        line = self.table.matrix[[row]]
        return list((line.toarray() if sparse.issparse(line) else line).ravel())

    @cached_property
    def brightness(self) -> tuple[float, float]:
        """The numbers of black and white pixels."""
        if self.table.image_shape:
            return 0.0, 1.0
        some = np.array([self._values(row) for row in range(min(len(self), 100))], dtype=float)
        return float(np.nanmin(some)), float(np.nanmax(some))

    @property
    def fingerprint(self) -> str:
        """What tells these rows from others; the labels have no part in it."""
        digest, table = hashlib.blake2b(digest_size=16), self.table
        parts: list[Any] = ["\0".join((*table.names, *table.files)).encode()]
        if sparse.issparse(table.matrix):
            parts += [table.matrix.data, table.matrix.indices, table.matrix.indptr]  # type: ignore[union-attr]
        elif table.matrix is not None:
            parts.append(table.matrix)
        for column in table.columns.values():
            texts = ("\1" if cell is None else str(cell) for cell in column)
            parts.append("\0".join(texts).encode() if column.dtype == object else column)
        for part in parts:
            digest.update(np.ascontiguousarray(part).data if isinstance(part, np.ndarray) else part)
        return digest.hexdigest()


def opened_table(
    table: Table,
    target: str | None = None,
    *,
    without: tuple[str, ...] = (),
    shape: tuple[int, ...] = (),
) -> OpenedTable:
    """A table to label; ``target`` names the column of labels that exist.

    Without it the labels are the file's own, where it has any.
    """
    words = table.target if target is None else table[target]
    for name in dict.fromkeys([*([target] if target else []), *without]):
        table = table.without(name)
    if len(table) < 2:
        raise InvalidInputError("There is only one row; at least two are needed.")
    encoder = TableEncoder().fit(table)
    view = ClippedColumns()
    X = view.fit_transform(encoder.transform(table))
    labels = Labels.none(len(table)) if words is None else Labels.of(words_of(words))
    table = replace(table, target=None)
    return OpenedTable(
        table, encoder, view, X, target or "class", labels, _shape(table, shape),
        (*table.notes, *encoder.notes),
    )  # fmt: skip


def _shape(table: Table, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a row as an image, () where it is none."""
    if not shape:
        return table.image_shape
    if any(column.dtype == object for column in table.columns.values()):
        raise InvalidInputError("--image-shape is for columns of numbers, and some hold text.")
    if int(np.prod(shape)) != len(table.names):
        raise InvalidInputError(
            f"--image-shape {'x'.join(map(str, shape))} is {int(np.prod(shape)):,} pixels, and a "
            f"row has {len(table.names):,} columns."
        )
    return shape


def _as_cell(value: Any) -> str:
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    return value[:_LONGEST_CELL] if isinstance(value, str) else figure(value)
