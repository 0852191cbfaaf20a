"""Charts of a report as SVG that takes its colours from the page, light or dark."""

import io
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ulmus.backends.namespace import extra

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
_MOST_POINTS, _LONGEST = 1000, 28


def svg(name: str, draw: Callable[..., None], *data: Any) -> str:
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


def scores(ax: Any, names: Sequence[str], scores: Sequence[Sequence[float]], measure: str) -> None:
    """A dot for each split, and a bar at their mean; the first name is the model's."""
    ax.figure.set_figheight(0.8 + 0.38 * len(names))
    for k, values in enumerate(scores):
        colour = _SOFT if k else _ACCENT
        ax.plot(values, [k] * len(values), "o", color=colour, alpha=0.45, ms=5, mew=0)
        ax.plot([np.mean(values)], [k], "|", color=colour, ms=18, mew=3)
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel=measure, ylim=(len(names) - 0.5, -0.5))
    ax.grid(axis="x", linewidth=0.6)


def calibration(ax: Any, points: Sequence[tuple[float, float, int]], x: str, y: str) -> None:
    """Predicted against observed frequencies; on the diagonal the two agree."""
    ax.plot([0, 1], [0, 1], color=_SOFT, linewidth=1, linestyle=(0, (4, 3)))
    said, found, _ = zip(*points, strict=True)
    ax.plot(said, found, "o-", color=_ACCENT, ms=5, linewidth=1.6)
    low = max(0.0, min(*said, *found) - 0.05)
    ax.set(xlim=(low, 1.02), ylim=(low, 1.02), xlabel=x, ylabel=y)
    ax.grid(linewidth=0.6)


def residuals(ax: Any, truth: np.ndarray, found: np.ndarray, target: str) -> None:
    """Errors by prediction, of at most a thousand random rows."""
    some = np.random.default_rng(0).permutation(len(truth))[:_MOST_POINTS]
    ax.axhline(0, color=_SOFT, linewidth=1)
    ax.plot(found[some], (truth - found)[some], "o", color=_ACCENT, alpha=0.4, ms=3.5, mew=0)
    ax.set(xlabel=f"prediction of {_short(target)}", ylabel="true value − prediction")
    ax.grid(linewidth=0.6)


def importance(ax: Any, columns: Sequence[tuple[str, float]], measure: str) -> None:
    """How much is lost without each column."""
    ax.figure.set_figheight(0.8 + 0.3 * len(columns))
    names, losses = zip(*columns, strict=True)
    ax.barh(range(len(names)), losses, color=_ACCENT, height=0.62)
    ax.set_yticks(range(len(names)), [_short(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlabel(f"loss of {measure} without the column")
    ax.grid(axis="x", linewidth=0.6)
    ax.set_axisbelow(True)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
