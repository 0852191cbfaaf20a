"""``ulmus predict``: a prediction for each row, beside what tells the rows apart."""

import shlex
from argparse import Namespace

import numpy as np

from ulmus.arguments import counted
from ulmus.cli.printing import note, tell, watching
from ulmus.cli.reading import load_model, read_for
from ulmus.cli.results import Columns, check_result, plain_values, rounded, write_columns
from ulmus.tables import Table, TableModel
from ulmus.tables.assessing import is_training
from ulmus.tables.delimited import each_once
from ulmus.typing import Rows

# Rows that are predicted between two movements of the bar.
_AT_ONCE = 50_000


def predict(options: Namespace) -> int:
    """Print a prediction a row, with the row's number and what else is asked for."""
    check_result(options.out, options.force)
    model = load_model(options.model)
    model.check_wishes(options.probabilities, options.interval)
    data = read_for(model, options)
    beside = _beside(model, data, options)
    X = model.matrix(data)
    found = _predicted(model, X, options)
    for sentence in (*data.notes, *model.encoder.met):
        note(sentence, options.quiet)
    names, values = zip(*beside, *found.items(), strict=True)
    columns: Columns = dict(zip(each_once(list(names)), values, strict=True))
    write_columns(options, columns)
    told = f"{counted(len(data), 'prediction')} of {model.target!r}"
    result = {"target": model.target, "rows": len(data)}
    if options.out:
        return tell(options, {**result, "out": options.out}, f"{told}: {options.out}")
    _say_next(model, data, X, told, options)
    if not options.json:
        return 0
    if model.classes is not None:
        result["classes"] = model.classes.tolist()
    return tell(options, {**result, "columns": {n: plain_values(v) for n, v in columns.items()}})


# ---------------------------------------------------------------------- columns
def _beside(model: TableModel, data: Table, options: Namespace) -> list[tuple[str, np.ndarray]]:
    """What tells the rows apart: number or file, ids, and columns that are asked for."""
    files = np.array(data.files, dtype=object)
    first = ("file", files) if data.files else ("row", data.row_numbers)
    ids = [name for name in model.encoder.ids(data) if name != model.target]
    wanted = [*ids, *options.keep]
    names = data.names if options.append else dict.fromkeys(wanted)
    return [first, *((name, data[name]) for name in names)]


def _predicted(model: TableModel, X: Rows, options: Namespace) -> Columns:
    """The predictions, and the probabilities or intervals that belong to them."""
    rows = X.shape[0]
    parts = [X[start : start + _AT_ONCE] for start in range(0, rows, _AT_ONCE)]
    blocks = []
    with watching("Predicting", options.quiet, steps=len(parts)) as step:
        for k, part in enumerate(parts):
            step(f"{min(k * _AT_ONCE, rows):,} of {counted(rows, 'row')}")
            blocks.append(model.columns(part, options.probabilities, options.interval))
    found = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    digits = 9 if model.classes is None else 6
    return {k: rounded(v, digits) if v.dtype.kind == "f" else v for k, v in found.items()}


# ---------------------------------------------------------------------- words
def _say_next(model: TableModel, data: Table, X: Rows, told: str, options: Namespace) -> None:
    what, command = "it" if len(data) == 1 else "them", None
    text = f"--out FILE writes {what} to a file."
    if model.target in data.names and options.data != "-":
        text = "the file has that column too; to compare:"
        command = shlex.join(["ulmus", "evaluate", options.model, options.data])
        if is_training(model, model.known_share(X)):
            text = "the model was fitted to these rows; to judge it by rows that it has not seen:"
            command += " --folds 5"
    note(f"{told}; {text}", options.quiet, command)
