"""``ulmus evaluate``: how good a model is on rows whose target is known."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.arguments import counted
from ulmus.cli.printing import check_free, facts, note, table, tell, watching, width, wrapped
from ulmus.cli.reading import load_model, read_for
from ulmus.cli.report import Evidence, check_report, report
from ulmus.exceptions import InvalidInputError
from ulmus.files import write_text
from ulmus.tables import Table, TableModel
from ulmus.tables.assessing import Assessment, Plan, assess, is_training, mistakes, score_words

# Of more classes the most frequent mistakes are printed, not the confusion matrix.
_SQUARE = 12
_MISTAKES = 8
# What --time and --group hold out where nothing else is said.
_HOLDOUT, _FOLDS = 0.2, 5
# Of more rows a report judges a held-out part, not folds.
_MANY = 5000


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
        by = (
            f" by {plan.time!r}"
            if plan.time
            else f" by groups of {plan.group!r}" * bool(plan.group)
        )
        if plan.folds is None:
            what = "the latest rows" if plan.time else "a random part"
            return f"Held out{by}: {rows}, {what}; a model like this one was fitted to the others."
        earlier = "earlier rows" if plan.time else "the other folds"
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
