"""``ulmus predict``: predictions for the rows of a table, in their order."""

import shlex
import sys

import numpy as np

from ulmus.cli.models import load_model
from ulmus.cli.places import check_free, read_data, write_new
from ulmus.cli.printing import csv_text, harmless, note, print_json, say, write_csv
from ulmus.cli.watching import watching
from ulmus.exceptions import InvalidInputError
from ulmus.tables.target_column import as_text

__all__ = ["predict"]


def predict(options):
    """Print a prediction a row, and a probability a class if they are wanted."""
    if options.out:
        check_free(options.out, options.force)
    model = load_model(options.model)
    if options.proba and model.classes is None:
        raise InvalidInputError(
            f"The model predicts numbers ({model.target!r}), which have no probabilities; leave "
            "--proba out."
        )
    with watching("Reading", options.quiet):
        table = read_data(options, model.encoder.image_shape)
    with watching("Predicting", options.quiet):
        X = model.matrix(table)
        y = model.estimator.predict(X)
        P = model.estimator.predict_proba(X) if options.proba else None
    for sentence in (*table.notes, *model.encoder.met):
        note(sentence, options.quiet)
    headings = ["prediction", *_headings(model, P)]
    cells = _cells(y, options)
    if options.out:
        write_new(options.out, csv_text(headings, _rows(cells, P)), options.force)
    if options.json:
        print_json(_found(model, y, P, options.out))
    elif options.out:
        say(f"{len(y):,} predictions of {model.target!r}: {options.out}")
    else:
        write_csv(sys.stdout, headings, _rows(cells, P))
    sys.stdout.flush()
    if not options.out:
        _next(len(y), options, table, model)
    return 0


def _headings(model, P):
    return [] if P is None else [f"probability of {name}" for name in as_text(model.classes)]


def _cells(y, options):
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


def _rows(cells, P):
    if P is None:
        return ([text] for text in cells)
    return ([text, *(f"{p:.6g}" for p in row)] for text, row in zip(cells, P, strict=True))


def _found(model, y, P, out):
    found = {"target": model.target, "rows": len(y)}
    if out:
        return {**found, "out": out}
    if model.classes is not None:
        found["classes"] = model.classes.tolist()
    found["predictions"] = np.asarray(y).tolist()
    return found if P is None else {**found, "probabilities": np.asarray(P).tolist()}


def _next(count, options, table, model):
    """Say what could be done now."""
    text, command = f"{count:,} predictions of {model.target!r}", None
    if model.target in table.names and options.data != "-":
        text += "; the file has that column, so they can be judged:"
        command = shlex.join(["ulmus", "evaluate", options.model, options.data])
    else:
        text += "; --out FILE writes them to a file."
    note(text, options.quiet, command)
