"""``ulmus predict``: a prediction for each row, beside what tells the rows apart."""

import shlex
from argparse import Namespace
from collections.abc import Iterable

import numpy as np

from ulmus.arguments import counted
from ulmus.cli.printing import note, tell, watching
from ulmus.cli.reading import load_model, read_for
from ulmus.cli.results import Columns, check_result, plain_values, write_columns
from ulmus.exceptions import InvalidInputError, RowsGoneError
from ulmus.tables import Table, TableModel
from ulmus.tables.assessing import is_training
from ulmus.tables.columns import names_rows
from ulmus.tables.delimited import each_once
from ulmus.tables.encoder import as_text
from ulmus.typing import Rows

# Rows that are predicted between two movements of the bar.
_AT_ONCE = 50_000


def predict(options: Namespace) -> int:
    """Print a prediction a row, with the row's number and what else is asked for."""
    check_result(options.out, options.force)
    model = load_model(options.model)
    _check_wishes(model, options)
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


def _check_wishes(model: TableModel, options: Namespace) -> None:
    if model.classes is None and options.probabilities:
        raise InvalidInputError(
            f"The model predicts numbers ({model.target!r}), which have no probabilities; leave "
            "--probabilities out, or give --interval 90."
        )
    if options.interval is not None and not hasattr(model.estimator, "predict_interval"):
        what = "a class" if model.classes is not None else "a number, from few labelled rows"
        raise InvalidInputError(
            f"The model predicts {what} ({model.target!r}), without intervals; leave --interval "
            "out" + (", or give --probabilities." if model.classes is not None else ".")
        )


# ---------------------------------------------------------------------- columns
def _beside(model: TableModel, data: Table, options: Namespace) -> list[tuple[str, np.ndarray]]:
    """What tells the rows apart: number or file, ids, and columns that are asked for."""
    files = np.array(data.files, dtype=object)
    first = ("file", files) if data.files else ("row", data.row_numbers)
    wanted = [*_ids(model, data), *options.keep]
    names = data.names if options.append else dict.fromkeys(wanted)
    return [first, *((name, data[name]) for name in names)]


def _ids(model: TableModel, data: Table) -> Iterable[str]:
    """Columns that the model does not use, and that are named as ids are."""
    if data.matrix is not None:
        return []
    unused = set(data.names) - {*model.encoder.names, model.target}
    return [name for name in data.names if name in unused and names_rows(name)]


def _predicted(model: TableModel, X: Rows, options: Namespace) -> Columns:
    """The predictions, and the probabilities or intervals that belong to them."""
    rows = X.shape[0]
    parts = [X[start : start + _AT_ONCE] for start in range(0, rows, _AT_ONCE)]
    blocks = []
    with watching("Predicting", options.quiet, steps=len(parts)) as step:
        for k, part in enumerate(parts):
            step(f"{min(k * _AT_ONCE, rows):,} of {counted(rows, 'row')}")
            blocks.append(_block(model, part, options))
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def _block(model: TableModel, X: Rows, options: Namespace) -> Columns:
    y, P = model.labelled(X)
    if P is None or model.classes is None:
        found = {"prediction": _rounded(y, 9)}
        if options.interval is None:
            return found
        ends = _ends(model, X, options.interval)
        return found | {"lower": _rounded(ends[:, 0], 9), "upper": _rounded(ends[:, 1], 9)}
    found = {"prediction": y, "probability": _rounded(P.max(axis=1), 6)}
    if options.probabilities:
        names = (f"probability of {name}" for name in as_text(model.classes))
        found |= {name: _rounded(p, 6) for name, p in zip(names, P.T, strict=True)}
    return found


def _ends(model: TableModel, X: Rows, percent: float) -> np.ndarray:
    try:
        return np.asarray(model.estimator.predict_interval(X, coverage=percent / 100))
    except RowsGoneError as error:
        raise InvalidInputError(
            "--interval: the model's file has no fitted rows to leave out, as ulmus.save(..., "
            "for_update=False) leaves none. `ulmus fit` writes a file with them; or leave "
            "--interval out."
        ) from error


def _rounded(values: np.ndarray, digits: int) -> np.ndarray:
    """Numbers with so many digits; the others are noise, and differ from machine to machine."""
    return np.array([float(f"{value:.{digits}g}") for value in values])


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
