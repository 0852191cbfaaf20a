"""Parquet and other data sets that Arrow reads, some rows at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ulmus.exceptions import InvalidInputError, MissingExtraError

__all__ = ["arrow_batches", "arrow_dataset"]


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
