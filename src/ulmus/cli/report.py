"""The page of ``ulmus evaluate --report``: how good a model is, and where it fails."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.backends.namespace import extra
from ulmus.cli import charts
from ulmus.exceptions import InvalidInputError
from ulmus.tables import Table, TableModel
from ulmus.tables.assessing import Assessment, mistakes, score_words
from ulmus.tables.cells import words_of
from ulmus.tables.evidence import baselines, calibration, slices, worst_rows
from ulmus.tables.explaining import explain
from ulmus.tables.kinds import as_text, names_rows

# Rows and slices that are shown, columns of a chart and of a row, characters of a cell, and classes
# of which there is a confusion matrix.
_ROWS, _SLICES, _COLUMNS, _CELLS, _LONGEST, _SQUARE = 12, 10, 12, 5, 60, 20
_MISTAKES = 12


@dataclass(frozen=True)
class Evidence:
    """What a page is made of.

    ``found`` is what the page judges, ``first`` the sentence that says which rows they are;
    ``compared`` are splits of the same file that baselines are fitted to, or why there are none.
    """

    model: TableModel
    table: Table
    found: Assessment
    first: str
    compared: Assessment | str
    names: tuple[str, str]
    seed: int = 0


def check_report() -> None:
    """An error that says what to install, before any work is done."""
    for package in ("jinja2", "matplotlib"):
        extra(package, "cli", "--report")


def report(evidence: Evidence, watch: Callable[[str], None] = lambda _: None) -> str:
    """The page: HTML with its style and charts inside, no script, nothing from elsewhere."""
    jinja2 = extra("jinja2", "cli", "--report")
    markup = extra("markupsafe", "cli", "--report").Markup
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    found, model = evidence.found, evidence.model
    watch("importance")
    columns = _importance(evidence)
    parts = {
        "e": evidence,
        "classify": found.classes is not None,
        "scores": found.scores,
        "rows": len(found.rows),
        "facts": _facts(model),
        "compared": _compared(evidence, watch),
        "square": _square(found),
        "mistakes": mistakes(found.scores, _MISTAKES),
        "calibration": calibration(found),
        "columns": columns,
        "worst": _worst(evidence, columns),
        "slices": slices(found, evidence.table, (model.target,)),
    }
    shown = {"svg": {name: markup(text) for name, text in _charts(evidence, parts).items()}}
    text: str = environment.get_template("report.html.jinja").render(parts | shown)
    return text.strip() + "\n"


# ---------------------------------------------------------------------- parts
def _facts(model: TableModel) -> list[tuple[str, str]]:
    summary = model.summary
    return [
        ("fitted to", f"{summary['rows']:,} rows, {summary['fitted_at']}"),
        ("estimator", summary["chosen"]["estimator"]),
        score_words(summary),
        ("versions", ", ".join(f"{name} {v}" for name, v in summary["versions"].items())),
    ]


def _compared(evidence: Evidence, watch: Callable[[str], None]) -> list[dict[str, Any]] | str:
    """The model and the baselines, fitted to the same rows and judged by the same."""
    if isinstance(evidence.compared, str):
        return evidence.compared
    scores = evidence.compared.fold_scores
    own = {"name": "this model, fitted again", "scores": scores, "skipped": None}
    return [
        {**one, "spread": float(np.std(one["scores"])) if len(one["scores"]) > 1 else None}
        for one in (own, *baselines(evidence.compared, watch))
    ]


def _square(found: Assessment) -> list[tuple[str, list[tuple[int, float]]]] | None:
    """Counts by true and predicted class, and each as a share of the true one's rows."""
    if found.classes is None or len(found.scores["classes"]) > _SQUARE:
        return None
    counts = np.array(found.scores["confusion"])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return [
        (name, list(zip(map(int, row), map(float, part), strict=True)))
        for name, row, part in zip(found.scores["classes"], counts, shares, strict=True)
    ]


def _importance(evidence: Evidence) -> dict[str, Any]:
    """What is lost without each column, on rows of the first split; or why that is not known."""
    part = evidence.found.parts[0]
    try:
        found = explain(part.model, part.table, seed=evidence.seed)
    except InvalidInputError as error:
        return {"names": [], "measure": "", "why_not": str(error)}
    names = [(column["name"], column["drop"]) for column in found["columns"][:_COLUMNS]]
    return {"names": names, "measure": found["measure"], "why_not": ""}


def _worst(evidence: Evidence, columns: dict[str, Any]) -> dict[str, Any]:
    """The rows that are most wrong, with what tells them apart and the cells that matter."""
    found, table = evidence.found, evidence.table
    shown: Sequence[str] = []
    if table.matrix is None:
        ids = [name for name in table.names if names_rows(name)]
        first = [name for name, _ in columns["names"] if name in table.names]
        shown = list(dict.fromkeys([*ids[:1], *(first or table.names)]))[:_CELLS]
    texts = {name: words_of(table[name]) for name in shown if name != evidence.model.target}
    truth, predicted = _words(found.truth), _words(found.found)
    rows = []
    for place in worst_rows(found, _ROWS):
        row = int(found.rows[place])
        sure = "" if found.probabilities is None else f"{found.probabilities[place].max():.2f}"
        cells = ["" if words[row] is None else _cut(words[row]) for words in texts.values()]
        name = table.files[row] if table.files else f"{table.row_numbers[row]:,}"
        rows.append((name, _cut(truth[place]), _cut(predicted[place]), sure, cells))
    return {"columns": list(texts), "rows": rows}


def _words(values: np.ndarray) -> list[str]:
    return [f"{x:.6g}" for x in values] if values.dtype.kind == "f" else as_text(values)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _charts(evidence: Evidence, parts: dict[str, Any]) -> dict[str, str]:
    found, made = evidence.found, dict[str, tuple[Any, ...]]()
    measure = "R²" if found.classes is None else "accuracy"
    if not isinstance(parts["compared"], str):
        kept = [one for one in parts["compared"] if one["scores"]]
        names, scores = [one["name"] for one in kept], [one["scores"] for one in kept]
        made["scores"] = charts.scores, names, scores, measure
    if found.classes is None:
        made["residuals"] = charts.residuals, found.truth, found.found, evidence.model.target
    if parts["calibration"]["points"]:
        words = ("mean probability", "share that was right")
        if found.classes is None:
            words = ("interval's coverage", "share of values inside")
        made["calibration"] = charts.calibration, parts["calibration"]["points"], *words
    if parts["columns"]["names"]:
        made["importance"] = charts.importance, parts["columns"]["names"], measure
    return {name: charts.svg(name, *drawing) for name, drawing in made.items()}
