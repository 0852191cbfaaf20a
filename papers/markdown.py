"""The report of a reproduction as Markdown."""

import re
from typing import Any

from papers import wording
from papers.counts import total
from papers.judging import RULES
from papers.wording import NOTHING, SYMBOLS, exact, has, spread


def markdown(results: dict[str, Any]) -> str:
    """The whole report: what was run, the summary, and every table and figure in numbers."""
    made = results["made"]
    parts = ["# The papers’ tables, run again" + (" (quick)" if made["quick"] else "")]
    parts.append("\n".join(f"- {name}: {plain(text)}" for name, text in wording.run_facts(made)))
    parts += ["## Summary", summary(results)]
    for key, paper in results["papers"].items():
        tables = [one for one in results["tables"] if str(one["paper"]) == key]
        if tables:
            parts.append(f"## {plain(paper['title'])}")
            parts.append(f"{plain(paper['authors'])}, {paper['year']}")
        for one in tables:
            parts += [f"### {plain(one['label'])}: {plain(one['title'])}", table(one)]
    return "\n\n".join(parts) + "\n"


def summary(results: dict[str, Any]) -> str:
    """How many cells match in each paper, and which of its orderings hold."""
    parts = ["What is not reached, by the strict rule and the paper to the letter:"]
    for key in results["papers"]:
        parts.append(misses(results, int(key)))
    parts.append(wording.STAR)
    by_paper = results["counts"] | {"": total(results["counts"])}
    titles = {key: plain(paper["title"]) for key, paper in results["papers"].items()}
    for reading, about in wording.READINGS.items():
        rows = [
            [titles.get(key, "all"), *(wording.share(one[reading][rule]) for rule in RULES)]
            for key, one in by_paper.items()
        ]
        parts += [f"Figures reached, {reading}: {about}.", _grid(["", *RULES], rows)]
    parts.append("\n".join(f"- {rule}: {text}" for rule, text in wording.RULES.items()))
    parts.append("\n".join(f"- {SYMBOLS[key]} {text}" for key, text in wording.VERDICTS.items()))
    if results["orderings"]:
        labels = {
            one["name"]: f"{one['label']}, {wording.cited(results['papers'][str(one['paper'])])}"
            for one in results["tables"]
        }
        claims = [
            [plain(labels.get(one["table"], one["table"])), plain(one["claim"]),
             f"{one['holds']} of {one['of']}", plain("; ".join(one["where_not"])) or NOTHING]
            for one in results["orderings"]
        ]  # fmt: skip
        parts.append("Orderings that the papers claim:")
        parts.append(_grid(["Where", "Claim", "Holds in", "Not for"], claims, texts=4))
    return "\n\n".join(parts)


def misses(results: dict[str, Any], paper: int) -> str:
    """The figures of a paper that are not reached by the strict rule as printed, by table."""
    cited = plain(wording.cited(results["papers"][str(paper)]))
    lines = [
        f"- {plain(one['label'])}, {cited}, {len(texts)} of {of}: {plain('; '.join(texts))}"
        for one, of, texts in wording.missed(results, str(paper))
    ]
    return "\n".join(lines) or "None."


def table(results_table: dict[str, Any]) -> str:
    """One table or figure: what it is, a grid of numbers for each measure, and the notes.

    Ours as mean ± deviation with a symbol, then the paper's in brackets. Proposed methods have bold
    names, methods that the paper lacks slanted ones.
    """
    parts = [plain(text) for text in wording.paragraphs(results_table["about"])]
    figure = results_table["axis"] is not None
    for measure in results_table["measures"]:
        said = [wording.what(measure), wording.way(measure)]
        said.append(wording.runs(results_table, measure["name"]))
        if results_table["quick"]:
            said.append(wording.QUICK)
        parts.append(plain(". ".join(said)) + ".")
        parts += (_points if figure else _cells)(results_table, measure)
    notes = [
        f"- {plain(method['name'])}: {plain(wording.ROLES[method['role']])}"
        + (f". {plain(method['note'])}" if method["note"] else "")
        for method in _methods(results_table)
        if method["note"] or method["role"] != "baseline"
    ]
    notes += [f"- {key}: {plain(text)}" for text, key in wording.letters(results_table).items()]
    if notes:
        parts.append("\n".join(notes))
    return "\n\n".join([*parts, *_seconds(results_table)])


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|#~$])", r"\\\1", " ".join(text.split()))


def _methods(one):
    return [method for _, methods in wording.groups(one) for method in methods]


def _heads(one):
    mark = {"proposed": "**", "literal": "**", "automatic": "*", "alternative": "*"}
    return [
        f"{mark.get(m['role'], '')}{plain(m['name'])}{mark.get(m['role'], '')}"
        for m in _methods(one)
    ]


def _cells(one, measure):
    letters = wording.letters(one)
    alike = len(wording.counts(one, measure["name"])) < 2
    rows = []
    for row in one["rows"]:
        cells = [_cell(row, method["name"], measure, letters, alike) for method in _methods(one)]
        rows.append([plain(row["name"]), *cells])
    return [_grid(["", *_heads(one)], rows)]


def _cell(row, method, measure, letters, alike):
    cell = row.get("cells", {}).get(method, {}).get(measure["name"])
    reason = wording.why(row, method)
    ours = f"not run ({letters[reason]})" if reason else NOTHING
    if cell and has(cell["mean"]):
        ours = wording.ours(cell["mean"], cell["deviation"], cell["count"], measure["digits"])
        ours += "" if alike else f", n = {cell['count']}"
        ours += f" {SYMBOLS[cell['verdict']]}" if cell["verdict"] else ""
    if cell and cell["paper"]:
        ours += f" ({spread(*cell['paper'], measure['digits'])})"
    return ours


def _points(one, measure):
    letters = wording.letters(one)
    alike = len(wording.counts(one, measure["name"])) < 2
    parts = []
    for row in one["rows"]:
        lines = {method: at[measure["name"]] for method, at in row.get("points", {}).items()
                 if measure["name"] in at}  # fmt: skip
        missing = [
            f"{plain(method['name'])} not run ({letters[reason]})"
            for method in _methods(one)
            if (reason := wording.why(row, method["name"])) and method["name"] not in lines
        ]
        parts.append(f"{plain(row['name'])}" + (f": {', '.join(missing)}" if missing else ""))
        at = {m: {point[0]: point for point in points} for m, points in lines.items()}
        grid = []
        for x in sorted({x for points in at.values() for x in points}):
            found = [at.get(m["name"], {}).get(x) for m in _methods(one)]
            texts = [_point(point, measure["digits"], alike) for point in found]
            grid.append([exact(x), *texts])
        if grid:
            parts.append(_grid([plain(one["axis"]["title"]), *_heads(one)], grid))
    return parts


def _point(point, digits, alike):
    if point is None or not has(point[1]):
        return NOTHING
    return wording.ours(*point[1:], digits) + ("" if alike else f", n = {point[3]}")


def _seconds(one):
    if not any(row.get("seconds") for row in one["rows"]):
        return []
    rows = [
        [plain(row["name"])]
        + [wording.seconds(row.get("seconds", {}).get(m["name"])) for m in _methods(one)]
        for row in one["rows"]
    ]
    return ["Seconds of a run, mean.", _grid(["", *_heads(one)], rows)]


def _grid(heads, rows, texts=1):
    """Rows under heads; the first columns are texts, the others numbers, to the right."""
    rule = ["---"] * texts + ["---:"] * (len(heads) - texts)
    lines = ["| " + " | ".join(line) + " |" for line in (heads, rule)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
