"""The tables and figures of a report's page, one measure at a time."""

from html import escape

from papers import wording
from papers.chart import Series, chart
from papers.wording import NOTHING, SYMBOLS, VERDICTS, exact, has

__all__ = ["cells", "points", "seconds"]

WIDE = 6  # columns from which on paper needs a smaller type


def cells(one, measure, name):
    """A measure of a table: rows by methods."""
    letters = wording.letters(one)
    alike = len(wording.counts(one, measure["name"])) < 2
    yield from _open(one, name, _caption(one, measure))
    yield from _head(one, "")
    yield "<tbody>"
    for row in one["rows"]:
        absent = row.get("absent", "")
        mark = f"<small>not run<sup>{letters[absent]}</sup></small>" if absent else ""
        yield f'<tr><th scope="row"><span class="wrap">{escape(row["name"])}</span>{mark}</th>'
        for method, start in _columns(one):
            cell = row.get("cells", {}).get(method["name"], {}).get(measure["name"])
            reason = row.get("why", {}).get(method["name"], "")
            yield _cell(
                cell, letters.get(reason, ""), measure["digits"], alike, _kind(method, start)
            )
        yield "</tr>"
    yield "</tbody>\n</table>\n</div>"


def points(one, measure, name):
    """A measure of a figure: a chart for every row, and its numbers folded below."""
    yield f'<p class="caption">{_caption(one, measure)}</p>\n<div class="charts">'
    for place, row in enumerate(one["rows"]):
        yield from _figure(one, measure, row, f"{name}-{place}")
    yield "</div>"


def seconds(one, name):
    """Mean seconds of a run, folded."""
    if not any(row.get("seconds") for row in one["rows"]):
        return
    yield "<details><summary>Seconds of a run</summary>"
    yield from _open(one, name, f"Mean of the runs, in seconds.{_quick(one)}", "seconds")
    yield from _head(one, "")
    yield "<tbody>"
    for row in one["rows"]:
        yield f'<tr><th scope="row"><span class="wrap">{escape(row["name"])}</span></th>'
        for method, start in _columns(one):
            text = wording.seconds(row.get("seconds", {}).get(method["name"]))
            yield f'<td class="{_kind(method, start)}">{text}</td>'
        yield "</tr>"
    yield "</tbody>\n</table>\n</div>\n</details>"


def _caption(one, measure):
    said = f"{wording.way(measure)}. {wording.runs(one, measure['name'])}."
    return f"<b>{escape(wording.what(measure))}</b> {escape(said)}{_quick(one)}"


def _quick(one):
    said = escape(wording.QUICK)
    return f' <strong class="quick" title="{said}">Quick run</strong>' if one["quick"] else ""


def _open(one, name, caption, label=""):
    wide = " wide" if len(one["methods"]) > WIDE else ""
    said = escape(f"{one['label']} {label}".strip())
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{said}">'
    yield f'<table class="figures{wide}" id="{name}">'
    yield f'<caption><span class="caption">{caption}</span></caption>'


def _head(one, corner):
    """The methods' names, under what they are where some are not the paper's."""
    groups = wording.groups(one)
    yield "<thead>"
    if len(groups) > 1:
        yield "<tr><td></td>"
        for title, methods in groups:
            kind = "" if title == groups[0][0] else " apart start"
            yield f'<th scope="colgroup" class="group{kind}" colspan="{len(methods)}">{title}</th>'
        yield "</tr>"
    yield f'<tr><th scope="col">{escape(corner)}</th>' if corner else "<tr><td></td>"
    for method, start in _columns(one):
        said = "<small>proposed</small>" if method["role"] == "proposed" else ""
        name = f'<span class="wrap">{escape(method["name"])}</span>'
        yield f'<th scope="col" class="{_kind(method, start)}">{said}{name}</th>'
    yield "</tr></thead>"


def _columns(one):
    """Every method, and whether a group of columns starts with it."""
    return [
        (method, place == 0 and number > 0)
        for number, (_, methods) in enumerate(wording.groups(one))
        for place, method in enumerate(methods)
    ]


def _kind(method, start):
    apart = "" if method["role"] in ("proposed", "baseline") else " apart"
    return method["role"] + apart + (" start" if start else "")


def _cell(cell, letter, digits, alike, kind):
    ours = f'<span class="none">{"not run" if letter else NOTHING}</span>'
    ours += f"<sup>{letter}</sup>" if letter else ""
    verdict = ""
    if cell and has(cell["mean"]):
        ours = _spread(wording.ours(cell["mean"], cell["deviation"], cell["count"], digits))
        verdict = cell["verdict"] or ""
    if verdict:
        kind += f" {verdict}"
        said = f'<span class="unseen"> {verdict}</span>'
        ours += f' <b title="{escape(VERDICTS[verdict])}">{SYMBOLS[verdict]}</b>{said}'
    if not alike and cell and has(cell["mean"]):
        ours += f'<small class="runs">n = {cell["count"]}</small>'
    if cell and cell["paper"]:
        papers = _spread(wording.spread(*cell["paper"], digits))
        ours += f'<small><span class="unseen"> paper </span>{papers}</small>'
    return f'<td class="{kind}">{ours}</td>'


def _spread(text):
    """Mean and deviation, which may part on narrow paper but not within themselves."""
    mean, *deviation = text.split(" ± ")
    return f"<span>{mean}</span>" + "".join(f" <span>± {d}</span>" for d in deviation)


def _figure(one, measure, row, name):
    methods = [method for _, group in wording.groups(one) for method in group]
    at = {
        method["name"]: row.get("points", {}).get(method["name"], {}).get(measure["name"], [])
        for method in methods
    }
    missing = _missing(row, at, wording.letters(one))
    yield f"<figure>\n<figcaption><b>{escape(row['name'])}</b>"
    yield f"<small>{missing}</small></figcaption>" if missing else "</figcaption>"
    if not any(at.values()):
        yield "</figure>"
        return
    lines = [
        Series(method["name"], tuple(tuple(p[:3]) for p in at[method["name"]]),
               method["role"] == "proposed")
        for method in methods
    ]  # fmt: skip
    unit = f", {measure['unit']}" if measure["unit"] else ""
    yield chart(
        name,
        lines,
        title=f"{one['label']}, {row['name']}: {measure['title']} by {one['axis']['title']}",
        description=f"A line for each of {', '.join(line.name for line in lines if line.points)}. "
        "The numbers are in the table below.",
        x_title=one["axis"]["title"],
        y_title=measure["title"] + unit,
        scale=one["axis"]["scale"],
        digits=measure["digits"],
    )
    yield from _numbers(one, measure, row, at, name)
    yield "</figure>"


def _missing(row, at, letters):
    """What of a row was not run, each with the letter of its reason."""
    if row.get("absent"):
        return f"Not run<sup>{letters[row['absent']]}</sup>"
    return ", ".join(
        f"{escape(method)} not run<sup>{letters[reason]}</sup>"
        for method, found in at.items()
        if not found and (reason := wording.why(row, method))
    )


def _numbers(one, measure, row, at, name):
    alike = len(wording.counts(one, measure["name"])) < 2
    yield f"<details><summary>Numbers of {escape(row['name'])}</summary>"
    yield from _open(one, name, _caption(one, measure), row["name"])
    yield from _head(one, one["axis"]["title"])
    yield "<tbody>"
    found = {method: {point[0]: point for point in line} for method, line in at.items()}
    for x in sorted({x for line in found.values() for x in line}):
        yield f'<tr><th scope="row">{exact(x)}</th>'
        for method, start in _columns(one):
            point = found[method["name"]].get(x)
            text = f'<span class="none">{NOTHING}</span>'
            if point and has(point[1]):
                text = _spread(wording.ours(*point[1:], measure["digits"]))
                text += "" if alike else f'<small class="runs">n = {point[3]}</small>'
            yield f'<td class="{_kind(method, start)}">{text}</td>'
        yield "</tr>"
    yield "</tbody>\n</table>\n</div>\n</details>"
