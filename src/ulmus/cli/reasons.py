"""``ulmus explain``: the columns that matter, what they do, and reasons for single rows."""

from argparse import Namespace
from typing import Any

import numpy as np

from ulmus.cli.printing import note, table, tell, watching, wrapped
from ulmus.cli.reading import load_model, read_for
from ulmus.exceptions import InvalidInputError
from ulmus.tables.assessing import is_training
from ulmus.tables.explaining import explain as explained

# Columns and classes that are printed.
_MOST, _CLASSES = 12, 5


def explain(options: Namespace) -> int:
    """Print what a model goes by, on the rows of a table."""
    model = load_model(options.model)
    data = read_for(model, options)
    places = _places(options.rows_wanted, data.row_numbers)
    with watching("Explaining", options.quiet):
        found = explained(model, data, places, options.seed)
    for sentence in (*data.notes, *model.encoder.met):
        note(sentence, options.quiet)
    if is_training(model, found["known_share"]):
        note(
            "These are rows that the model was fitted to: how much it needs a column is seen "
            "better on rows that it has not seen.",
            options.quiet,
        )
    return tell(options, found, *_columns(found), *_effects(found), *_rows(found))


def _places(wanted: list[int], numbers: np.ndarray) -> list[int]:
    """Where the rows with these numbers are."""
    places = {int(number): place for place, number in enumerate(numbers)}
    for number in wanted:
        if number not in places:
            raise InvalidInputError(
                f"--rows {number}: there is no such row; rows are counted from 1 below the header."
            )
    return [places[number] for number in wanted]


def _columns(found: dict[str, Any]) -> list[str]:
    columns = found["columns"]
    rows = [
        (
            column["name"],
            f"{column['drop']:.4f}",
            "" if column["gradient"] is None else f"{column['gradient']:.1%}",
        )
        for column in columns[:_MOST]
    ]
    more = len(columns) - len(rows)
    return [
        *wrapped(f"{found['measure']}: {found['score']:.4f}; without a column it is lower by"),
        *table(("column", "loss", "gradient"), rows),
        *([f"and {more} more columns"] if more else []),
    ]


def _effects(found: dict[str, Any]) -> list[str]:
    classes = found["classes"]
    headings = ["mean prediction"] if classes is None else classes[:_CLASSES]
    lines = []
    for effect in found["effects"]:
        rows = [
            (value, *(f"{mean:.4g}" for mean in means[: len(headings)]))
            for value, means in zip(effect["values"], effect["predictions"], strict=True)
        ]
        lines += ["", *table((f"if {effect['name']} is", *headings), rows)]
    return lines


def _rows(found: dict[str, Any]) -> list[str]:
    lines = []
    for row in found["rows"]:
        likely = "" if row["probability"] is None else f", probability {row['probability']:.3f}"
        what = row["prediction"] if row["probability"] else f"{row['prediction']:.6g}"
        reasons = [(r["column"], r["value"], f"{r['effect']:+.4g}") for r in row["reasons"]]
        lines += ["", f"row {row['row']}: {what}{likely}"]
        lines += table(("column", "value", "effect"), reasons)
    return lines
