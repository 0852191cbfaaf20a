"""Files that Arrow reads: delimited text, JSON lines, and Parquet whole or some rows at a time."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from ulmus.backends.namespace import extra
from ulmus.exceptions import TableError

# What Arrow calls text; Polars has views.
_TEXT = ("string", "large_string", "string_view")
# Bytes of JSON lines that are read at a time.
_JSON_BLOCK = 2**25
# A code such as 007 is not a number, for its zeros would be lost.
_CODE = r"^[+-]?0[0-9]"
# Whole numbers that float64 may not hold: those that it does not are ids, and stay text.
_LONG = r"^[+-]?[0-9]{16,40}$"
_GROUPED = r"^[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]*)?$"
_COMMA = r"^[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)?(,[0-9]*)?([eE][+-]?[0-9]+)?$"


# ---------------------------------------------------------------------- delimited text
def delimited_cells(
    data: bytes, delimiter: str, width: int, above: int, block: int
) -> tuple[list[Any], list[tuple[int, int, str]]]:
    """The columns of a text in UTF-8 as Arrow's, and the rows that were skipped.

    A row has ``width`` fields, and ``above`` lines come before the first. ``block`` bytes, read at
    a time, hold the longest row. In a single column an empty line is a blank cell. Of a row that
    has more or fewer fields it gives the place among all, from 1, the fields and the text.
    """
    pyarrow = _arrow("csv")
    csv = pyarrow.csv
    odd: list[tuple[int, int, str]] = []

    def note(row: Any) -> str:
        odd.append((row.number - above, row.actual_columns, row.text))
        return "skip"

    names = [f"f{j}" for j in range(width)]
    # With threads Arrow does not report the number of an odd row.
    read = csv.ReadOptions(column_names=names, skip_rows=above, use_threads=False, block_size=block)
    parse = csv.ParseOptions(
        delimiter=delimiter,
        newlines_in_values=True,
        ignore_empty_lines=width > 1,
        invalid_row_handler=note,
    )
    text = dict.fromkeys(names, pyarrow.large_string())
    convert = csv.ConvertOptions(column_types=text, strings_can_be_null=False)
    try:
        table = csv.read_csv(pyarrow.BufferReader(data), read, parse, convert)
    except pyarrow.ArrowException as error:
        raise TableError(
            f'The file cannot be taken apart into rows ({_brief(error)}); often a quote " is '
            "opened and never closed."
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
    pyarrow = _arrow()
    compute = pyarrow.compute
    text = compute.utf8_trim_whitespace(column)
    blank = compute.is_in(compute.utf8_lower(text), value_set=pyarrow.array(missing, text.type))
    return compute.if_else(blank, None, text)


def _numbers(text: Any) -> Any:
    """The numbers that all the cells are, or None if they are not."""
    pyarrow = _arrow()
    compute = pyarrow.compute
    try:
        numbers = compute.cast(text, pyarrow.float64())
    except pyarrow.ArrowInvalid:
        return None
    codes = compute.any(compute.match_substring_regex(text, _CODE)).as_py()
    long = text.filter(compute.match_substring_regex(text, _LONG)).to_pylist()
    rounded = any(int(float(cell)) != int(cell) for cell in long)
    return None if codes or rounded else numbers


def _ungrouped(text: Any, decimal_comma: bool) -> Any:
    """Numbers such as 1,234.5, or where there is a decimal comma 1.234,5, in the plain form."""
    compute = _arrow().compute
    pattern, grouping = (_COMMA, ".") if decimal_comma else (_GROUPED, ",")
    if compute.all(compute.match_substring_regex(text, pattern)).as_py() is False:
        return text
    return compute.replace_substring(compute.replace_substring(text, grouping, ""), ",", ".")


# ---------------------------------------------------------------------- JSON lines
def json_columns(path: Path, missing: list[str]) -> dict[str, Any]:
    """The names, columns and notes of JSON lines, an object for each row, as `parquet_columns`."""
    pyarrow = _arrow("json")
    # Few blocks, for all must have the same types; a row is no longer than a block.
    read = pyarrow.json.ReadOptions(block_size=_JSON_BLOCK)
    try:
        with pyarrow.input_stream(str(path)) as stream:  # opens .gz and .bz2 too
            table = pyarrow.json.read_json(stream, read)
        return _usable_columns(table, table.column_names, missing)
    except (pyarrow.ArrowException, OSError) as error:
        raise TableError(
            f"{path} is not a file of JSON lines that can be read ({_counted(error)}). Each line "
            "is an object, and a key has one type in all of them."
        ) from error


def _counted(error: Exception) -> str:
    """A message on JSON lines, with rows counted from 1."""
    return re.sub(r"\bin row (\d+)", lambda row: f"in row {int(row[1]) + 1}", _brief(error))


# ---------------------------------------------------------------------- Parquet
def arrow_dataset(source: Any) -> Any:
    """An Arrow data set: itself, or that of a file, a list of files or a folder."""
    dataset = _arrow("dataset", "parquet").dataset
    if isinstance(source, dataset.Dataset):
        return source
    return dataset.dataset(source, format="parquet")


def arrow_batches(dataset: Any, names: list[str], rows: int) -> Iterator[dict[str, np.ndarray]]:
    """These columns, ``rows`` rows at a time or a little more.

    Missing values are NaN among numbers and None among words.
    """
    pyarrow = _arrow("dataset", "parquet")
    gathered: list[Any] = []

    def columns() -> dict[str, np.ndarray]:
        table = pyarrow.Table.from_batches(gathered)
        return {name: table[name].to_numpy() for name in table.column_names}

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
        if sum(each.num_rows for each in gathered) >= rows:
            yield columns()
            gathered.clear()
    if any(each.num_rows for each in gathered):
        yield columns()


def parquet_columns(path: Path, missing: list[str]) -> dict[str, Any]:
    """The names, columns and notes of a Parquet file.

    A column is float64 with NaN where blank, or str with None there. Text that is one of
    ``missing`` in small letters is blank, as it is in CSV. Columns of lists and the like are left
    out, and told in the notes.
    """
    pyarrow = _arrow("parquet")
    try:
        # Not by a path: a folder's name such as year=2020 would become a column.
        with path.open("rb") as stream:
            table = pyarrow.parquet.ParquetFile(stream).read()
        for name, count in Counter(table.column_names).items():
            if count > 1:
                raise TableError(f"{path} has two columns called {name!r}; rename one.")
        return _usable_columns(table, _named(table.column_names), missing)
    except (pyarrow.ArrowException, OSError) as error:
        raise TableError(
            f"{path} is not a Parquet file that can be read ({_brief(error)}); write it again."
        ) from error


def frame_columns(frame: Any, missing: list[str]) -> dict[str, Any]:
    """The names, columns and notes of a frame that Arrow can take over."""
    pyarrow = _arrow()
    try:
        table = pyarrow.table(frame)
        index = (table.schema.pandas_metadata or {}).get("index_columns", [])
        names = [name for name in table.column_names if name not in index]
        found = _usable_columns(table, names, missing)
        if left := _named(name for name in table.column_names if name in index):
            what = f"The frame's index is left out: {', '.join(map(repr, left))}"
            found["notes"] = (f"{what}; reset_index() makes it a column.", *found["notes"])
        return found
    except (pyarrow.ArrowException, TypeError, KeyError, ValueError) as error:
        raise TableError(
            f"The frame cannot be taken over ({_brief(error)}); give each column one type and a "
            "name of its own."
        ) from error


def _named(names: Iterable[str]) -> list[str]:
    """The names without those of indexes that have none in pandas."""
    return [name for name in names if not name.startswith("__index_level_")]


def _usable_columns(table: Any, names: list[str], missing: list[str]) -> dict[str, Any]:
    found = {name: _values(table[name], missing) for name in names}
    columns = {name: values for name, values in found.items() if values is not None}
    notes = tuple(
        f"Left out, as {table[name].type} is neither number, text, date nor boolean: {name!r}."
        for name in names
        if name not in columns
    )
    return {"names": tuple(columns), "columns": columns, "notes": notes}


def typed_columns(path: Path, origins: dict[str, str]) -> dict[str, Any]:
    """Columns of a Parquet file as Arrow has them; ``origins`` are what they are called there."""
    pyarrow = _arrow("parquet")
    with path.open("rb") as stream:
        found = pyarrow.parquet.ParquetFile(stream).read(columns=list(origins.values()))
    return {name: found[origin] for name, origin in origins.items()}


def write_parquet(stream: IO[bytes], columns: dict[str, Any]) -> None:
    """Columns of NumPy or Arrow as a Parquet file.

    Of NumPy's None and NaN are missing values, and whole numbers integers.
    """
    pyarrow = _arrow("parquet")
    arrays = dict(columns)
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            arrays[name] = pyarrow.array(values, from_pandas=True)
            if values.dtype.kind == "f":
                with suppress(pyarrow.ArrowInvalid):  # which refuses to round
                    arrays[name] = arrays[name].cast(pyarrow.int64())
    pyarrow.parquet.write_table(pyarrow.table(arrays), stream)


def _values(column: Any, missing: list[str]) -> np.ndarray | None:
    """A column's numbers or text, None where it has neither; times are seconds."""
    pyarrow = _arrow()
    kinds, kind = pyarrow.types, column.type
    if kinds.is_dictionary(kind):
        # Arrow has no cast of dictionaries with views.
        kind = pyarrow.large_string() if str(kind.value_type) in _TEXT else kind.value_type
        parts = [part.dictionary.cast(kind).take(part.indices) for part in column.chunks]
        column = pyarrow.chunked_array(parts, kind)
    if kinds.is_date(kind) or kinds.is_timestamp(kind):
        moments = column.cast(pyarrow.timestamp("us"), safe=False).to_numpy()
        words: np.ndarray = np.datetime_as_string(moments).astype(object)
        words[np.isnat(moments)] = None
        return words
    if kinds.is_duration(kind) or kinds.is_time(kind):
        per_second = {"s": 1e0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        whole = column.cast(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())
        return np.asarray(whole.cast(pyarrow.float64(), safe=False).to_numpy()) / per_second
    if any(holds(kind) for holds in (kinds.is_null, kinds.is_floating, kinds.is_decimal)):
        return np.array(column.cast(pyarrow.float64(), safe=False).to_numpy(), dtype=float)
    if kinds.is_integer(kind):
        # Those that float64 does not hold are ids, and text.
        with suppress(pyarrow.ArrowInvalid):
            return np.array(column.cast(pyarrow.float64()).to_numpy(), dtype=float)
    elif kinds.is_boolean(kind):
        column = pyarrow.compute.if_else(column, "True", "False")
    elif str(kind) not in _TEXT:
        return None
    distinct, codes = _distinct(column.cast(pyarrow.large_string()))
    text = _plain_text(distinct, missing).to_pylist()
    return np.array([*text, None], dtype=object).take(codes)


def _brief(error: Exception) -> str:
    """The first line of a message, without a full stop, and not too long."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")


def _arrow(part: str = "compute", name: str = "cli") -> Any:
    """Arrow, with this part of it loaded, by the extra ``name``."""
    extra(f"pyarrow.{part}", name, "Reading tables")
    return extra("pyarrow", name, "Reading tables")
