"""Parquet and other data sets that Arrow reads, some rows at a time or a whole file."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.backends.delimited import text_values
from ulmus.exceptions import MissingExtraError, TableError

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
    """Each column as an array; what is missing is NaN among numbers and None among words."""
    return {name: table[name].to_numpy() for name in table.column_names}


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
        for name, count in Counter(table.column_names).items():
            if count > 1:
                raise TableError(f"{path} has two columns called {name!r}; rename one.")
        return {n: _values(path, n, table[n], missing) for n in table.column_names}
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise TableError(
            f"{path} is no Parquet file that can be read ({reason}); write it again."
        ) from error


def _values(path: Path, name: str, column: Any, missing: list[str]) -> np.ndarray:
    import pyarrow
    import pyarrow.compute

    kinds = pyarrow.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if kinds.is_date(kind) or kinds.is_timestamp(kind):
        moments = column.cast(pyarrow.timestamp("us"), safe=False).to_numpy()
        words = np.datetime_as_string(moments).astype(object)
        words[np.isnat(moments)] = None
        return words
    if kinds.is_boolean(kind):
        column = pyarrow.compute.if_else(column, "True", "False")
    if kinds.is_boolean(kind) or kinds.is_string(kind) or kinds.is_large_string(kind):
        return text_values(column.cast(pyarrow.large_string()), missing)
    numeric = (kinds.is_null, kinds.is_integer, kinds.is_floating, kinds.is_decimal)
    if any(holds(kind) for holds in numeric):
        values: np.ndarray = column.cast(pyarrow.float64(), safe=False).to_numpy()
        return values.astype(float)
    raise TableError(
        f"{path}: the column {name!r} holds {kind}, and only numbers, text, dates and booleans can "
        "be used; leave it out, or spread it over several columns."
    )
