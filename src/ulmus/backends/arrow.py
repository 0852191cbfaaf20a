"""Files that Arrow reads: delimited text, and Parquet whole or some rows at a time."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.backends.namespace import extra
from ulmus.exceptions import TableError

# A code such as 007 is no number, for its zeros would be lost.
_CODE = r"^[+-]?0[0-9]"
_GROUPED = r"^[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]*)?$"
_COMMA = r"^[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)?(,[0-9]*)?([eE][+-]?[0-9]+)?$"


# ---------------------------------------------------------------------- delimited text
def delimited_cells(
    source: Path | bytes, *, delimiter: str, encoding: str, width: int, block: int
) -> tuple[list[Any], list[Any]]:
    """The columns of a file, or of its content, as Arrow's text with the header among their cells.

    A row has ``width`` fields; those with more or fewer are counted by the second list, which has
    Arrow's account of the first of them. ``block`` bytes, read at a time, hold the longest row. In
    a single column an empty line is a blank cell.
    """
    pyarrow = _arrow("cli", "csv")
    csv = pyarrow.csv
    odd: list[Any] = []

    def note(row: Any) -> str:
        odd.append(None if odd else row)
        return "skip"

    # With threads Arrow does not report the number of an odd row.
    read = csv.ReadOptions(
        autogenerate_column_names=True, use_threads=False, encoding=encoding, block_size=block
    )
    parse = csv.ParseOptions(
        delimiter=delimiter,
        newlines_in_values=True,
        ignore_empty_lines=width > 1,
        invalid_row_handler=note,
    )
    text = {f"f{j}": pyarrow.large_string() for j in range(width)}
    convert = csv.ConvertOptions(column_types=text, strings_can_be_null=False)
    packing = {".gz": "gzip", ".bz2": "bz2"}.get(getattr(source, "suffix", "").lower())
    try:
        given = str(source) if isinstance(source, Path) else pyarrow.py_buffer(source)
        with pyarrow.input_stream(given, compression=packing) as stream:
            table = csv.read_csv(stream, read, parse, convert)
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        name = source if isinstance(source, Path) else "The file"
        raise TableError(
            f'{name} cannot be taken apart into rows ({_brief(error)}); often a quote " is opened '
            "and never closed."
        ) from error
    return list(table.columns), odd


def column_values(column: Any, missing: list[str], decimal_comma: bool) -> np.ndarray:
    """A column as float64 if all its filled cells are numbers, with NaN where blank, else as text.

    Cells of text are str, or None where blank: where they are one of ``missing`` in small letters.
    """
    distinct, codes = _distinct(column)
    numbers = _numbers(distinct)
    if numbers is None:
        distinct = _plain_text(distinct, missing)
        numbers = _numbers(distinct)
    if numbers is None:
        numbers = _numbers(_ungrouped(distinct, decimal_comma))
    if numbers is None:
        return np.array(distinct.to_pylist(), dtype=object).take(codes)
    return np.asarray(numbers, dtype=float).take(codes)


def _distinct(column: Any) -> tuple[Any, np.ndarray]:
    """The distinct cells of a column and the number of each cell's; nulls have the last number."""
    coded = column.combine_chunks().dictionary_encode()
    codes = coded.indices.fill_null(len(coded.dictionary))
    return coded.dictionary, codes.to_numpy(zero_copy_only=False)


def _plain_text(column: Any, missing: list[str]) -> Any:
    """Cells of text without space around them, null where they are one of ``missing``."""
    pyarrow = _arrow("cli", "compute")
    compute = pyarrow.compute
    text = compute.utf8_trim_whitespace(column)
    blank = compute.is_in(compute.utf8_lower(text), value_set=pyarrow.array(missing, text.type))
    return compute.if_else(blank, None, text)


def _numbers(text: Any) -> Any:
    """The numbers that all the cells are, or None if they are not."""
    pyarrow = _arrow("cli", "compute")
    try:
        numbers = pyarrow.compute.cast(text, pyarrow.float64())
    except pyarrow.ArrowInvalid:
        return None
    codes = pyarrow.compute.any(pyarrow.compute.match_substring_regex(text, _CODE)).as_py()
    return None if codes else numbers


def _ungrouped(text: Any, decimal_comma: bool) -> Any:
    """Numbers such as 1,234.5, or where there is a decimal comma 1.234,5, in the plain form."""
    compute = _arrow("cli", "compute").compute
    pattern, grouping = (_COMMA, ".") if decimal_comma else (_GROUPED, ",")
    if compute.all(compute.match_substring_regex(text, pattern)).as_py() is False:
        return text
    return compute.replace_substring(compute.replace_substring(text, grouping, ""), ",", ".")


# ---------------------------------------------------------------------- Parquet
def arrow_dataset(source: Any) -> Any:
    """An Arrow data set: itself, or that of a file, a list of files or a folder."""
    dataset = _arrow("parquet", "dataset").dataset
    if isinstance(source, dataset.Dataset):
        return source
    return dataset.dataset(source, format="parquet")


def arrow_batches(dataset: Any, names: list[str], rows: int) -> Iterator[dict[str, np.ndarray]]:
    """These columns, ``rows`` rows at a time or a little more."""
    pyarrow = _arrow("parquet", "dataset")
    gathered, count = [], 0
    # Little is read ahead: Arrow's default of 16 batches takes more memory than the batch in use.
    options = {"batch_size": rows, "batch_readahead": 2, "fragment_readahead": 1}
    if isinstance(getattr(dataset, "format", None), pyarrow.dataset.ParquetFileFormat):
        # Otherwise a row group is in memory twice, encoded and decoded.
        options["fragment_scan_options"] = pyarrow.dataset.ParquetFragmentScanOptions(
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
    """Each column as an array; missing values are NaN among numbers and None among words."""
    return {name: table[name].to_numpy() for name in table.column_names}


def parquet_columns(path: Path, missing: list[str]) -> dict[str, np.ndarray]:
    """The columns of a Parquet file: float64 with NaN where blank, or str with None there.

    Text that is one of ``missing`` in small letters is blank, as it is in CSV.
    """
    pyarrow = _arrow("cli", "parquet")
    try:
        # Not by a path: a folder's name such as year=2020 would become a column.
        with path.open("rb") as stream:
            table = pyarrow.parquet.ParquetFile(stream).read()
        for name, count in Counter(table.column_names).items():
            if count > 1:
                raise TableError(f"{path} has two columns called {name!r}; rename one.")
        return {n: _values(path, n, table[n], missing) for n in table.column_names}
    except (pyarrow.ArrowException, OSError) as error:
        raise TableError(
            f"{path} is no Parquet file that can be read ({_brief(error)}); write it again."
        ) from error


def _values(path: Path, name: str, column: Any, missing: list[str]) -> np.ndarray:
    pyarrow = _arrow("cli", "compute")
    kinds = pyarrow.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    numeric = (kinds.is_null, kinds.is_integer, kinds.is_floating, kinds.is_decimal)
    if kinds.is_boolean(kind):
        column = pyarrow.compute.if_else(column, "True", "False")
    elif kinds.is_date(kind) or kinds.is_timestamp(kind):
        moments = column.cast(pyarrow.timestamp("us"), safe=False).to_numpy()
        words: np.ndarray = np.datetime_as_string(moments).astype(object)
        words[np.isnat(moments)] = None
        return words
    elif any(holds(kind) for holds in numeric):
        return np.array(column.cast(pyarrow.float64(), safe=False).to_numpy(), dtype=float)
    elif not (kinds.is_string(kind) or kinds.is_large_string(kind)):
        raise TableError(
            f"{path}: the column {name!r} holds {kind}, and only numbers, text, dates and booleans "
            "can be used; leave it out, or spread it over several columns."
        )
    distinct, codes = _distinct(column.cast(pyarrow.large_string()))
    text = _plain_text(distinct, missing).to_pylist()
    return np.array([*text, None], dtype=object).take(codes)


def _brief(error: Exception) -> str:
    """The first line of a message, without a full stop, and not too long."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")


def _arrow(name: str, part: str) -> Any:
    """Arrow, with this part of it loaded, by the extra ``name``."""
    extra(f"pyarrow.{part}", name, "Reading tables")
    return extra("pyarrow", name, "Reading tables")
