"""A table, and files of every kind as one; text is taken apart in `ulmus.tables.delimited`."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from ulmus.archives import read_npz, sparse_matrix
from ulmus.arguments import check_known, counted, hint
from ulmus.backends.arrow import frame_columns, json_columns, parquet_columns
from ulmus.backends.pixels import image_pixels, image_shape
from ulmus.commanded import option
from ulmus.exceptions import InvalidParameterError, TableError
from ulmus.tables.delimited import file_text, read_delimited
from ulmus.tables.header import MISSING
from ulmus.typing import Rows

_ENDINGS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "txt": (".txt", ".data", ".dat"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "npz": (".npz",),
    "svmlight": (".svmlight", ".libsvm", ".svm"),
}
_IMAGES = {
    ".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pbm",
}  # fmt: skip
# A side of more pixels is shrunk: random features cannot use finer detail.
_LARGEST = 64
# More columns are refused: the random weights of the hidden units would not fit into memory.
_MOST_COLUMNS = 2**22
_PARTS = ("data", "indices", "indptr", "shape")
_MEMBERS = {"X", "y", "format", "feature_names", *_PARTS}
_BROKEN = (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError, AttributeError)


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
    numbers : ndarray, default=None
        The rows' places in the file, from 1; None where they are all there.

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
    numbers: np.ndarray | None = None

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
        return np.asarray(column.toarray() if sp.issparse(column) else column, dtype=float).ravel()

    def without(self, name: str) -> "Table":
        """The same without a column."""
        kept = np.delete(np.arange(len(self.names)), self._place(name))
        names = tuple(self.names[j] for j in kept)
        if self.matrix is not None:
            return replace(self, names=names, matrix=self.matrix[:, kept], image_shape=())
        return replace(self, names=names, columns={other: self.columns[other] for other in names})

    @property
    def row_numbers(self) -> np.ndarray:
        """The rows' places in the file, from 1."""
        return np.arange(1, len(self) + 1) if self.numbers is None else self.numbers

    def rows(self, index: np.ndarray) -> "Table":
        """The same with these rows only, by number or by a mask."""
        return replace(
            self,
            columns={name: values[index] for name, values in self.columns.items()},
            matrix=None if self.matrix is None else self.matrix[index],
            target=None if self.target is None else self.target[index],
            files=tuple(np.array(self.files, dtype=object)[index]) if self.files else (),
            numbers=self.row_numbers[index],
        )

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise TableError(f"There is no column {name!r}; {hint(name, self.names)}")
        return self.names.index(name)


def read_table(
    path: str | Path,
    *,
    kind: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    known: Collection[str] = (),
    skip_bad_lines: bool = False,
    image_shape: tuple[int, ...] | None = None,
) -> Table:
    """The rows of a file or of a folder of images.

    Parameters
    ----------
    path : str or path
        The file or folder. Text may be compressed: its name then ends in .gz or .bz2.
    kind : {"csv", "tsv", "txt", "jsonl", "parquet", "npz", "svmlight", "images"}, default=None
        What it is; None goes by the end of its name.
    encoding : str, default=None
        Encoding of text; None finds it.
    delimiter : str, default=None
        What separates two fields of text, a character, "tab" or "space"; None finds it.
    header : bool, default=None
        Whether the first row of text has the columns' names; None judges by the rows below it.
    known : collection of str, default=()
        Names that are expected: a first row that has one of them is a header.
    skip_bad_lines : bool, default=False
        Whether rows of text with too many or too few fields are skipped; else they are an error.
    image_shape : tuple of int, default=None
        Height, width and, for colour, 3, that images are brought to; None finds one for all.

    Returns
    -------
    table : Table
        Columns by name, or a matrix.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ulmus.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     size = path.write_text("age,city\\n31,Oslo\\n?,Rome\\n")
    ...     table = read_table(path)
    >>> table["age"], table["city"]
    (array([31., nan]), array(['Oslo', 'Rome'], dtype=object))
    """
    path = Path(path)
    if not path.is_dir() and not path.is_file():
        raise TableError(f"There is no file {path}.")
    kind = _kind(path) if kind is None else kind
    check_known("kind", kind, sorted([*_ENDINGS, "images"]))
    if path.is_dir() != (kind == "images"):
        raise TableError(f"{path} is a {'folder' if path.is_dir() else 'file'} and no {kind}.")
    try:
        if kind == "images":
            return _read_images(path, image_shape)
        if kind in _READERS:
            return _READERS[kind](path)
        delimiter = "\t" if delimiter is None and kind == "tsv" else delimiter
        how = encoding, delimiter, header, known, skip_bad_lines
        return Table(**read_delimited(path, *how))
    except PermissionError as error:
        raise TableError(f"{path} may not be read: {error.strerror}.") from error


def as_table(data: Any) -> Table:
    """A table as it is, or one of a frame of pandas, Polars or Arrow.

    Examples
    --------
    >>> import pandas
    >>> from ulmus.tables.table import as_table
    >>> as_table(pandas.DataFrame({"age": [31, None], "city": ["Oslo", "Rome"]}))["age"]
    array([31., nan])
    """
    if isinstance(data, Table):
        return data
    if not hasattr(data, "__arrow_c_stream__"):
        raise TableError(
            f"A {type(data).__name__} is not a table; give a Table, as read_table makes it, or a "
            "frame of pandas or Polars."
        )
    return Table(**frame_columns(data, MISSING))


def _kind(path: Path) -> str:
    if path.is_dir():
        return "images"
    name = path.name.lower().removesuffix(".gz").removesuffix(".bz2")
    for kind, endings in _ENDINGS.items():
        if name.endswith(endings):
            return kind
    if name.endswith((".zip", ".7z", ".tar", ".tgz", ".rar")):
        raise TableError(f"{path} is an archive; unpack it, and give the file that is in it.")
    if name.endswith((".xz", ".zst", ".lz4")):
        raise TableError(f"{path} is compressed in a way that is not read; unpack it, or use gzip.")
    if name.endswith((".json", ".feather", ".arrow", ".pkl")):
        raise TableError(
            f"{path} is of a kind that is not read; save it as CSV or Parquet and give that, for "
            "instance with pandas, which reads JSON, Feather and pickles."
        )
    if name.endswith((".xlsx", ".xls", ".ods")):
        raise TableError(f"{path} is a workbook; save the sheet as CSV and give that.")
    known, kind = ", ".join(sum(_ENDINGS.values(), ())), option("--kind", "kind=")
    raise TableError(f"The name {path} says no kind; let it end in one of {known}, or give {kind}.")


def _read_columns(read: Callable[[Path, list[str]], dict[str, Any]], path: Path) -> Table:
    """A table of a file that says where its cells end."""
    table = Table(**read(path, MISSING))
    if not len(table):
        raise TableError(" ".join([f"{path} has no rows that can be used.", *table.notes]))
    return table


def _numbered(width: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(width))


# ---------------------------------------------------------------------- npz and svmlight
def _read_npz(path: Path) -> Table:
    """A table of X, or of the parts of a CSR matrix, and of y if there is one."""
    try:
        with path.open("rb") as file:
            arrays = read_npz(file, _MEMBERS, others=True)
        X = arrays["X"] if "X" in arrays else _sparse(arrays)
        if X.dtype.kind not in "biuf" or X.ndim < 2 or 0 in X.shape:
            raise ValueError(f"X has shape {X.shape} and type {X.dtype}")
    except _BROKEN as error:
        raise TableError(
            f"{path} is not an npz file that can be used: {error}. It needs numbers in X, or a CSR "
            "matrix in data, indices, indptr and shape, and labels in y if there are any."
        ) from error
    X = X if sp.issparse(X) else X.reshape(len(X), -1)
    # In the precision that holds the numbers: small whole ones fit float32.
    X = X.astype(min(np.result_type(X.dtype, np.float32), np.dtype(float)), copy=False)
    names, y = arrays.get("feature_names"), arrays.get("y")
    called = _numbered(X.shape[1])
    if names is not None and names.shape == (len(called),) == (len(set(names.tolist())),):
        called = tuple(map(str, names))
    target = None if y is None else _labels(y, X.shape[0], path)
    return Table(called, matrix=X, target=target)


def _sparse(arrays: dict[str, Any]) -> Any:
    if not arrays.keys() >= set(_PARTS):
        raise ValueError(f"it has neither X nor all parts of a CSR matrix, but {sorted(arrays)}")
    if arrays.get("format", np.array(b"csr")).item() not in (b"csr", "csr"):
        raise ValueError(f"its sparse matrix is {arrays['format'].item()} and not csr")
    rows, columns = arrays["shape"].tolist()
    X = sparse_matrix(sp.csr_array, [arrays[name] for name in _PARTS[:3]], (rows, columns))
    _check_sparse(X)
    return X


def _check_sparse(X: Any) -> None:
    """Refuse a matrix that is too wide, or of numbers that are not finite."""
    if X.shape[1] > _MOST_COLUMNS:
        raise ValueError(f"it has {X.shape[1]:,} columns, more than {_MOST_COLUMNS:,}")
    if not np.isfinite(X.data).all():
        raise ValueError("it holds numbers that are not finite")


def _labels(y: np.ndarray, rows: int, path: Path) -> np.ndarray:
    y = y.ravel() if y.ndim == 2 and 1 in y.shape else y
    if y.shape != (rows,) or y.dtype.kind not in "biufU":
        raise TableError(
            f"{path}: y has shape {y.shape} and type {y.dtype}, where X has {rows} rows; it must "
            "hold a number or a word for each."
        )
    if y.dtype.kind != "U":
        return y.astype(float)
    return np.array([word or None for word in y.tolist()], dtype=object)


def _read_svmlight(path: Path) -> Table:
    """A table of a text file in the format of svmlight and LIBSVM.

    A column keeps the number it has in the file, so that two files agree whichever number their
    first column has.
    """
    # Before scikit-learn reads whole lines: that there are lines, and none too long.
    file_text(path, "latin-1", [])
    try:
        X, y = load_svmlight_file(str(path), zero_based=True)
        _check_sparse(X)
    except _BROKEN as error:
        raise TableError(
            f"{path} is not an svmlight file that can be read: {error}. A line is a label and then "
            "column:number pairs with the columns in order."
        ) from error
    if not X.nnz:
        raise TableError(f"{path} has no rows with column:number pairs.")
    return Table(_numbered(X.shape[1]), matrix=sp.csr_array(X), target=y)


# ---------------------------------------------------------------------- folders of images
def _read_images(folder: Path, shape: tuple[int, ...] | None) -> Table:
    """A table of the images of a folder; the names of its subfolders are the target.

    A shape that is None is the size most of them have, made smaller, in proportion, until neither
    side is above 64.
    """
    notes: list[str] = []
    files = _images_of(folder, notes)
    places = [path.relative_to(folder) for path in files]
    # An image beside the subfolders has no label.
    labels = [place.parts[0] if len(place.parts) > 1 else None for place in places]
    if shape is None:
        shape = _common([image_shape(path) for path in files], notes)
    elif len(shape) not in (2, 3) or min(shape) < 1 or shape[2:] not in ((), (3,)):
        raise InvalidParameterError(
            f"image_shape={shape!r} must be (height, width), or (height, width, 3) for colour."
        )
    X = np.stack([image_pixels(path, shape).ravel() for path in files])
    return Table(
        _numbered(X.shape[1]),
        matrix=X,
        target=np.array(labels, dtype=object) if any(labels) else None,
        notes=tuple(notes),
        image_shape=shape,
        files=tuple(place.as_posix() for place in places),
    )


def _images_of(folder: Path, notes: list[str]) -> list[Path]:
    """The images of a folder; those that links lead to elsewhere are left out, and counted."""
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in _IMAGES and path.is_file() and not path.name.startswith(".")
    )
    root = folder.resolve()
    kept = [path for path in found if path.resolve().is_relative_to(root)]
    if len(kept) < len(found):
        left = counted(len(found) - len(kept), "image")
        notes.append(f"{left} that a link has outside of {folder} left out.")
    if not kept:
        raise TableError(
            f"{folder} is a folder without images (.png, .jpg, …) of its own; name a file, or a "
            "folder with a subfolder of images for each class."
        )
    return kept


def _common(shapes: list[tuple[int, ...]], notes: list[str]) -> tuple[int, ...]:
    """One shape for all; what was decided is added to ``notes``."""
    sizes = Counter(shape[:2] for shape in shapes)
    height, width = max(sizes, key=lambda size: (sizes[size], size))
    shrink = min(1.0, _LARGEST / max(height, width))
    low, narrow = max(1, round(height * shrink)), max(1, round(width * shrink))
    if len(sizes) > 1 or shrink < 1:
        what = f"{len(sizes)} sizes" if len(sizes) > 1 else f"{height} × {width} pixels"
        notes.append(f"Images of {what} were resized to {low} × {narrow}.")
    if len({len(shape) for shape in shapes}) > 1:
        notes.append("Some images are grey and some in colour; all were read in colour.")
    return (low, narrow, 3) if any(len(shape) == 3 for shape in shapes) else (low, narrow)


_READERS: dict[str, Callable[[Path], Table]] = {
    "jsonl": partial(_read_columns, json_columns),
    "parquet": partial(_read_columns, parquet_columns),
    "npz": _read_npz,
    "svmlight": _read_svmlight,
}
