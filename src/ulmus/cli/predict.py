"""``ulmus predict``: predictions for the rows of a table, in their order."""

import shlex
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np

from ulmus.cli.places import check_free, load_model, read_data, write_rows
from ulmus.cli.printing import harmless, note, print_json, say, watching
from ulmus.exceptions import InvalidInputError
from ulmus.tables import Table, TableModel
from ulmus.tables.target_column import as_text

__all__ = ["predict"]


def predict(options: Namespace) -> int:
    """Print a prediction a row, and a probability a class if they are wanted."""
    check_free(options.out, options.force)
    model = load_model(options.model)
    if options.proba and model.classes is None:
        raise InvalidInputError(
            f"The model predicts numbers ({model.target!r}), which have no probabilities; leave "
            "--proba out."
        )
    table = read_data(options, model.encoder.image_shape)
    with watching("Predicting", options.quiet):
        X = model.matrix(table)
        y = np.asarray(model.estimator.predict(X))
        P = np.asarray(model.estimator.predict_proba(X)) if options.proba else None
    for sentence in (*table.notes, *model.encoder.met):
        note(sentence, options.quiet)
    classes = [] if P is None or model.classes is None else as_text(model.classes)
    headings = ["prediction", *(f"probability of {name}" for name in classes)]
    write_rows(options, headings, _rows(_cells(y, options), P))
    if options.json:
        print_json(_found(model, y, P, options.out))
    elif options.out:
        say(f"{len(y):,} predictions of {model.target!r}: {options.out}")
    if not options.out:
        _tell_next(len(y), options, table, model)
    return 0


def _cells(y: np.ndarray, options: Namespace) -> list[str]:
    """The predictions as text, none of which is a formula unless they are wanted as they are."""
    cells = as_text(y)
    safe = cells if options.raw else harmless(cells)
    changed = sum(a != b for a, b in zip(cells, safe, strict=True))
    if changed and (options.out or not options.json):
        note(
            f"{changed:,} predictions begin as a formula does, and have an apostrophe before them, "
            "so that no spreadsheet works them out; --raw writes them as they are.",
            options.quiet,
        )
    return safe


def _rows(cells: list[str], P: np.ndarray | None) -> Iterator[list[str]]:
    for k, text in enumerate(cells):
        yield [text] if P is None else [text, *(f"{p:.6g}" for p in P[k])]


def _found(
    model: TableModel, y: np.ndarray, P: np.ndarray | None, out: str | None
) -> dict[str, Any]:
    found = {"target": model.target, "rows": len(y)}
    if out:
        return {**found, "out": out}
    if model.classes is not None:
        found["classes"] = model.classes.tolist()
    found["predictions"] = y.tolist()
    return found if P is None else {**found, "probabilities": P.tolist()}


def _tell_next(count: int, options: Namespace, table: Table, model: TableModel) -> None:
    text, command = f"{count:,} predictions of {model.target!r}", None
    if model.target in table.names and options.data != "-":
        text += "; the file has that column, so they can be judged:"
        command = shlex.join(["ulmus", "evaluate", options.model, options.data])
    else:
        text += "; --out FILE writes them to a file."
    note(text, options.quiet, command)
