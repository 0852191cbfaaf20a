"""``ulmus fit``: a table to a model file."""

import shlex
from pathlib import Path

from ulmus.cli.places import check_free, read_data, stem_of
from ulmus.cli.printing import facts, note, print_json, say
from ulmus.cli.watching import watching
from ulmus.cli.words import chosen_words, classes_words, score_words, size_words
from ulmus.persistence import save
from ulmus.tables import fit_table

__all__ = ["fit"]


def fit(options):
    """Read, choose, fit, write; say what was chosen and how to go on."""
    path = options.model or f"{stem_of(options.data)}.ulmus"
    check_free(path, options.force)
    with watching("Reading", options.quiet):
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
    _tell(model, path, options)
    return 0


def _tell(model, path, options):
    summary, size = model.summary, Path(path).stat().st_size
    data = "NEW.csv" if options.data == "-" else options.data
    command = shlex.join(["ulmus", "predict", path, data])
    if options.json:
        classes = None if model.classes is None else model.classes.tolist()
        found = {"model": path, "bytes": size, "target": model.target, "task": model.task}
        print_json({**found, "classes": classes, **summary, "predict": command})
        return
    rows = f"{summary['rows']:,}"
    if summary["semi_supervised"]:
        rows += f", {summary['rows_with_target']:,} of them with a target"
    lines = facts(
        [
            ("model", f"{path} ({size_words(size)})"),
            ("target", f"{model.target}, {classes_words(model)}"),
            ("rows", rows),
            ("columns", f"{len(model.encoder.names)}"),
            ("chosen", chosen_words(summary["chosen"])),
            ("leave-one-out", score_words(summary)),
            ("seconds", f"{summary['seconds']:.1f}"),
        ]
    )
    for line in lines:
        say(line)
    say("To predict a file with these columns:")
    say(f"  {command}")
