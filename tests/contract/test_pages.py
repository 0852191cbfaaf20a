"""Every link on a page leads somewhere, and every page can be reached."""

import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Pages that the build makes: the gallery, and the tables and the report of the papers.
MADE = ("examples", "papers/tables", "reference/generated")


def written(path):
    """Whether a page is written by hand, and not made by a build."""
    place = path.relative_to(DOCS).as_posix()
    return not place.startswith(("_", *MADE)) and path.suffix == ".md"


PAGES = sorted(path for path in DOCS.rglob("*.md") if written(path))
LOOSE = sorted(ROOT.glob("*.md"))
# Tables that a page includes are no pages of their own.
INCLUDED = {path for path in PAGES if path.parent.name == "benchmarks" and path.stem != "index"}


def name(path):
    return path.relative_to(ROOT).as_posix()


def prose(path):
    """The text without its blocks of code, but with the directives of Sphinx."""
    return re.sub(
        r"^```(?!\{)\w*\n.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S
    )


def anchors(path):
    """What headings are linked by, as GitHub and MyST make it."""
    lines = re.findall(r"^#+ +(.+)$", prose(path), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in lines}


def target(path, place):
    """The file that a link or a document's name on this page means, whether it is there or not."""
    base = DOCS if place.startswith("/") else path.parent
    return (base / place.lstrip("/")).resolve()


def is_made(path):
    return path.is_relative_to(DOCS) and path.relative_to(DOCS).as_posix().startswith(MADE)


@pytest.mark.parametrize("path", [*LOOSE, *PAGES], ids=name)
def test_links_lead_somewhere(path):
    text = re.sub(r"`[^`\n]*`", "", prose(path))
    for place in re.findall(r"\]\(([^)\s]+)\)", text):
        if place.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, anchor = place.partition("#")
        page = target(path, file) if file else path
        assert page.exists() or is_made(page), f"{name(path)} links to {place}, which is not there"
        if anchor:
            assert anchor in anchors(page), f"{name(path)} links to {place}, which has no such part"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_documents_that_are_named_exist(path):
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`", text)
    named += re.findall(r"^:link: (\S+)\n:link-type: doc", text, flags=re.M)
    named += re.findall(r"^```\{button-ref\} (\S+)", text, flags=re.M)
    for place in named:
        page = target(path, f"{place}.md")
        assert page.exists() or is_made(page), f"{name(path)} names {place}, which is not there"
    for place in re.findall(r"^```\{(?:literal)?include\} (\S+)", text, flags=re.M):
        file = target(path, place)
        assert file.exists() or is_made(file), f"{name(path)} includes {place}, which is not there"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_names_that_are_linked_exist(path):
    roles = r"\{(?:class|func|mod|obj)\}`(?:[^`<]*<)?~?(ulmus[.\w]*)>?`"
    for linked in re.findall(roles, path.read_text(encoding="utf-8")):
        assert pkgutil.resolve_name(linked), linked


def test_every_page_is_in_a_table_of_contents():
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), flags=re.M | re.S):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            for entry in entries:
                place = entry.partition("<")[2].rstrip(">") or entry.strip()
                found = target(page, f"{place}.md")
                assert found.exists() or is_made(found), f"{name(page)} lists {place}"
                if found.exists() and found not in reached:
                    waiting.append(found)
    lost = set(PAGES) - INCLUDED - {page for page in reached if page in PAGES}
    assert not lost, f"in no table of contents: {sorted(map(name, lost))}"
