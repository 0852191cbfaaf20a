"""The report of a reproduction as one HTML page that needs nothing beside itself."""

import re
from pathlib import Path
from typing import Any

from papers import wording
from papers.chart import Series, chart
from papers.counts import total
from ulmus.exceptions import MissingExtraError

try:
    import jinja2
    from markupsafe import Markup
except ImportError as error:
    raise MissingExtraError(
        "The report's page is made by Jinja; in the clone: pip install --editable '.[papers]'."
    ) from error

_ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)
Table = dict[str, Any]
Lines = dict[str, list[list[float]]]


def page(results: dict[str, Any]) -> str:
    """The whole report: what was run, the summary, and every table and figure.

    It is HTML 5 with its style sheet inside, no script, and no address of anything outside.
    """
    shown = (_anchor, _by_paper, _by_place, _columns, _drawing, _lines_of, _not_run, _slug)
    helpers = {function.__name__[1:]: function for function in shown}
    template = _ENVIRONMENT.get_template("report.html.jinja", globals=helpers)
    return template.render(results=results, wording=wording).strip() + "\n"


def _by_paper(results: dict[str, Any]) -> dict[str, Any]:
    """The counts of every paper, and of all together under no name."""
    return results["counts"] | {"": total(results["counts"])}


def _anchor(one: Table) -> str:
    return f"t-{_slug(one['name'])}"


def _slug(text: str) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "-", text)


def _columns(one: Table) -> list[tuple[dict[str, str], str]]:
    """Every method, and the classes of its column."""
    return [
        (
            method,
            method["role"] + (" apart" if group else "") + (" start" if group and not k else ""),
        )
        for group, (_, methods) in enumerate(wording.groups(one))
        for k, method in enumerate(methods)
    ]


def _lines_of(one: Table, measure: dict[str, Any], row: dict[str, Any]) -> Lines:
    """The points of every method, none where it was not run."""
    return {
        method["name"]: row.get("points", {}).get(method["name"], {}).get(measure["name"], [])
        for method, _ in _columns(one)
    }


def _by_place(lines: Lines) -> list[tuple[float, dict[str, list[float] | None]]]:
    """For every x, the point of each line that has one there."""
    found = {name: {point[0]: point for point in line} for name, line in lines.items()}
    places = sorted({x for line in found.values() for x in line})
    return [(x, {name: line.get(x) for name, line in found.items()}) for x in places]


def _not_run(row: dict[str, Any], lines: Lines) -> list[tuple[str, str]]:
    """What of a figure was not run, and why; no name stands for all of it."""
    if row.get("absent"):
        return [("", row["absent"])]
    return [
        (name, reason)
        for name, line in lines.items()
        if not line and (reason := wording.why(row, name))
    ]


def _drawing(
    one: Table, measure: dict[str, Any], row: dict[str, Any], lines: Lines, name: str
) -> Markup:
    series = [
        Series(method["name"], tuple(tuple(p[:3]) for p in lines[method["name"]]),
               method["role"] == "proposed")
        for method, _ in _columns(one)
    ]  # fmt: skip
    unit = f", {measure['unit']}" if measure["unit"] else ""
    svg = chart(
        name,
        series,
        title=f"{one['label']}, {row['name']}: {measure['title']} by {one['axis']['title']}",
        description=f"A line for each of {', '.join(line.name for line in series if line.points)}. "
        "The numbers are in the table below.",
        x_title=one["axis"]["title"],
        y_title=measure["title"] + unit,
        scale=one["axis"]["scale"],
        digits=measure["digits"],
    )
    return Markup(svg)
