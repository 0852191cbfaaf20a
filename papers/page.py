"""The report of a reproduction as one HTML page that needs nothing beside itself."""

import re
from html import escape
from importlib import resources
from typing import Any

from papers import wording
from papers.grids import cells, points, seconds
from papers.wording import NOTHING, SYMBOLS

__all__ = ["page"]


def page(results: dict[str, Any]) -> str:
    """The whole report: what was run, the summary, and every table and figure.

    Parameters
    ----------
    results : dict
        The summary of the runs.

    Returns
    -------
    text : str
        HTML 5 with its style sheet inside, no script, and no address of anything outside.
    """
    made = results["made"]
    style = resources.files("papers").joinpath("report.css").read_text(encoding="utf-8")
    title = "The papers’ tables, run again"
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{title}{' (quick)' if made['quick'] else ''}</title>",
        f"<style>\n{style}</style>\n</head>\n<body>",
        f'<header>\n<p class="kind">Ulmus {escape(made["ulmus"])}</p>\n<h1>{title}</h1>',
        f'<p class="quick">{escape(wording.QUICK)}.</p>' if made["quick"] else "",
        _facts(made),
        "</header>\n<main>",
        *_summary(results),
        *(part for key in results["papers"] for part in _paper(key, results)),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _facts(made):
    facts = wording.run_facts(made)
    lines = [f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in facts]
    return "\n".join(['<dl class="facts">', *lines, "</dl>"])


def _summary(results):
    yield '<section aria-labelledby="summary">\n<h2 id="summary">Summary</h2>'
    yield "<p>Cells of the methods that each paper proposes, held against its own figures.</p>"
    yield _box("totals", "Cells that match their paper", _totals(results))
    yield _legend()
    if results["orderings"]:
        yield "<p>Who is ahead of whom, where a paper claims it:</p>"
        yield _box("orderings", "Orderings that the papers claim", _orderings(results))
    yield "</section>"


def _totals(results):
    heads = [f"{SYMBOLS[key]} {key}" for key in SYMBOLS] + ["not run", "as good or better"]
    yield '<thead><tr><th scope="col">Paper</th>'
    yield "".join(f'<th scope="col">{head}</th>' for head in heads)
    yield '<th scope="col" class="text">Tables and figures</th></tr></thead>\n<tbody>'
    for key, totals in results["totals"].items():
        paper = results["papers"][key]
        links = ", ".join(
            f'<a href="#{_anchor(one)}">{escape(one["label"])}</a>'
            for one in results["tables"]
            if str(one["paper"]) == key
        )
        yield f'<tr><th scope="row"><span class="wrap"><b>{escape(wording.cited(paper))}</b>'
        yield f'<small class="title">{escape(paper["title"])}</small></span></th>'
        yield "".join(f"<td>{totals[kind]}</td>" for kind in (*SYMBOLS, "missing"))
        yield f"<td>{_shares(totals)}<b>{wording.share(totals)}</b></td>"
        yield f'<td class="text"><span class="wrap">{links or NOTHING}</span></td></tr>'
    yield "</tbody>"


def _shares(totals):
    """A bar of the three verdicts; the numbers beside it say the same."""
    run = sum(totals[kind] for kind in SYMBOLS)
    parts = (f'<i class="{kind}" style="flex-grow:{totals[kind]}"></i>' for kind in SYMBOLS)
    return f'<span class="shares" aria-hidden="true">{"".join(parts)}</span>' if run else ""


def _orderings(results):
    labels = {one["name"]: one for one in results["tables"]}
    yield '<thead><tr><th scope="col">Claim</th><th scope="col">Holds in</th>'
    yield '<th scope="col" class="text">Not for</th><th scope="col" class="text">Where</th></tr>'
    yield "</thead>\n<tbody>"
    for one in results["orderings"]:
        where = labels.get(one["table"])
        link = escape(one["table"])
        if where:
            said = f"{where['label']}, {wording.cited(results['papers'][str(where['paper'])])}"
            link = f'<a href="#{_anchor(where)}">{escape(said)}</a>'
        whole = one["of"] and one["holds"] == one["of"]
        mark = f"{SYMBOLS['match']} " if whole else ""
        yield f'<tr><th scope="row"><span class="wrap">{escape(one["claim"])}</span></th>'
        yield f"<td>{mark}{one['holds']} of {one['of']}</td>"
        where_not = escape("; ".join(one["where_not"])) or NOTHING
        yield f'<td class="text"><span class="wrap">{where_not}</span></td>'
        yield f'<td class="text">{link}</td></tr>'
    yield "</tbody>"


def _legend():
    verdicts = "".join(
        f'<li><b class="{key}">{SYMBOLS[key]}</b> {escape(text)}</li>'
        for key, text in wording.VERDICTS.items()
    )
    return (
        '<div class="legend"><p>In the tables, our mean ± standard deviation; below it, small, '
        "what the paper prints.</p>"
        f"<ul>{verdicts}</ul></div>"
    )


def _box(name, label, rows, kind="scroll"):
    """A table in a box of its own, that scrolls sideways where the page is narrow."""
    return "\n".join([
        f'<div class="{kind}" role="region" tabindex="0" aria-label="{escape(label)}">',
        f'<table id="{name}">\n<caption class="unseen">{escape(label)}</caption>',
        *rows, "</table>\n</div>",
    ])  # fmt: skip


def _paper(key, results):
    tables = [one for one in results["tables"] if str(one["paper"]) == key]
    if not tables:
        return
    paper = results["papers"][key]
    yield f'<section class="paper" aria-labelledby="paper-{_slug(key)}">'
    yield f'<h2 id="paper-{_slug(key)}">{escape(paper["title"])}</h2>'
    yield f'<p class="kind">{escape(paper["authors"])}, {paper["year"]}</p>'
    for one in tables:
        yield from _table(one)
    yield "</section>"


def _table(one):
    anchor = _anchor(one)
    yield f'<article id="{anchor}" aria-labelledby="{anchor}-head">'
    yield f'<h3 id="{anchor}-head"><span>{escape(one["label"])}</span> {escape(one["title"])}</h3>'
    for text in wording.paragraphs(one["about"]):
        yield f"<p>{escape(text)}</p>"
    for measure in one["measures"]:
        name = f"{anchor}-{_slug(measure['name'])}"
        yield from (cells if one["axis"] is None else points)(one, measure, name)
    yield from _notes(one)
    yield from seconds(one, f"{anchor}-seconds")
    yield '<p class="up"><a href="#summary">↑ Summary</a></p>\n</article>'


def _notes(one):
    methods = [method for _, group in wording.groups(one) for method in group if method["note"]]
    notes = [
        f"<li><b>{escape(method['name'])}</b>, {escape(wording.ROLES[method['role']])}: "
        f"{escape(method['note'])}</li>"
        for method in methods
    ]
    notes += [
        f"<li><sup>{letter}</sup> Not run: {escape(reason)}</li>"
        for reason, letter in wording.letters(one).items()
    ]
    return ['<ul class="notes">', *notes, "</ul>"] if notes else []


def _anchor(one):
    return f"t-{_slug(one['name'])}"


def _slug(text):
    return re.sub(r"[^0-9A-Za-z]+", "-", str(text))
