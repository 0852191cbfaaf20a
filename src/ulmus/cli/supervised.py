"""Commands with a target: ``ulmus fit``, ``predict``, ``evaluate``, ``info`` and ``export``."""

import shlex
import shutil
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ulmus.arguments import hint
from ulmus.cli.printing import (
    check_free,
    facts,
    harmless,
    note,
    stem_of,
    table,
    tell,
    watching,
    width,
    wrapped,
    write_rows,
)
from ulmus.exceptions import InvalidInputError, TableError
from ulmus.exporting.onnx_model import save_onnx
from ulmus.exporting.table_columns import input_names
from ulmus.persistence import describe, load, save
from ulmus.tables import Table, TableModel, fit_table, read_table
from ulmus.tables.encoder import Target, as_text, read_target
from ulmus.tables.judging import judge_labels, judge_numbers

# Classes that `fit` names, and words of a list that `info` names.
_MOST_CLASSES, _MOST_WORDS = 10, 12
# Columns that `fit` and `info` name, those that matter most first.
_MOST_COLUMNS = 5
# Of more classes the most frequent mistakes are printed, not the confusion matrix.
_SQUARE = 12
_MISTAKES = 8
_TAKES = {"category": "text", "number": "number", "boolean": "1 or 0", "date": "days since 1970"}

Pairs = list[tuple[str, Any]]


def load_model(path: str) -> TableModel:
    """The model in a file, if it is one that reads tables."""
    model = load(path)
    if not isinstance(model, TableModel):
        raise InvalidInputError(
            f"{path} holds a {type(model).__name__}, which reads no tables; give a file that "
            "`ulmus fit` wrote, or use ulmus.load in Python."
        )
    return model


def read_data(options: Namespace, image_shape: tuple[int, ...] = ()) -> Table:
    """The table that a command's DATA and its options name; "-" is CSV on standard input."""
    how = {"encoding": options.encoding, "delimiter": options.delimiter}
    with watching("Reading", options.quiet):
        if options.data != "-":
            shape = image_shape or None
            return read_table(options.data, kind=options.kind, image_shape=shape, **how)
        with tempfile.TemporaryDirectory(prefix="ulmus-") as folder:
            path = Path(folder) / "stdin"
            with path.open("wb") as stream:
                shutil.copyfileobj(sys.stdin.buffer, stream)
            try:
                return read_table(path, kind=options.kind or "csv", **how)
            except TableError as error:
                raise TableError(str(error).replace(str(path), "Standard input")) from error


# ---------------------------------------------------------------------- fit
def fit(options: Namespace) -> int:
    """Read, choose, fit, write; say what was chosen and how to go on."""
    path = options.model or f"{stem_of(options.data)}.ulmus"
    check_free(path, options.force)
    data = read_data(options)
    with watching("Fitting", options.quiet, steps=3) as watch:
        model = fit_table(
            data,
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
    new = "NEW.csv" if options.data == "-" else options.data
    command, size = shlex.join(["ulmus", "predict", path, new]), Path(path).stat().st_size
    classes = None if model.classes is None else model.classes.tolist()
    words = f"{len(classes)} classes: {_some(classes, _MOST_CLASSES)}" if classes else "a number"
    found = {"model": path, "bytes": size, "target": model.target, "task": model.task}
    found = {**found, "classes": classes, **model.summary, "predict": command}
    pairs = [
        ("model", f"{path} ({_size_words(size)})"),
        ("target", f"{model.target}, {words}"),
        *_summary_words(model.summary, [("columns", f"{len(model.encoder.names)}")]),
        ("seconds", f"{model.summary['seconds']:.1f}"),
    ]
    return tell(
        options, found, *facts(pairs), "To predict a file with these columns:", f"  {command}"
    )


# ---------------------------------------------------------------------- predict
def predict(options: Namespace) -> int:
    """Print a prediction a row, and a probability a class if they are wanted."""
    check_free(options.out, options.force)
    model = load_model(options.model)
    if options.proba and model.classes is None:
        raise InvalidInputError(
            f"The model predicts numbers ({model.target!r}), which have no probabilities; leave "
            "--proba out."
        )
    data = read_data(options, model.encoder.image_shape)
    with watching("Predicting", options.quiet):
        X = model.matrix(data)
        y = np.asarray(model.estimator.predict(X))
        P = np.asarray(model.estimator.predict_proba(X)) if options.proba else np.zeros((len(y), 0))
    for sentence in (*data.notes, *model.encoder.met):
        note(sentence, options.quiet)
    classes = as_text(model.classes) if options.proba and model.classes is not None else []
    headings = ["prediction", *(f"probability of {name}" for name in classes)]
    cells = zip(_cells(y, options), P, strict=True)
    write_rows(options, headings, ([text, *(f"{p:.6g}" for p in row)] for text, row in cells))
    found, told = (
        {"target": model.target, "rows": len(y)},
        f"{len(y):,} predictions of {model.target!r}",
    )
    if options.out:
        return tell(options, {**found, "out": options.out}, f"{told}: {options.out}")
    if model.classes is not None:
        found["classes"] = model.classes.tolist()
    found["predictions"] = y.tolist()
    if options.proba:
        found["probabilities"] = P.tolist()
    text, command = "--out FILE writes them to a file.", None
    if model.target in data.names and options.data != "-":
        text = "the file has that column, so they can be judged:"
        command = shlex.join(["ulmus", "evaluate", options.model, options.data])
    note(f"{told}; {text}", options.quiet, command)
    return tell(options, found)


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


# ---------------------------------------------------------------------- evaluate
def evaluate(options: Namespace) -> int:
    """Print how good a model is on rows whose target is known."""
    model = load_model(options.model)
    data = read_data(options, model.encoder.image_shape)
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


# ---------------------------------------------------------------------- info
def info(options: Namespace) -> int:
    """Print a model's kind, target, columns, choices and versions, without loading it."""
    found = describe(options.model)
    size = f"{_size_words(found['bytes'])}, format {found['version']}"
    of_table = found["class"] == "ulmus.tables.TableModel"
    pairs = _of_table(found["params"]) if of_table else _of_estimator(found)
    return tell(options, found, *facts([("file", f"{options.model} ({size})"), *pairs]))


def _of_table(parts: dict[str, Any]) -> Pairs:
    summary, encoder = parts["summary"], parts["encoder"]["params"]
    classes = parts["estimator"]["fitted"].get("classes_")
    kinds = encoder["kinds"] or ["number"] * len(encoder["names"])
    columns = [f"{name} ({kind})" for name, kind in zip(encoder["names"], kinds, strict=True)]
    return [
        ("task", parts["task"]),
        ("target", parts["target"]),
        ("classes", _some(classes) if isinstance(classes, list) else classes),
        ("columns", f"{len(columns)}: {_some(columns)}"),
        ("left out", _some(list(encoder["dropped"]))),
        *_summary_words(summary),
        ("fitted", f"{summary['fitted_at']} in {summary['seconds']:.1f} s, seed {summary['seed']}"),
        ("versions", ", ".join(f"{name} {v}" for name, v in summary["versions"].items())),
    ]


def _of_estimator(found: dict[str, Any]) -> Pairs:
    """A model of `ulmus.save`, from Python."""
    params = [f"{name}={value!r}" for name, value in found["params"].items() if value is not None]
    return [
        ("class", found["class"]),
        ("parameters", ", ".join(params)),
        ("fitted", _some(list(found["fitted"]))),
        ("versions", f"ulmus {found['ulmus']}, scikit-learn {found['scikit-learn']}"),
    ]


# ---------------------------------------------------------------------- export
def export(options: Namespace) -> int:
    """Write an ONNX file whose inputs are the table's columns."""
    path = options.onnx or f"{stem_of(options.model)}.onnx"
    check_free(path, options.force)
    model = load_model(options.model)
    encoder = model.encoder
    stages = Pipeline([("view", model.view), ("estimator", model.estimator)])
    save_onnx(stages, path, encoder=encoder)
    size, inputs = Path(path).stat().st_size, {"X": f"{encoder.width} numbers a row"}
    if not encoder.width:
        takes = (_TAKES[kind] for kind in encoder.kinds)
        inputs = dict(zip(input_names(encoder).values(), takes, strict=True))
    words = ", ".join(f"{name} ({kind})" for name, kind in inputs.items())
    lines = [*facts([("inputs", words)]), f"{options.model} as ONNX: {path} ({_size_words(size)})"]
    return tell(options, {"onnx": path, "bytes": size, "inputs": inputs}, *lines)


# ---------------------------------------------------------------------- words
def _size_words(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _some(words: list[Any], most: int = _MOST_WORDS) -> str:
    return ", ".join(map(str, words[:most])) + (", …" if len(words) > most else "")


def _summary_words(summary: dict[str, Any], more: Pairs | None = None) -> Pairs:
    """How many rows a model was fitted to, what was chosen, and how well it predicts them."""
    rows, chosen, score = f"{summary['rows']:,}", summary["chosen"], summary["loo_score"]
    if summary["semi_supervised"]:
        rows += f", {summary['rows_with_target']:,} of them with a target"
    parts = [chosen["estimator"]]
    if "n_hidden" in chosen:
        parts.append(f"{chosen['n_hidden']} units")
    if "gamma" in chosen:
        parts.append(f"{chosen['kernel']} kernel, gamma = {chosen['gamma']:.3g}")
    parts += [f"{name} = {chosen[name]:.3g}" for name in ("C", "lam") if name in chosen]
    if score is None:
        words = "not known"
    elif summary["loo_measure"] == "accuracy":
        words = f"{score:.1%} of left-out rows right"
    else:
        words = f"R² = {score:.3f} on left-out rows"
    pairs = [("rows", rows), *(more or []), ("chosen", ", ".join(parts)), ("leave-one-out", words)]
    shares = [*summary["importances"].items()][:_MOST_COLUMNS]
    told = ", ".join(f"{name} {share:.0%}" for name, share in shares if share >= 0.005)
    return [*pairs, ("what matters", told)] if told else pairs
