"""The page of ``ulmus evaluate --report``: how good a model is, and where it fails."""

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.arguments import figure
from ulmus.backends.namespace import extra
from ulmus.exceptions import InvalidInputError
from ulmus.tables import Table, TableModel
from ulmus.tables.assessing import Assessment, mistakes, score_words
from ulmus.tables.cells import words_of
from ulmus.tables.evidence import baselines, calibration, slices, worst_rows
from ulmus.tables.explaining import explain
from ulmus.tables.kinds import as_text, names_rows

# Rows that are shown, columns of a chart and of a row, characters of a cell, and classes
# of which there is a confusion matrix.
_ROWS, _COLUMNS, _CELLS, _LONGEST, _SQUARE = 12, 12, 5, 60, 20
_MISTAKES = 12
# What is drawn in these colours gets the page's own: no chart uses them otherwise.
_COLOURS = {"#010101": "ink", "#020202": "soft", "#030303": "rule", "#040404": "accent"}
_INK, _SOFT, _RULE, _ACCENT = _COLOURS
_LOOK: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # dollar signs are dollar signs
    "font.family": "sans-serif",
    "font.size": 10.5,
    "text.color": _INK,
    "axes.labelcolor": _SOFT,
    "axes.edgecolor": _RULE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "grid.color": _RULE,
}
# Points of a scatter, and characters of a name.
_MOST_POINTS, _LABEL = 1000, 28


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
    return [figure(x) for x in values] if values.dtype.kind == "f" else as_text(values)


def _cut(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _charts(evidence: Evidence, parts: dict[str, Any]) -> dict[str, str]:
    found, made = evidence.found, dict[str, tuple[Any, ...]]()
    measure = "R²" if found.classes is None else "accuracy"
    if not isinstance(parts["compared"], str):
        kept = [one for one in parts["compared"] if one["scores"]]
        names, scores = [one["name"] for one in kept], [one["scores"] for one in kept]
        made["scores"] = _score_chart, names, scores, measure
    if found.classes is None:
        made["residuals"] = _residual_chart, found.truth, found.found, evidence.model.target
    if parts["calibration"]["points"]:
        words = ("mean probability", "share that was right")
        if found.classes is None:
            words = ("interval's coverage", "share of values inside")
        made["calibration"] = _calibration_chart, parts["calibration"]["points"], *words
    if parts["columns"]["names"]:
        made["importance"] = _importance_chart, parts["columns"]["names"], measure
    return {name: _svg(name, *drawing) for name, drawing in made.items()}


# ---------------------------------------------------------------------- charts, as SVG
def _svg(name: str, draw: Callable[..., None], *data: Any) -> str:
    """One drawing as an element of a page; ``name`` keeps its ids apart from the others'."""
    matplotlib = extra("matplotlib", "cli", "--report")
    Figure = extra("matplotlib.figure", "cli", "--report").Figure
    with matplotlib.rc_context({**_LOOK, "svg.hashsalt": name}), warnings.catch_warnings():
        # Letters that are not in the font of the layout; the page's reader has its own fonts.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=(4.9, 3.4), layout="constrained")
        draw(figure.subplots(), *data)
        text = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(text, format="svg", transparent=True, metadata=nothing)
    found = text.getvalue()
    found = re.sub(r'<g id="[^"]*"', "<g", found[found.index("<svg") :])
    for colour, variable in _COLOURS.items():
        found = found.replace(colour, f"var(--{variable})")
    return found.replace("<svg ", '<svg aria-hidden="true" ', 1).strip()


def _score_chart(
    ax: Any, names: Sequence[str], scores: Sequence[Sequence[float]], measure: str
) -> None:
    """A dot for each split, and a bar at their mean; the first name is the model's."""
    ax.figure.set_figheight(0.8 + 0.38 * len(names))
    for k, values in enumerate(scores):
        colour = _SOFT if k else _ACCENT
        ax.plot(values, [k] * len(values), "o", color=colour, alpha=0.45, ms=5, mew=0)
        ax.plot([np.mean(values)], [k], "|", color=colour, ms=18, mew=3)
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel=measure, ylim=(len(names) - 0.5, -0.5))
    ax.grid(axis="x", linewidth=0.6)


def _calibration_chart(ax: Any, points: Sequence[tuple[float, float, int]], x: str, y: str) -> None:
    """Predicted against observed frequencies; on the diagonal the two agree."""
    ax.plot([0, 1], [0, 1], color=_SOFT, linewidth=1, linestyle=(0, (4, 3)))
    said, found, _ = zip(*points, strict=True)
    ax.plot(said, found, "o-", color=_ACCENT, ms=5, linewidth=1.6)
    low = max(0.0, min(*said, *found) - 0.05)
    ax.set(xlim=(low, 1.02), ylim=(low, 1.02), xlabel=x, ylabel=y)
    ax.grid(linewidth=0.6)


def _residual_chart(ax: Any, truth: np.ndarray, found: np.ndarray, target: str) -> None:
    """Errors by prediction, of at most a thousand random rows."""
    some = np.random.default_rng(0).permutation(len(truth))[:_MOST_POINTS]
    ax.axhline(0, color=_SOFT, linewidth=1)
    ax.plot(found[some], (truth - found)[some], "o", color=_ACCENT, alpha=0.4, ms=3.5, mew=0)
    ax.set(xlabel=f"prediction of {_cut(target, _LABEL)}", ylabel="true value − prediction")
    ax.grid(linewidth=0.6)


def _importance_chart(ax: Any, columns: Sequence[tuple[str, float]], measure: str) -> None:
    """How much is lost without each column."""
    ax.figure.set_figheight(0.8 + 0.3 * len(columns))
    names, losses = zip(*columns, strict=True)
    ax.barh(range(len(names)), losses, color=_ACCENT, height=0.62)
    ax.set_yticks(range(len(names)), [_cut(name, _LABEL) for name in names])
    ax.invert_yaxis()
    ax.set_xlabel(f"loss of {measure} without the column")
    ax.grid(axis="x", linewidth=0.6)
    ax.set_axisbelow(True)
