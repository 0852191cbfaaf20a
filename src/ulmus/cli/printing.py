"""What commands print: results on standard output, everything else on standard error."""

import csv
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

__all__ = [
    "facts",
    "harmless",
    "note",
    "print_json",
    "say",
    "table",
    "watching",
    "width",
    "wrapped",
    "write_csv",
]

_ENDLESS = 10_000
# What makes a cell a formula when a spreadsheet opens the file.
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_GAP = "  "

Pairs = Iterable[tuple[str, object]]


def say(*lines: object) -> None:
    """Lines of a result, or an empty one."""
    print(*lines, sep="\n")


def note(text: str, quiet: bool = False, command: str | None = None) -> None:
    """A sentence that is no result, and a command that it ends in, whole on a line of its own."""
    if not quiet:
        for part in [*wrapped(text, width(sys.stderr)), *([f"  {command}"] if command else [])]:
            print(part, file=sys.stderr, flush=True)


def print_json(found: object) -> None:
    """A result for programs."""
    print(json.dumps(found, indent=2, ensure_ascii=False))


@contextmanager
def watching(title: str, quiet: bool, steps: int | None = None) -> Iterator[Callable[[str], None]]:
    """A line on standard error, on a terminal, that says what is being done.

    It gives a function to call with a few words before each step; ``steps`` is about how many.
    """
    from ulmus.progress import Bar  # which waits for scikit-learn, as no help should

    with Bar(title) as bar:
        bar.shown = bar.shown and not quiet
        done = -1

        def step(words: str) -> None:
            nonlocal done
            done += 1
            bar.words = lambda *_: words
            bar.due_now()
            bar.update(min(done, steps) if steps else 0, steps)

        if steps is None:
            step("…")
        yield step


# ---------------------------------------------------------------------- CSV
def write_csv(stream: TextIO, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Lines of CSV, each ended by one newline."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)


def harmless(cells: list[str]) -> list[str]:
    """Cells of text, with an apostrophe before those that a spreadsheet would take for formulas.

    Examples
    --------
    >>> harmless(["=1+1", "-5", "rose"])
    ["'=1+1", '-5', 'rose']
    """
    return [f"'{cell}" if _FORMULA.match(cell) and not _is_number(cell) else cell for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------------- lines that fit
def width(stream: TextIO | None = None) -> int:
    """Columns of the terminal; a file or a pipe has no end."""
    stream = sys.stdout if stream is None else stream
    if "COLUMNS" not in os.environ and not stream.isatty():
        return _ENDLESS
    return max(shutil.get_terminal_size().columns, 20)


def wrapped(text: str, columns: int | None = None) -> list[str]:
    """The lines of a text, broken between words; a longer word stays whole."""
    lines = textwrap.wrap(
        text,
        width() if columns is None else columns,
        expand_tabs=False,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [""]


def facts(pairs: Pairs, columns: int | None = None) -> list[str]:
    """Lines of a name and what there is to say of it, broken under itself."""
    columns = width() if columns is None else columns
    filled = [(name, str(value)) for name, value in pairs if value not in (None, "")]
    indent = max((len(name) for name, _ in filled), default=0) + len(_GAP)
    if columns < 2 * indent:
        return [line for name, value in filled for line in wrapped(f"{name}: {value}", columns)]
    lines = []
    for name, value in filled:
        first, *rest = wrapped(value, columns - indent)
        lines += [f"{name:<{indent}}{first}", *(" " * indent + line for line in rest)]
    return lines


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    columns: int | None = None,
    right: Collection[int] | None = None,
) -> list[str]:
    """Lines of a table; one fact a line where it is too wide for that.

    Columns of numbers are set to the right, or those of the numbers in ``right``.
    """
    columns = width() if columns is None else columns
    cells = [[str(cell) for cell in row] for row in rows]
    if right is None:
        right = [k for k in range(len(headings)) if all(_numeric(row[k]) for row in cells)]
    widths = [max(len(row[k]) for row in [headings, *cells]) for k in range(len(headings))]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > columns:
        return _stacked(headings, cells, columns)
    return [
        _GAP.join(
            text.rjust(size) if k in right else text.ljust(size)
            for k, (text, size) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [headings, *cells]
    ]


def _stacked(headings: Sequence[str], cells: list[list[str]], columns: int) -> list[str]:
    """Each row as a name and a few facts under it."""
    lines = []
    for row in cells:
        pairs = zip(headings[1:], row[1:], strict=True)
        lines += wrapped(row[0], columns)
        lines += [f"{_GAP}{line}" for line in facts(pairs, columns - len(_GAP))]
    return lines


def _numeric(text: str) -> bool:
    return text.replace(",", "").removesuffix("%").lstrip("-").replace(".", "", 1).isdigit()


# ---------------------------------------------------------------------- words about models
def size_words(size: int) -> str:
    """Bytes as a person says them."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def chosen_words(chosen: dict[str, Any]) -> str:
    """The estimator and what it settled on."""
    parts = [chosen["estimator"]]
    if "n_hidden" in chosen:
        parts.append(f"{chosen['n_hidden']} units")
    if "gamma" in chosen:
        parts.append(f"RBF kernel, gamma = {chosen['gamma']:.3g}")
    if chosen["steps"]:
        parts.append("quantile indicators")
    parts += [f"{name} = {chosen[name]:.3g}" for name in ("C", "lam") if name in chosen]
    return ", ".join(parts)


def score_words(summary: dict[str, Any]) -> str:
    """How well left-out rows were predicted."""
    score = summary["loo_score"]
    if score is None:
        return "not known"
    if summary["loo_measure"] == "accuracy":
        return f"{score:.1%} of left-out rows right"
    return f"R² = {score:.3f} on left-out rows"


def rows_words(summary: dict[str, Any]) -> str:
    """How many rows a model was fitted to."""
    rows = f"{summary['rows']:,}"
    if summary["semi_supervised"]:
        rows += f", {summary['rows_with_target']:,} of them with a target"
    return rows
