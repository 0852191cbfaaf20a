"""How many figures of a paper are reached: by three rules, as printed and as we read it."""

from collections.abc import Iterator
from typing import Any

from papers.judging import RULES

# As the paper prints it, and as we read it where that is not what it prints.
READINGS = ("printed", "read")
Table = dict[str, Any]
Counts = dict[str, Any]


def cells(tables: list[Table]) -> Iterator[tuple[Table, dict, str, dict, dict]]:
    """Table, row, column, measure and, by reading, the cell of every figure that is judged.

    These are the figures of the proposed methods whose data can be had. A cell is None where there
    is no such column or no run.
    """
    for table in tables:
        printed = {m["reads"]: m["name"] for m in table["methods"] if m["reads"]}
        proposed = [m["name"] for m in table["methods"] if m["role"] == "proposed"]
        for row in (row for row in table["rows"] if not row["absent"]):
            for name in proposed:
                for measure in (m for m in table["measures"] if m["judged"]):
                    own = _cell(row, name, measure)
                    if own and own["paper"] is not None:
                        letter = _cell(row, printed.get(name), measure)
                        found = {"printed": letter, "read": own}
                        yield table, row, name, measure, {r: _run(c) for r, c in found.items()}


def _cell(row: dict[str, Any], column: str | None, measure: dict[str, Any]) -> dict | None:
    return row.get("cells", {}).get(column, {}).get(measure["name"])


def _run(cell: dict | None) -> dict | None:
    return cell if cell and cell["count"] else None


def counts(tables: list[Table], paper: int) -> Counts:
    """For each reading and rule, how many figures are reached, and of how many.

    The strict rule counts every figure, and one without a run as not reached; the others count
    those that they can judge.
    """
    found: Counts = {reading: {rule: [0, 0] for rule in RULES} for reading in READINGS}
    own = [table for table in tables if table["paper"] == paper]
    for *_, both in cells(own):
        for reading, cell in both.items():
            for rule in RULES:
                said = cell["reached"][rule] if cell else None
                found[reading][rule][0] += said is True
                found[reading][rule][1] += said is not None or rule == "strict"
    return found


def total(by_paper: dict[str, Counts]) -> Counts:
    """The counts of all papers together."""
    return {
        reading: {
            rule: [sum(one[reading][rule][k] for one in by_paper.values()) for k in (0, 1)]
            for rule in RULES
        }
        for reading in READINGS
    }
