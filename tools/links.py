"""Follow every link of the built site that stays on it: the file must be there, and the part of it.

Sphinx checks the links that it makes itself; this sees those in raw HTML, pictures and anchors too.
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.environments import ROOT, say

SITE = ROOT / "docs" / "_build" / "html"


class Page(HTMLParser):
    """What a page links to, and what of it can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Gather references and names."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")


@cache
def page(path: Path) -> Page:
    """A page, read once."""
    return Page(path.read_text(encoding="utf-8"))


def broken(path: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    lost = []
    for link in sorted(page(path).links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        there = there / "index.html" if there.is_dir() else there
        known = there.suffix != ".html" or not parts.fragment or not there.is_file()
        if not there.is_file() or not (known or unquote(parts.fragment) in page(there).anchors):
            lost.append(link)
    return lost


def main() -> int:
    """Look at every page."""
    pages = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)
    if not pages:
        sys.exit("There is no site yet; run `make docs` first.")
    found = {path: lost for path in pages if (lost := broken(path))}
    for path, lost in found.items():
        say(f"{path.relative_to(SITE)} leads nowhere with {', '.join(lost)}")
    count = sum(len(page(path).links) for path in pages)
    say(f"{count} links on {len(pages)} pages, {sum(map(len, found.values()))} of them broken.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
