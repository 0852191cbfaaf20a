"""``ulmus evaluate`` and ``explain``: how good a model is, and what it goes by."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.arguments import counted, figure
from ulmus.cli.printing import (
    aligned,
    check_free,
    facts,
    note,
    table,
    tell,
    watching,
    width,
    wrapped,
)
from ulmus.cli.reading import load_model, read_for
from ulmus.cli.report import Evidence, check_report, report
from ulmus.exceptions import InvalidInputError
from ulmus.files import write_text
from ulmus.tables import Table, TableModel
from ulmus.tables.assessing import Assessment, Plan, assess, is_training, mistakes, score_words
from ulmus.tables.explaining import explain as explained

# Of more classes the most frequent mistakes are printed, not the confusion matrix.
_SQUARE = 12
_MISTAKES = 8
# What --time and --group hold out where nothing else is said.
_HOLDOUT, _FOLDS = 0.2, 5
# Of more rows a report judges a held-out part, not folds.
_MANY = 5000
# Columns and classes that `explain` prints.
_MOST, _CLASSES = 12, 5


def evaluate(options: Namespace) -> int:
    """Print how good a model is on rows whose target is known."""
    plan = _plan(options)
    if options.report:
        check_report()
        check_free(options.report, options.force)
    model = load_model(options.model)
    data = read_for(model, options)
    steps = 1 if plan is None else 1 + (plan.folds or 1)
    with watching("Evaluating", options.quiet, steps=None if options.report else steps) as watch:
        found = assess(model, data, plan, watch)
        first, page = _how(model, found, plan), ""
        if options.report:
            found, first, page = _page(options, model, data, found, plan, watch)
    for sentence in found.notes:
        note(sentence, options.quiet)
    result = {
        "model": options.model,
        "target": model.target,
        "rows": len(found.rows),
        "on": first,
        "fitted_share": found.known_share,
        **({"folds": found.fold_scores} if found.parts[0].fitted is not None else {}),
        **found.scores,
    }
    lines = (_numbers if model.classes is None else _labels)(result)
    if options.report:
        check_free(options.report, options.force)  # again: it may have appeared meanwhile
        write_text(options.report, page)
        result["report"] = options.report
        lines.append(f"A page to look at in a browser: {options.report}")
    return tell(options, result, *([*wrapped(first), ""] if first else []), *lines)


def _page(
    options: Namespace,
    model: TableModel,
    data: Table,
    found: Assessment,
    plan: Plan | None,
    watch: Callable[[str], None],
) -> tuple[Assessment, str, str]:
    """The report, what it judges, and its first line.

    Rows that were fitted are judged by models that were fitted without them.
    """
    compared: Assessment | str = found
    if plan is None:
        few = len(found.rows) <= _MANY
        plan = Plan(None, _FOLDS, seed=options.seed) if few else Plan(_HOLDOUT, seed=options.seed)
        try:
            compared = assess(model, data, plan, watch)
        except InvalidInputError as error:
            compared = f"There are no baselines, as the rows cannot be split: {error}"
    first = _how(model, found, None if compared is not found else plan)
    if is_training(model, found.known_share) and isinstance(compared, Assessment):
        first = "The model was fitted to these rows, so models like it are judged. "
        first += _how(model, compared, plan)
        found = compared
    names = (Path(options.model).name, Path(options.data).name)
    evidence = Evidence(model, data, found, first, compared, names, options.seed)
    return found, first, report(evidence, watch)


def _plan(options: Namespace) -> Plan | None:
    """How rows are held out, or None where the model is judged as it is."""
    if options.holdout is not None and options.folds is not None:
        raise InvalidInputError("--holdout and --folds exclude each other; give one of them.")
    if options.time is not None and options.group is not None:
        raise InvalidInputError("--time and --group exclude each other; give one of them.")
    holdout, folds = options.holdout, options.folds
    if holdout is None and folds is None:
        if options.time is None and options.group is None:
            return None
        holdout, folds = (_HOLDOUT, None) if options.time is not None else (None, _FOLDS)
    return Plan(holdout, folds, options.time, options.group, options.seed)


def _how(model: TableModel, found: Assessment, plan: Plan | None) -> str:
    """The first line: which rows were judged, where that matters."""
    rows = counted(len(found.rows), "row")
    if plan is not None:
        by = f" by groups of {plan.group!r}" if plan.group else ""
        by = f" by {plan.time!r}" if plan.time else by
        if plan.folds is None:
            what = "the latest rows" if plan.time else "a random part"
            return f"Held out{by}: {rows}, {what}; a model like this one was fitted to the others."
        others = "the other fold" if plan.folds == 2 else "the other folds"
        earlier = "earlier rows" if plan.time else others
        spread = f"{np.mean(found.fold_scores):.3f} ± {np.std(found.fold_scores):.3f}"
        measure = "R²" if model.classes is None else "accuracy"
        return (
            f"{len(found.fold_scores)} folds{by}: each of {rows} was predicted by a model that was "
            f"fitted to {earlier}; {measure} {spread} over the folds."
        )
    if not is_training(model, found.known_share):
        return ""
    share = found.known_share or 0.0
    which = "These are rows" if share > 0.99 else f"{share:.0%} of these rows are rows"
    return (
        f"{which} that the model was fitted to, so the scores are too good. For scores of rows "
        "that it has not seen: another file, --holdout 0.2, --folds 5, or --time and --group "
        f"with a column. By {': '.join(score_words(model.summary))}."
    )


def _numbers(result: dict[str, Any]) -> list[str]:
    baseline = result["baseline"]
    better = 1 - result["rmse"] / baseline["rmse"] if baseline["rmse"] else 0.0
    rows = [
        ("R²", f"{result['r2']:.4f}", "0"),
        ("mean absolute error", figure(result["mae"], 5), figure(baseline["mae"], 5)),
        ("root mean squared error", figure(result["rmse"], 5), figure(baseline["rmse"], 5)),
    ]
    return [
        *table(("on these rows", "model", "baseline: mean"), rows),
        f"{counted(result['rows'], 'row')} of {result['target']!r}: an error {abs(better):.0%} "
        f"{'below' if better >= 0 else 'above'} that of the mean.",
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
        *_confusion(result),
        "",
        *facts(scores),
        f"{right:,} of {result['rows']:,} rows of {result['target']!r} are right.",
    ]


def _confusion(result: dict[str, Any]) -> list[str]:
    """A square of counts where there is room, else the most frequent mistakes."""
    names = list(result["classes"])
    counts = zip(names, result["confusion"], strict=True)
    rows = [(name, *(f"{n:,}" for n in line)) for name, line in counts]
    lines = table(("true \\ predicted", *names), rows, columns=10**9)
    if len(names) <= _SQUARE and max(map(len, lines)) <= width():
        return lines
    wrong = [f"{a} taken for {b}: {n:,}" for a, b, n in mistakes(result, _MISTAKES)]
    lines = ["The most frequent mistakes:", *wrong] if wrong else ["There are no mistakes."]
    return [part for line in lines for part in wrapped(line)]


# ---------------------------------------------------------------------- explain
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
        text = "These are rows that the model was fitted to: how much it needs a column is seen "
        note(f"{text}better on rows that it has not seen.", options.quiet)
    return tell(options, found, *_columns(found), *_effects(found), *_rows(found))


def _places(wanted: list[int], numbers: np.ndarray) -> list[int]:
    """Where the rows with these numbers are."""
    for number in wanted:
        if number not in numbers:
            raise InvalidInputError(
                f"--rows {number}: there is no such row; rows are counted from 1 below the header."
            )
    return [int(place) for place in np.searchsorted(numbers, wanted)]


def _columns(found: dict[str, Any]) -> list[str]:
    rows = []
    for column in found["columns"][:_MOST]:
        share = "" if column["gradient"] is None else f"{column['gradient']:.1%}"
        rows.append((column["name"], f"{column['drop']:.4f}", share))
    more = len(found["columns"]) - len(rows)
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
        means = [row[: len(headings)] for row in effect["predictions"]]
        texts = iter(aligned(mean for row in means for mean in row))
        rows = [
            (value, *(next(texts) for _ in row))
            for value, row in zip(effect["values"], means, strict=True)
        ]
        lines += ["", *table((f"if {effect['name']} is", *headings), rows)]
    return lines


def _rows(found: dict[str, Any]) -> list[str]:
    lines = []
    for row in found["rows"]:
        likely = "" if row["probability"] is None else f", probability {row['probability']:.3f}"
        what = row["prediction"] if row["probability"] else figure(row["prediction"])
        effects = aligned(reason["effect"] for reason in row["reasons"])
        reasons = [
            (reason["column"], reason["value"], effect if effect.startswith("-") else f"+{effect}")
            for reason, effect in zip(row["reasons"], effects, strict=True)
        ]
        lines += ["", f"row {row['row']}: {what}{likely}"]
        lines += table(("column", "value", "effect"), reasons)
    return lines
