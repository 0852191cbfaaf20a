"""Lines of runs become tables: means beside the paper's, and what to say of each."""

import datetime
import statistics
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from papers.counts import counts
from papers.judging import lenient, strict, welch
from papers.protocol import Measure, Protocol, Row
from ulmus.machine import machine
from ulmus.version import __version__

PAPERS = {
    0: {
        "title": "Semi-supervised and unsupervised extreme learning machines",
        "authors": "Huang, Song, Gupta, Wu",
        "year": 2014,
    },
    1: {
        "title": "Clustering in extreme learning machine feature space",
        "authors": "He, Jin, Du, Zhuang, Shi",
        "year": 2013,
    },
    2: {"title": "A randomized ELM speedup algorithm", "authors": "Men, Wang", "year": 2015},
    3: {
        "title": "On the kernel extreme learning machine classifier",
        "authors": "Iosifidis, Tefas, Pitas",
        "year": 2015,
    },
    4: {
        "title": "Regularized manifold information extreme learning machine",
        "authors": "Liu, Chu, Yan",
        "year": 2016,
    },
}

Table = dict[str, Any]

_SHOWN = ("name", "title", "unit", "better", "digits", "judged")


def results(
    protocols: Iterable[Protocol],
    lines: dict[str, list[dict[str, Any]]],
    why: dict[tuple[str, str, str], str],
    *,
    quick: bool,
    jobs: int,
) -> dict[str, Any]:
    """Everything the report shows, as plain values ready for JSON.

    ``lines`` are the runs of each table, as the store keeps them; ``why`` says for a table, a row
    and a method why there is no cell.
    """
    tables = [_table(protocol, lines[protocol.name], why, quick) for protocol in protocols]
    every = [line for table in lines.values() for line in table]
    made = {
        "date": datetime.date.today().isoformat(),
        "ulmus": __version__,
        "quick": quick,
        "jobs": jobs,
        "runs": len(every),
        "seconds": sum(line["whole_seconds"] for line in every),
        "peak_mb": max((line["peak_mb"] for line in every), default=0.0),
        "machine": machine(),
        "processors": sorted({line["machine"] for line in every}),
    }
    shown = sorted({table["paper"] for table in tables})
    papers = {str(number): PAPERS[number] for number in shown}
    return {
        "made": made,
        "papers": papers,
        "counts": {number: counts(tables, int(number)) for number in papers},
        "orderings": [found for table in tables for found in _orderings(table)],
        "tables": tables,
    }


def _table(protocol: Protocol, lines: list, why: dict, quick: bool) -> Table:
    runs = defaultdict(list)
    for line in lines:
        runs[line["row"], line["method"]].append(line)
    named = {method for row in protocol.rows for method in row.paper}
    named |= {method for _, method in runs}
    named |= {method for table, _, method in why if table == protocol.name}
    shown = [method for method in protocol.methods if method.name in named]
    axis = protocol.axis
    repetitions = protocol.repetitions
    return {
        "name": protocol.name,
        "paper": protocol.paper,
        "label": protocol.label,
        "title": protocol.title,
        "about": protocol.about.strip(),
        "quick": quick,
        "asked": protocol.quick.get("repetitions", repetitions) if quick else repetitions,
        "axis": axis and {"name": axis.name, "title": axis.title, "scale": axis.scale},
        "measures": [
            {key: getattr(measure, key) for key in _SHOWN} for measure in protocol.measures
        ],
        "methods": [
            {"name": m.name, "role": m.role, "reads": m.reads, "note": m.note} for m in shown
        ],
        "rows": [
            _row(protocol, row, {m.name: runs[row.name, m.name] for m in shown}, why, quick)
            for row in protocol.rows
        ],
    }  # fmt: skip


def _row(
    protocol: Protocol, row: Row, runs: dict[str, list], why: dict, quick: bool
) -> dict[str, Any]:
    found: dict[str, Any] = {"name": row.name, "absent": row.absent}
    found["seconds"] = {
        method: statistics.fmean(line["seconds"] for line in lines)
        for method, lines in runs.items()
        if lines
    }
    found["why"] = {
        method: reason
        for method, lines in runs.items()
        if not lines and (reason := _reason(protocol, row, method, why, quick))
    }
    if protocol.axis is None:
        found["cells"] = {}
        stated = {m.name: row.paper.get(m.reads or m.name, {}) for m in protocol.methods}
        for method, lines in runs.items():
            cells = {
                measure.name: _cell(
                    protocol, measure, _over(measure, lines, runs), stated[method], row.drawn
                )
                for measure in protocol.measures
            }
            if kept := {name: cell for name, cell in cells.items() if cell}:
                found["cells"][method] = kept
    else:
        found["points"] = {
            method: {m.name: _points(m, lines) for m in protocol.measures}
            for method, lines in runs.items()
            if lines
        }
    return found


def _over(measure: Measure, lines: list, runs: dict[str, list]) -> list:
    """The lines, or one with the quotient of two methods' mean seconds where that is measured."""
    other = runs.get(measure.over, [])
    if not measure.over or not lines or not other or lines is other:
        return [] if measure.over else lines
    mean = [statistics.fmean(line["seconds"] for line in each) for each in (other, lines)]
    return [lines[0] | {"measures": {measure.name: mean[0] / mean[1]}}]


def _reason(protocol: Protocol, row: Row, method: str, why: dict, quick: bool) -> str:
    """Why there is no cell, as far as it is known."""
    if (protocol.name, row.name, method) in why:
        return why[protocol.name, row.name, method]
    brief = row.quick and all(m.quick for m in protocol.methods if m.name == method)
    if quick and not brief and not row.absent and method not in row.skip:
        return "Left out of the short form, for its time."
    return ""


def _cell(
    protocol: Protocol, measure: Measure, lines: list, paper: dict[str, Any], drawn: bool
) -> dict[str, Any] | None:
    stated = paper.get(measure.name)
    if stated is not None and not isinstance(stated, list):
        stated = [stated, None]
    values = _values(measure, lines)
    if not values:
        if stated is None:
            return None
        return {"mean": None, "deviation": None, "count": 0, "paper": stated, "verdict": None}
    mean, deviation = _statistic(measure, values)
    cell = {"mean": mean, "deviation": deviation, "count": len(lines), "paper": stated}
    cell["values"] = len(values)
    cell["verdict"] = None
    if stated is not None and measure.judged:
        tolerance = _tolerance(measure, values, stated[1], paper, drawn)
        if tolerance is not None:
            cell["verdict"] = lenient(mean, stated[0], tolerance, measure)
        cell["reached"] = _reached(protocol, measure, lines, stated, cell["verdict"])
    return cell


def _tolerance(
    measure: Measure, values: list, printed: float | None, paper: dict[str, Any], drawn: bool
) -> float | None:
    """The lenient rule's: the paper's deviation, or ours where it has none or the split is ours."""
    if printed is None and measure.of:  # the best of runs whose mean has a deviation
        whole = paper.get(measure.of)
        printed = whole[1] if isinstance(whole, list) else None
    if (printed is None or drawn) and len(values) > 1:
        return max(printed or 0.0, statistics.pstdev(values))
    return printed


def _reached(
    protocol: Protocol, measure: Measure, lines: list, stated: list, verdict: str | None
) -> dict[str, bool | None]:
    """What the three rules say; the first two have no more runs than the paper."""
    values = _values(measure, [x for x in lines if x["repetition"] < protocol.repetitions])
    trials = protocol.trials or protocol.repetitions
    tested = None if measure.of else welch(values, *stated, trials, measure)
    return {
        "strict": strict(_statistic(measure, values)[0], *stated, measure),
        "welch": tested,
        "lenient": None if verdict is None else verdict != "worse",
    }


def _values(measure: Measure, lines: list) -> list[float]:
    """All values of a measure; a run may have given several."""
    name = measure.of or measure.name
    found = [line["seconds"] if name == "seconds" else line["measures"].get(name) for line in lines]
    return [
        v for value in found if value is not None
        for v in (value if isinstance(value, list) else [value])
    ]  # fmt: skip


def _statistic(measure: Measure, values: list[float]) -> tuple[float, float | None]:
    if measure.statistic == "best":
        return (max if measure.better == "higher" else min)(values), None
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None


def _points(measure: Measure, lines: list) -> list[list[float | None]]:
    by_x = defaultdict(list)
    for line in lines:
        by_x[line["x"]].append(line)
    points = []
    for x in sorted(by_x):
        if values := _values(measure, by_x[x]):
            points.append([x, *_statistic(measure, values), len(by_x[x])])
    return points


def _orderings(table: Table) -> Iterable[dict[str, Any]]:
    """Where the paper has its method ahead of another, whether it is so here."""
    roles = {m["name"]: m["role"] for m in table["methods"]}
    for proposed in (name for name, role in roles.items() if role == "proposed"):
        for other in (name for name, role in roles.items() if role == "baseline"):
            holds, where_not = 0, []
            for row in table["rows"]:
                for measure in table["measures"]:
                    pair = [_of(row, name, measure["name"]) for name in (proposed, other)]
                    if any(cell is None or not cell["paper"] for cell in pair):
                        continue
                    sign = 1 if measure["better"] == "higher" else -1
                    ours = sign * (pair[0]["mean"] - pair[1]["mean"])
                    theirs = sign * (pair[0]["paper"][0] - pair[1]["paper"][0])
                    if theirs > 0:
                        holds += ours >= 0
                        if ours < 0:
                            where_not.append(f"{row['name']}, {measure['title']}")
            if holds or where_not:
                yield {
                    "table": table["name"],
                    "claim": f"{proposed} ahead of {other}",
                    "holds": holds,
                    "of": holds + len(where_not),
                    "where_not": where_not,
                }


def _of(row: dict[str, Any], method: str, measure: str) -> dict[str, Any] | None:
    cell = row.get("cells", {}).get(method, {}).get(measure)
    return cell if cell and cell["mean"] is not None else None
