"""``ulmus evaluate``: how good a model is on rows whose target is known."""

from argparse import Namespace
from typing import Any

import numpy as np

from ulmus.arguments import hint
from ulmus.cli.printing import facts, note, table, tell, watching, width, wrapped
from ulmus.cli.reading import load_model, read_for
from ulmus.exceptions import InvalidInputError
from ulmus.tables import Table, TableModel
from ulmus.tables.encoder import Target, as_text, read_target
from ulmus.tables.judging import judge_labels, judge_numbers

# Of more classes the most frequent mistakes are printed, not the confusion matrix.
_SQUARE = 12
_MISTAKES = 8


def evaluate(options: Namespace) -> int:
    """Print how good a model is on rows whose target is known."""
    model = load_model(options.model)
    data = read_for(model, options)
    goal = _truth(data, model)
    truth, known = goal.values[goal.known], goal.known
    with watching("Predicting", options.quiet):
        found = model.predict(data if known.all() else data.rows(known))
    notes = [*data.notes, *model.encoder.met, *goal.notes]
    if not known.all():
        notes.append(f"{(~known).sum():,} rows have a blank {model.target!r} and were left out.")
    if model.classes is None:
        judged = judge_numbers(truth, found)
    else:
        judged = judge_labels(as_text(truth), as_text(found), as_text(model.classes))
        new = judged.pop("unknown")
        if new:
            some = ", ".join(map(repr, new[:3])) + (", …" if len(new) > 3 else "")
            notes.append(f"The model does not know the class {some}: such rows count as wrong.")
    for sentence in notes:
        note(sentence, options.quiet)
    result = {"model": options.model, "target": model.target, "rows": len(truth), **judged}
    return tell(options, result, *(_numbers if model.classes is None else _labels)(result))


def _truth(data: Table, model: TableModel) -> Target:
    """The target of each row."""
    if model.target in data.names and model.target not in model.encoder.names:
        cells = data[model.target]
    elif data.target is not None:
        cells = data.target
    else:
        raise InvalidInputError(
            f"The file has no column {model.target!r} to compare with; "
            f"{hint(model.target, data.names)}"
        )
    return read_target(cells, model.target, model.task, data.decimal_comma, varied=False)


def _numbers(result: dict[str, Any]) -> list[str]:
    baseline = result["baseline"]
    better = 1 - result["rmse"] / baseline["rmse"] if baseline["rmse"] else 0.0
    rows = [
        ("R²", f"{result['r2']:.4f}", "0"),
        ("mean absolute error", f"{result['mae']:.5g}", f"{baseline['mae']:.5g}"),
        ("root mean squared error", f"{result['rmse']:.5g}", f"{baseline['rmse']:.5g}"),
    ]
    return [
        *table(("on these rows", "model", "baseline: mean"), rows),
        f"{result['rows']:,} rows of {result['target']!r}: an error {better:.0%} below that of the "
        "mean.",
    ]


def _labels(result: dict[str, Any]) -> list[str]:
    classes = result["classes"]
    rows = [
        (name, f"{c['rows']:,}", f"{c['precision']:.3f}", f"{c['recall']:.3f}", f"{c['f1']:.3f}")
        for name, c in classes.items()
    ]
    scores = [
        ("accuracy", f"{result['accuracy']:.4f}"),
        ("balanced accuracy", f"{result['balanced_accuracy']:.4f}"),
        ("baseline: majority class", f"{result['baseline']['accuracy']:.4f}"),
    ]
    right = round(result["accuracy"] * result["rows"])
    return [
        *table(("class", "rows", "precision", "recall", "F1"), rows),
        "",
        *_confusion(list(classes), np.array(result["confusion"])),
        "",
        *facts(scores),
        f"{right:,} of {result['rows']:,} rows of {result['target']!r} are right.",
    ]


def _confusion(names: list[str], square: np.ndarray) -> list[str]:
    """A square of counts where there is room, else the most frequent mistakes."""
    rows = [(name, *(f"{n:,}" for n in line)) for name, line in zip(names, square, strict=True)]
    lines = table(("true \\ predicted", *names), rows, columns=10**9)
    if len(names) <= _SQUARE and max(map(len, lines)) <= width():
        return lines
    wrong = square - np.diag(np.diag(square))
    order = np.argsort(wrong, axis=None)[::-1][:_MISTAKES]
    pairs = [divmod(int(place), len(names)) for place in order if wrong.flat[place]]
    mistakes = [f"{names[i]} taken for {names[j]}: {wrong[i, j]:,}" for i, j in pairs]
    lines = ["The most frequent mistakes:", *mistakes] if mistakes else ["There are no mistakes."]
    return [part for line in lines for part in wrapped(line)]
