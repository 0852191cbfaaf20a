"""The report: every number is in it, nothing of it leaves the page, and it reads on a phone."""

import copy
import json
import re
import shutil
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest

from papers.markdown import markdown, misses, table
from papers.page import page

HOSTILE = '<script>alert("1")</script> & \'|*_'
VOID = {"meta"}


def measure(name, **other):
    stated = {"title": f"title of {name}", "unit": "%", "better": "lower", "digits": 2}
    return {"name": name, "judged": True} | stated | other


def cell(mean=None, deviation=None, count=0, paper=None, verdict=None):
    good = verdict != "worse"
    return {
        "reached": {"strict": good, "welch": good, "lenient": good},
        "mean": mean,
        "deviation": deviation,
        "count": count,
        "paper": paper,
        "verdict": verdict,
    }


def make_results(quick=False):
    methods = [
        {"name": "ELM", "role": "baseline", "reads": "", "note": ""},
        {"name": HOSTILE, "role": "proposed", "reads": "", "note": HOSTILE},
        {"name": "by loo", "role": "automatic", "reads": "", "note": "C by leave-one-out"},
        {"name": "boosting", "role": "alternative", "reads": "", "note": ""},
    ]
    rows = [
        {
            "name": HOSTILE,
            "absent": "",
            "cells": {
                "ELM": {"error": cell(11.25, 0.5, 12, [11.5, 1.25], "match")},
                HOSTILE: {"error": cell(7.125, 0.25, 3, [9.5, None], "better")},
                "by loo": {"error": cell(-3.5, None, 12)},
            },
            "seconds": {"ELM": 0.125, HOSTILE: 321.4},
            "why": {"boosting": f"needs torch {HOSTILE}"},
        },
        {
            "name": "second",
            "absent": "",
            "cells": {"ELM": {"error": cell(88.0, 0.75, 12, [80.0, 1.5], "worse")}},
            "seconds": {},
            "why": {},
        },
        {
            "name": "third",
            "absent": "its file is not here",
            "cells": {"ELM": {"error": cell(paper=[66.5, 0.125])}},
            "seconds": {},
            "why": {},
        },
    ]
    lines = {
        "ELM": {"rate": [[1e-6, 71.5, 0.5, 5], [1.0, None, None, 0], [1e6, 73.5, 0.25, 5]]},
        HOSTILE: {"rate": [[0.0, 61.5, 0.5, 5], [1.0, 62.5, None, 5]]},
    }
    grids = [
        {
            "name": "0-table-2", "paper": 0, "label": "Table II", "title": HOSTILE,
            "about": f"First.\n\nSecond {HOSTILE}.", "axis": None, "asked": 12, "rows": rows,
            "measures": [measure("error")],
        },
        {
            "name": "0-figure-1", "paper": 0, "label": f"Figure {HOSTILE}", "title": "A figure",
            "about": "", "axis": {"name": "C", "title": f"C {HOSTILE}", "scale": "log"}, "asked": 5,
            "measures": [measure("rate", better="higher", judged=False)],
            "rows": [
                {"name": "first", "absent": "", "points": lines, "seconds": {"ELM": 1.5},
                 "why": {"boosting": "too slow"}},
                {"name": "none", "absent": "its file is not here", "points": {}, "seconds": {},
                 "why": {}},
            ],
        },
    ]  # fmt: skip
    machine = {
        "processor": "a fast one", "cores": 2, "memory_gb": 23.4, "system": "Linux", "torch": None,
        "python": "3.11.7", "numpy": "2.3.1", "scipy": "1.16.0", "scikit_learn": "1.9.0",
    }  # fmt: skip
    return {
        "made": {"date": "2026-11-15", "ulmus": "0.4.0", "quick": quick, "jobs": 2, "runs": 123,
                 "seconds": 45000.0, "peak_mb": 812, "machine": machine},
        "papers": {"0": {"title": HOSTILE, "authors": "Huang, Song", "year": 2014},
                   "3": {"title": "Another", "authors": "Iosifidis", "year": 2015}},
        "counts": {"0": {reading: {"strict": [9, 17], "welch": [2, 4], "lenient": [5, 8]}
                         for reading in ("printed", "read")},
                   "3": {reading: {"strict": [0, 0], "welch": [0, 0], "lenient": [0, 0]}
                         for reading in ("printed", "read")}},
        "orderings": [{"table": "0-table-2", "claim": f"below {HOSTILE}", "holds": 9, "of": 10,
                       "where_not": [HOSTILE]}],
        "tables": [dict(one, methods=methods, quick=quick) for one in grids],
    }  # fmt: skip


class Document(HTMLParser):
    """What a page holds; fails where an element is closed that is not open."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} states an attribute twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


NUMBERS = [
    "11.25 ± 0.50", "11.50 ± 1.25", "7.12 ± 0.25", "9.50", "−3.50", "88.00 ± 0.75", "80.00 ± 1.50",
    "66.50 ± 0.12", "0.125", "321", "71.50 ± 0.50", "73.50 ± 0.25", "61.50 ± 0.50", "62.50", "10⁻⁶",
    "10⁶", "9 of 10", "9 of 17 (53 %)", "2 of 4 (50 %)", "12.5 hours", "123 runs",
    "812 MB", "2026-11-15", "23.4 GB",
    "3.11.7", "1.16.0",
]  # fmt: skip


@pytest.mark.parametrize("quick", [False, True])
def test_the_page_is_well_formed_and_says_every_number(quick):
    document = Document(page(make_results(quick)))
    # Mean and deviation are two elements, which the parser sets apart by the blank of the text.
    for number in NUMBERS:
        assert number in document.text, number
    for symbol in "✓▲▼":
        assert symbol in document.text
    assert document.all("html") == [{"lang": "en"}]
    assert any(meta.get("name") == "viewport" for meta in document.all("meta"))


def test_the_page_says_why_something_was_not_run():
    text = Document(page(make_results())).text
    assert f"needs torch {HOSTILE}" in text
    assert "its file is not here" in text
    assert "too slow" in text


def test_names_are_text_and_never_elements():
    text = page(make_results())
    document = Document(text)
    assert HOSTILE in document.text
    assert "<script" not in text.lower()
    assert not any(name.startswith("on") for _, attrs in document.elements for name in attrs)


def test_the_page_asks_for_nothing_outside():
    text = page(make_results())
    document = Document(text)
    assert not re.search(r"https?:|//|url\(|@import|javascript:", text)
    for _, attrs in document.elements:
        assert "src" not in attrs
        assert attrs.get("href", "#").startswith("#")


def test_every_link_and_label_leads_somewhere_and_no_id_comes_twice():
    document = Document(page(make_results()))
    ids = [attrs["id"] for _, attrs in document.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    wanted = [attrs["href"][1:] for attrs in document.all("a")]
    for _, attrs in document.elements:
        wanted += attrs.get("aria-labelledby", "").split()
    assert wanted
    assert set(wanted) <= set(ids)


def test_every_table_has_a_caption_and_every_head_a_scope():
    document = Document(page(make_results()))
    tags = [tag for tag, _ in document.elements]
    places = [place for place, tag in enumerate(tags) if tag == "table"]
    assert len(places) >= 5
    assert all(tags[place + 1] == "caption" for place in places)
    assert all(head.get("scope") in ("col", "row", "colgroup") for head in document.all("th"))


def test_a_quick_run_is_named_in_the_header_and_on_every_table():
    text = page(make_results(quick=True))
    grids = re.findall(r'<table class="figures.*?</caption>', text, re.S)
    assert len(grids) >= 4
    assert all("Quick run" in grid for grid in grids)
    assert "Quick run" in text.split("</header>")[0]
    assert "quick run" not in Document(page(make_results())).text.lower()
    for one in make_results(quick=True)["tables"]:
        assert "Quick run" in table(one)
    assert "(quick)" in markdown(make_results(quick=True)).splitlines()[0]


def test_runs_are_counted_once_where_alike_and_in_the_cells_where_not():
    results = make_results()
    assert "n = 3" in Document(page(results)).text
    assert "n = 3" in markdown(results)
    for row in results["tables"][0]["rows"]:
        for cells in row["cells"].values():
            cells["error"]["count"] = 7
    assert "n = 7" not in page(results)
    assert "7 runs each, 12 asked for" in Document(page(results)).text
    assert "7 runs each, 12 asked for" in markdown(results)


def test_columns_keep_the_papers_order_and_ours_come_last():
    results = make_results()
    methods = results["tables"][0]["methods"]
    results["tables"][0]["methods"] = [methods[3], methods[2], methods[0], methods[1]]
    head = re.search(r"<thead>.*?</thead>", page(results).split('id="t-0-table-2"')[1], re.S)[0]
    places = [unescape(head).index(method["name"]) for method in methods]
    assert places == sorted(places)


def test_markdown_says_every_number_and_no_markup_of_names():
    text = markdown(make_results())
    for number in NUMBERS:
        assert number in text, number
    assert "<script" not in text
    assert "its file is not here" in text
    assert "7.12 ± 0.25, n = 3 ▲ (9.50)" in text


def test_every_line_of_a_markdown_table_has_as_many_cells():
    for block in markdown(make_results()).split("\n\n"):
        if block.startswith("|"):
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(widths) == 1, block


def test_results_without_orderings_and_without_papers_still_make_a_report():
    results = make_results()
    results |= {"orderings": [], "tables": [], "papers": {}, "counts": {}}
    assert "Summary" in Document(page(results)).text
    assert "Summary" in markdown(results)


def test_without_jinja_the_error_names_the_command_that_installs_it():
    code = "import sys; sys.modules['jinja2'] = None; import papers.page"
    root = Path(__file__).parents[2]
    seen = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert "MissingExtraError" in seen.stderr
    assert "pip install --editable '.[papers]'" in seen.stderr


def test_results_survive_json():
    results = make_results()
    assert page(json.loads(json.dumps(results))) == page(copy.deepcopy(results))


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_stands_out_from_its_ground(scheme):
    style = resources.files("papers").joinpath("report.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, re.S)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", blocks[["light", "dark"].index(scheme)]))
    grounds = ("paper", "raised", "match", "better", "worse")
    for ground in grounds:
        for ink in ("ink", "soft"):
            assert contrast(colours[ground], colours[ink]) >= 4.5, (ground, ink)
    for ground in ("match", "better", "worse", "quick"):
        assert contrast(colours[ground], colours[f"{ground}-ink"]) >= 4.5, ground
    assert contrast(colours["paper"], colours["link"]) >= 4.5
    for line in range(8):
        assert contrast(colours["paper"], colours[f"line-{line}"]) >= 4.5, line


MEASURED = """
<iframe id="page" src="page.html" style="width:{width}px;height:800px;border:0"></iframe>
<p id="found"></p>
<script>
document.getElementById("page").onload = event => {{
  const page = event.target.contentDocument;
  const root = page.documentElement;
  page.querySelectorAll("details").forEach(fold => fold.open = true);
  document.getElementById("found").textContent = JSON.stringify({{
    inner: event.target.contentWindow.innerWidth,
    wide: root.scrollWidth,
    tables: page.querySelectorAll("table").length,
    charts: page.querySelectorAll("svg").length,
    scrolling: [...page.querySelectorAll(".scroll")]
      .filter(box => box.scrollWidth > box.clientWidth).length,
  }});
}};
</script>
"""


def test_what_may_be_wide_scrolls_in_a_box_of_its_own():
    text = page(make_results())
    boxes = re.findall(r'<div class="scroll"[^>]*>\s*<table', text)
    assert len(boxes) == text.count("<table") >= 5
    style = resources.files("papers").joinpath("report.css").read_text(encoding="utf-8")
    for selector, words in (
        (".scroll", ("max-width: 100%", "overflow-x: auto")),
        ("figure", ("min-width: 0",)),
        (".chart", ("width: 100%",)),
        ("body", ("overflow-wrap: break-word",)),
    ):
        rule = re.search(rf"^{re.escape(selector)} \{{(.*?)\}}", style, re.M | re.S)[1]
        assert all(word in rule for word in words), selector
    assert 'name="viewport" content="width=device-width' in text
    assert not re.search(r'(?<!stroke-)(?:width|style)="[^"]*\d{3,}px', text)


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_never_scrolls_sideways(width, tmp_path):
    browser = shutil.which("chromium")
    results = make_results()
    results["tables"][0]["methods"] += [
        {"name": f"one more method {place}", "role": "alternative", "reads": "", "note": ""}
        for place in range(9)
    ]
    (tmp_path / "page.html").write_text(page(results), encoding="utf-8")
    (tmp_path / "frame.html").write_text(MEASURED.format(width=width), encoding="utf-8")
    made = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--no-first-run",
         "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'user'}",
         "--window-size=1400,1000", "--virtual-time-budget=5000", "--dump-dom",
         (tmp_path / "frame.html").as_uri()],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(re.search(r'<p id="found">(.*?)</p>', made.stdout)[1])
    assert found["inner"] == width
    assert found["wide"] <= width
    assert found["tables"] == page(results).count("<table")
    assert found["charts"] == 1
    assert found["scrolling"] >= 1


def test_misses_are_what_the_strict_rule_misses_as_printed():
    results = make_results()
    (one,) = [t for t in results["tables"] if t["axis"] is None]
    proposed = next(m["name"] for m in one["methods"] if m["role"] == "proposed")
    listed = misses(results, 0)
    assert "not run\\* against 9.50" in listed, (
        "there is no literal column, and our reading is there"
    )
    one["methods"].append({"name": "literal", "role": "literal", "reads": proposed, "note": ""})
    first = one["measures"][0]["name"]
    one["rows"][0]["cells"]["literal"] = {first: cell(9.0, 0.5, 3, [9.5, None], "better")}
    assert misses(results, 0) == "None."
    one["rows"][0]["cells"]["literal"] = {first: cell(10.0, 0.5, 3, [9.5, None], "worse")}
    listed = misses(results, 0)
    assert listed.count("\n") == 0
    assert "10.00\\* against 9.50" in listed
    one["rows"][0]["cells"][proposed][first]["reached"]["strict"] = False
    assert "10.00 against 9.50" in misses(results, 0)
