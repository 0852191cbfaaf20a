"""How the documentation is built: Sphinx, warnings are errors."""

import json
import re
import shutil
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

from papers.counts import total
from papers.markdown import misses, summary, table
from papers.page import page
from tools.charts import draw, folded
from ulmus.version import __version__

project = "Ulmus"
author = "The Ulmus developers"
copyright = "2026, The Ulmus developers"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
# The tables are included by the pages that speak of them, and are no pages themselves.
TABLES = [p.name for p in (Path(__file__).parent / "benchmarks").glob("*.md") if p.stem != "index"]
exclude_patterns = [
    *(f"benchmarks/{name}" for name in TABLES),
    "papers/tables/*",
    "_build",
    "examples/**/*.ipynb",
    "sg_execution_times.rst",
]

# The papers' tables come from the committed results of `ulmus reproduce`: each as a file to
# include, and the whole as the page that the command writes.
PAPERS = Path(__file__).parent / "papers"
RESULTS = json.loads((PAPERS / "results.json").read_text(encoding="utf-8"))


def narrow(text: str) -> str:
    """Markdown tables with what stands beside a figure below it, marked for the style sheet."""
    lines, inside = [], False
    for line in text.splitlines():
        row = line.startswith("|")
        if row and not inside:
            lines += ["```{rst-class} figures", "```", ""]
        inside = row
        lines.append(re.sub(r",? (\(|n = )", r"<br>\1", line) if row else line)
    return "\n".join(lines) + "\n"


def counted(results: dict) -> str:
    """How many figures are reached, of all papers together, by each reading and rule."""
    counts = total(results["counts"])
    lines = ["| | strict | Welch | lenient |", "| --- | --- | --- | --- |"]
    for reading, words in (("printed", "to the letter"), ("read", "as we read it")):
        cells = [f"{a} of {b} ({a / b:.0%})" for a, b in counts[reading].values()]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


shutil.rmtree(PAPERS / "tables", ignore_errors=True)
(PAPERS / "tables").mkdir()
for one in RESULTS["tables"]:
    (PAPERS / "tables" / f"{one['name']}.md").write_text(narrow(table(one)), encoding="utf-8")
for number in map(int, RESULTS["papers"]):
    listed = PAPERS / "tables" / f"misses-{number}.md"
    listed.write_text(misses(RESULTS, number) + "\n", encoding="utf-8")
(PAPERS / "tables" / "summary.md").write_text(summary(RESULTS) + "\n", encoding="utf-8")
(PAPERS / "tables" / "counts.md").write_text(counted(RESULTS) + "\n", encoding="utf-8")
(PAPERS / "tables" / "report.html").write_text(page(RESULTS), encoding="utf-8")
html_extra_path = ["papers/tables/report.html"]

# A chart for each benchmark; its page folds the tables below them.
BENCHMARKS = Path(__file__).parent / "benchmarks"
shutil.rmtree(BENCHMARKS / "charts", ignore_errors=True)
(BENCHMARKS / "charts").mkdir()
DRAWN = {
    name
    for name in (Path(table).stem for table in TABLES)
    if draw(name, (BENCHMARKS / f"{name}.md").read_text(encoding="utf-8"), BENCHMARKS / "charts")
}

templates_path = ["_templates"]
autosummary_generate = True
numpydoc_show_class_members = False

# The gallery's sections, in the order in which a reader needs them.
SECTIONS = ("labels", "tables", "few_labels", "no_labels", "streams", "inside")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "subsection_order": ExplicitOrder(
        [f"../examples/{part}" for part in SECTIONS],
    ),
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": "plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "download_all_examples": False,
}

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css", "papers.css"]
html_title = f"Ulmus {version}"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": "Ulmus"},
    "header_links_before_dropdown": 5,
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
}
# Pages without others below them have nothing to show at the left.
ALONE = ("index", "start", "which", "extend", "coming_from", "benchmarks/index", "mutants")
html_sidebars = {name: [] for name in (*ALONE, "theory/index")}

# `make links` follows the links that stay on this site. Pages elsewhere may be slow, forbid robots,
# or be out of reach of the machine that builds; only `make links ALL=1` asks for them.
linkcheck_timeout = 20


def setup(app):
    """Change pages as they are read."""
    app.connect("source-read", lambda app, name, text: text.append(_read(name, text.pop())))
    app.connect("html-page-context", _link_back)


def _link_back(app, name, template, context, doctree):
    """Source pages lead back to the name under which a function is documented.

    Sphinx takes one prefix for all functions of a module: that of the first one it meets.
    """
    if name.startswith("_modules/"):
        pattern = r'(/([\w.]+\.(\w+))\.html)#[\w.]+?\.\3"'
        context["body"] = re.sub(pattern, r'\1#\2"', context["body"])


def _read(name: str, text: str) -> str:
    """Doctests end in an empty line before the fence, which readers need not see."""
    text = text.replace("\n\n```\n", "\n```\n")
    return folded(text, DRAWN) if name == "benchmarks/index" else text
