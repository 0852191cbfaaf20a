"""``ulmus fit``: a table to a model file."""

import shlex
from argparse import Namespace
from pathlib import Path

from ulmus.cli.places import check_free, read_data, stem_of
from ulmus.cli.printing import (
    chosen_words,
    facts,
    note,
    print_json,
    rows_words,
    say,
    score_words,
    size_words,
    watching,
)
from ulmus.persistence import save
from ulmus.tables import TableModel, fit_table

__all__ = ["fit"]

_MOST_CLASSES = 10


def fit(options: Namespace) -> int:
    """Read, choose, fit, write; say what was chosen and how to go on."""
    path = options.model or f"{stem_of(options.data)}.ulmus"
    check_free(path, options.force)
    table = read_data(options)
    with watching("Fitting", options.quiet, steps=6) as watch:
        model = fit_table(
            table,
            options.target,
            task=options.task,
            unlabelled_blank=options.unlabelled_blank,
            seed=options.seed,
            watch=watch,
            verbose=int(not options.quiet),
        )
    for sentence in model.summary["notes"]:
        note(sentence, options.quiet)
    check_free(path, options.force)
    save(model, path, for_update=False)
    data = "NEW.csv" if options.data == "-" else options.data
    _tell(model, path, shlex.join(["ulmus", "predict", path, data]), options.json)
    return 0


def _tell(model: TableModel, path: str, command: str, as_json: bool) -> None:
    summary, size = model.summary, Path(path).stat().st_size
    if as_json:
        classes = None if model.classes is None else model.classes.tolist()
        found = {"model": path, "bytes": size, "target": model.target, "task": model.task}
        print_json({**found, "classes": classes, **summary, "predict": command})
        return
    pairs = [
        ("model", f"{path} ({size_words(size)})"),
        ("target", f"{model.target}, {_classes_words(model)}"),
        ("rows", rows_words(summary)),
        ("columns", f"{len(model.encoder.names)}"),
        ("chosen", chosen_words(summary["chosen"])),
        ("leave-one-out", score_words(summary)),
        ("seconds", f"{summary['seconds']:.1f}"),
    ]
    say(*facts(pairs), "To predict a file with these columns:", f"  {command}")


def _classes_words(model: TableModel) -> str:
    if model.classes is None:
        return "a number"
    names = [str(name) for name in model.classes[:_MOST_CLASSES]]
    more = ", …" if len(model.classes) > _MOST_CLASSES else ""
    return f"{len(model.classes)} classes: {', '.join(names)}{more}"
