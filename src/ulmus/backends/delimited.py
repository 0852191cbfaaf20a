"""Text files of rows and columns, taken apart by Arrow."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.exceptions import MissingExtraError, TableError

__all__ = ["OddRows", "column_values", "delimited_cells", "text_values"]

# A code such as 007 is no number, for its zeros would be lost.
_CODE = r"^[+-]?0[0-9]"
_GROUPED = r"^[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]*)?$"
_COMMA = r"^[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)?(,[0-9]*)?([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True)
class OddRows:
    """Rows with more or fewer fields than the first: how many, and the first of them.

    Its number counts from 1, the header included.
    """

    count: int
    number: int
    fields: int
    text: str


def delimited_cells(
    source: Path | bytes, *, delimiter: str, encoding: str, width: int, block: int
) -> tuple[list[Any], OddRows | None]:
    """The columns of a file as Arrow's text, the header among their cells, and the odd rows.

    Parameters
    ----------
    source : Path or bytes
        The file, compressed where its name ends in .gz or .bz2, or what it holds.
    delimiter : str
        What stands between two fields.
    encoding : str
        Its encoding; a UTF-8 byte order mark is passed over.
    width : int
        Fields of a row.
    block : int
        Bytes to read at a time, which must hold the longest row.
    """
    pyarrow, csv, _ = _arrow()
    odd: list[OddRows] = []

    def note(row: Any) -> str:
        # Only the first is kept, for all rows may be odd.
        first = odd.pop() if odd else OddRows(0, row.number, row.actual_columns, row.text)
        odd.append(replace(first, count=first.count + 1))
        return "skip"

    parse = csv.ParseOptions(
        delimiter=delimiter,
        newlines_in_values=True,
        # In a single column an empty line is a blank cell.
        ignore_empty_lines=width > 1,
        invalid_row_handler=note,
    )
    convert = csv.ConvertOptions(
        column_types={f"f{j}": pyarrow.large_string() for j in range(width)},
        strings_can_be_null=False,
    )
    # With threads Arrow would not say which row is odd.
    read = csv.ReadOptions(
        autogenerate_column_names=True, use_threads=False, encoding=encoding, block_size=block
    )
    try:
        with _stream(pyarrow, source) as stream:
            table = csv.read_csv(
                stream, read_options=read, parse_options=parse, convert_options=convert
            )
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        name = source if isinstance(source, Path) else "The file"
        raise TableError(
            f'{name} cannot be taken apart into rows ({_brief(error)}); often a quote " is opened '
            "and never closed."
        ) from error
    return list(table.columns), odd[0] if odd else None


def _stream(pyarrow: Any, source: Path | bytes) -> Any:
    if isinstance(source, bytes):
        return pyarrow.BufferReader(source)
    packing = {".gz": "gzip", ".bz2": "bz2"}.get(source.suffix.lower())
    return pyarrow.input_stream(str(source), compression=packing)


def column_values(column: Any, missing: list[str], decimal_comma: bool) -> np.ndarray:
    """A column as float64 if all its filled cells are numbers, with NaN where blank, else as text.

    Cells of text are str, or None where blank: where they are one of ``missing`` in small letters.
    """
    distinct, codes = _distinct(column)
    text = distinct
    numbers = _numbers(text)
    if numbers is None:
        text = _plain_text(distinct, missing)
        numbers = _numbers(text)
    if numbers is None:
        numbers = _numbers(_ungrouped(text, decimal_comma))
    if numbers is None:
        return np.array(text.to_pylist(), dtype=object)[codes]
    return numbers.to_numpy(zero_copy_only=False).astype(float)[codes]


def text_values(column: Any, missing: list[str]) -> np.ndarray:
    """A column of text as str, and None where it is blank."""
    distinct, codes = _distinct(column)
    return np.array([*_plain_text(distinct, missing).to_pylist(), None], dtype=object)[codes]


def _plain_text(column: Any, missing: list[str]) -> Any:
    """Cells of text without space around them, null where they say that there is nothing."""
    pyarrow, _, compute = _arrow()
    text = compute.utf8_trim_whitespace(column)
    blank = compute.is_in(compute.utf8_lower(text), value_set=pyarrow.array(missing, text.type))
    return compute.if_else(blank, None, text)


def _distinct(column: Any) -> tuple[Any, np.ndarray]:
    """The distinct cells of a column, on which all work is done, and which one each cell is.

    A null is the one after the last.
    """
    coded = column.combine_chunks().dictionary_encode()
    distinct, codes = coded.dictionary, coded.indices
    if codes.null_count:
        codes = codes.fill_null(len(distinct))
    return distinct, codes.to_numpy(zero_copy_only=False)


def _numbers(text: Any) -> Any:
    """The numbers that all the cells are, or None if they are not."""
    pyarrow, _, compute = _arrow()
    try:
        numbers = compute.cast(text, pyarrow.float64())
    except pyarrow.ArrowInvalid:
        return None
    codes = compute.any(compute.match_substring_regex(text, _CODE)).as_py()
    return None if codes else numbers


def _ungrouped(text: Any, decimal_comma: bool) -> Any:
    """Numbers such as 1,234.5, or where there is a decimal comma 1.234,5, in the plain form."""
    _, _, compute = _arrow()
    pattern = _COMMA if decimal_comma else _GROUPED
    if compute.all(compute.match_substring_regex(text, pattern)).as_py() is False:
        return text
    if decimal_comma:
        return compute.replace_substring(compute.replace_substring(text, ".", ""), ",", ".")
    return compute.replace_substring(text, ",", "")


def _brief(error: Exception) -> str:
    """The first line of a message, without a full stop, and not too long."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
    except ImportError as error:
        raise MissingExtraError(
            "Tables are read by pyarrow, which is not installed; try: pip install 'ulmus[cli]'"
        ) from error
    return pyarrow, pyarrow.csv, pyarrow.compute
