"""Parquet and other data sets that Arrow reads, some rows at a time or a whole file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.backends.delimited import plain_text, text_values
from ulmus.exceptions import InvalidInputError, MissingExtraError, TableError

__all__ = ["arrow_batches", "arrow_dataset", "parquet_columns"]


def arrow_dataset(source: Any) -> Any:
    """An Arrow data set: itself, or that of a file, a list of files or a folder."""
    try:
        import pyarrow.dataset
    except ImportError as error:
        raise MissingExtraError(
            "Parquet files are read by pyarrow; pip install 'ulmus[parquet]'."
        ) from error
    if isinstance(source, pyarrow.dataset.Dataset):
        return source
    return pyarrow.dataset.dataset(source, format="parquet")


def arrow_batches(dataset: Any, names: list[str], rows: int) -> Iterator[dict[str, np.ndarray]]:
    """These columns, ``rows`` rows at a time or a little more."""
    import pyarrow
    from pyarrow.dataset import ParquetFileFormat, ParquetFragmentScanOptions

    gathered, count = [], 0
    # Little is read ahead: sixteen batches, as is usual, would be more than the batch at work.
    options = {"batch_size": rows, "batch_readahead": 2, "fragment_readahead": 1}
    if isinstance(getattr(dataset, "format", None), ParquetFileFormat):
        # Otherwise a row group is in memory twice, as it is in the file and as it is read.
        options["fragment_scan_options"] = ParquetFragmentScanOptions(
            use_buffered_stream=True, pre_buffer=False
        )
    scanner = dataset.scanner(columns=names, **options)
    for part in scanner.to_batches():
        gathered.append(part)
        count += part.num_rows
        if count >= rows:
            yield _columns(pyarrow.Table.from_batches(gathered))
            gathered, count = [], 0
    if count:
        yield _columns(pyarrow.Table.from_batches(gathered))


def _columns(table: Any) -> dict[str, np.ndarray]:
    found = {}
    for name in table.column_names:
        found[name] = table[name].to_numpy()
        if found[name].dtype == object and table[name].null_count:
            raise InvalidInputError(f"Column {name!r} has values that are missing.")
    return found


def parquet_columns(path: Path, missing: list[str]) -> dict[str, np.ndarray]:
    """The columns of a Parquet file: float64 with NaN where blank, or str with None there.

    Text that is one of ``missing`` in small letters is blank, as it is in CSV.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "Parquet files are read by pyarrow, which is not installed; try: "
            "pip install 'ulmus[cli]'"
        ) from error
    try:
        # Not by a path: a folder's name such as year=2020 would become a column.
        with path.open("rb") as stream:
            table = pyarrow.parquet.ParquetFile(stream).read()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise TableError(f"{path} is no Parquet file that can be read: {error}.") from error
    if len(set(table.column_names)) < table.num_columns:
        raise TableError(f"{path} has two columns of the same name; rename one.")
    return {name: _values(path, name, table[name], missing) for name in table.column_names}


def _values(path: Path, name: str, column: Any, missing: list[str]) -> np.ndarray:
    import pyarrow
    import pyarrow.compute

    kinds, kind = pyarrow.types, column.type
    if kinds.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if kinds.is_null(kind) or kinds.is_integer(kind) or kinds.is_floating(kind):
        return column.cast(pyarrow.float64(), safe=False).to_numpy().astype(float)
    if kinds.is_decimal(kind):
        return column.cast(pyarrow.float64()).to_numpy().astype(float)
    if kinds.is_boolean(kind):
        words = pyarrow.compute.if_else(column, "True", "False")
    elif kinds.is_date(kind) or kinds.is_timestamp(kind):
        words = pyarrow.compute.strftime(column, format="%Y-%m-%dT%H:%M:%S")
    elif kinds.is_string(kind) or kinds.is_large_string(kind):
        words = plain_text(column.cast(pyarrow.string()), missing)
    else:
        raise TableError(
            f"{path}: column {name!r} holds {kind}, and only numbers, text, dates and booleans can "
            "be used; leave it out, or spread it over several columns."
        )
    return text_values(words)
