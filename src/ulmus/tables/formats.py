"""Which reader a file goes to."""

from pathlib import Path

from ulmus.arguments import check_known
from ulmus.backends.arrow import parquet_columns
from ulmus.exceptions import TableError
from ulmus.tables.delimited import MISSING, read_delimited
from ulmus.tables.images import read_images
from ulmus.tables.matrices import read_npz, read_svmlight
from ulmus.tables.table import Table

__all__ = ["read_table"]

_ENDINGS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "txt": (".txt", ".data"),
    "parquet": (".parquet", ".pq"),
    "npz": (".npz",),
    "svmlight": (".svmlight", ".libsvm", ".svm"),
}
_MATRICES = {"npz": read_npz, "svmlight": read_svmlight}


def read_table(
    path: str | Path,
    *,
    kind: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    image_shape: tuple[int, ...] | None = None,
) -> Table:
    """The rows of a file or of a folder of images.

    Parameters
    ----------
    path : str or path
        The file or folder. Text may be compressed: its name then ends in .gz or .bz2.
    kind : {"csv", "tsv", "txt", "parquet", "npz", "svmlight", "images"}, default=None
        What it is; None goes by the end of its name.
    encoding : str, default=None
        Encoding of text; None finds it.
    delimiter : str, default=None
        What separates two fields of text; None finds it.
    header : bool, default=None
        Whether the first row of text has the columns' names; None is yes, unless it is all numbers.
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
            return read_images(path, shape=image_shape)
        return _read_file(path, kind, encoding, delimiter, header)
    except PermissionError as error:
        raise TableError(f"{path} may not be read: {error.strerror}.") from error


def _read_file(
    path: Path, kind: str, encoding: str | None, delimiter: str | None, header: bool | None
) -> Table:
    if kind == "parquet":
        columns = parquet_columns(path, MISSING)
        table = Table(tuple(columns), columns)
        if not len(table):
            raise TableError(f"{path} has no rows.")
        return table
    if kind in _MATRICES:
        return _MATRICES[kind](path)
    delimiter = "\t" if delimiter is None and kind == "tsv" else delimiter
    return read_delimited(path, encoding, delimiter, header)


def _kind(path: Path) -> str:
    if path.is_dir():
        return "images"
    name = path.name.lower().removesuffix(".gz").removesuffix(".bz2")
    for kind, endings in _ENDINGS.items():
        if name.endswith(endings):
            return kind
    if name.endswith((".xlsx", ".xls", ".ods")):
        raise TableError(f"{path} is a workbook; save the sheet as CSV and give that.")
    known = ", ".join(ending for endings in _ENDINGS.values() for ending in endings)
    raise TableError(
        f"{path} has a name that does not say what it is; let it end in one of {known}, or say "
        "its kind."
    )
