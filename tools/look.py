"""Look at every page of the built site: ``python -m tools.look [FOLDER] [PAGE ...]``.

Headless Chromium opens each page at the width of a laptop and of a phone. A page that scrolls
sideways, breaks a name in the middle of a word at 1280 pixels, or lacks a picture is reported.
Screenshots, in light and in dark, go to FOLDER where one is named.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from tools.environments import say
from tools.labelling import browser
from tools.links import SITE

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
HEIGHT = 900
# Words of a page that are on more than one line. A line may end at a hyphen or an underscore.
BROKEN = """() => {
    const found = new Set();
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode()); ) {
        const shown = node.parentElement.checkVisibility();
        if (!shown || node.parentElement.closest("pre, svg, script, style")) continue;
        for (const match of node.data.matchAll(/[A-Za-z][A-Za-z0-9]{3,}/g)) {
            const range = document.createRange();
            range.setStart(node, match.index);
            range.setEnd(node, match.index + match[0].length);
            const lines = [...range.getClientRects()].map((box) => Math.round(box.top));
            if (new Set(lines).size > 1) found.add(match[0]);
        }
    }
    return [...found];
}"""
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LOST = """[...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src)"""


class Quiet(SimpleHTTPRequestHandler):
    """Files without a line for each of them."""

    def log_message(self, *arguments: Any) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on this machine, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def faults(page: Any, width: int) -> list[str]:
    """What is wrong with a page as it is shown now."""
    found = []
    if (more := page.evaluate(SIDEWAYS)) > 0:
        found.append(f"scrolls {more} pixels sideways")
    if width == WIDTHS[0] and (words := page.evaluate(BROKEN)):
        found.append(f"breaks {', '.join(words)}")
    return found + [f"lacks {source}" for source in page.evaluate(LOST)]


def searched(page: Any, address: str) -> list[str]:
    """What is wrong with the search: a class must be found by its name."""
    from playwright.sync_api import TimeoutError as TookTooLong

    page.goto(f"{address}/search.html?q=KernelELMClassifier")
    try:
        page.locator("#search-results li a").first.wait_for(timeout=10_000)
    except TookTooLong:
        return ["finds no KernelELMClassifier"]
    return []


def main(folder: Path | None, names: list[str]) -> int:
    """Look at the pages, print what is wrong, and say how many were seen."""
    pages = names or sorted(
        path.relative_to(SITE).as_posix()
        for path in SITE.rglob("*.html")
        if not {"_static", "_modules"} & set(path.relative_to(SITE).parts)
    )
    if not pages:
        sys.exit("There is no site yet; run `make docs` first.")
    count = 0
    with served(SITE) as address, browser() as chromium:
        for width in WIDTHS:
            for scheme in SCHEMES if folder else SCHEMES[:1]:
                window = chromium.new_context(
                    viewport={"width": width, "height": HEIGHT}, color_scheme=scheme
                )
                page = window.new_page()
                for name in pages:
                    page.goto(f"{address}/{name}")
                    for fault in faults(page, width):
                        count += 1
                        say(f"{name} at {width} pixels {fault}.")
                    if folder:
                        flat = name.removesuffix(".html").replace("/", "-")
                        place = folder / f"{flat}-{width}-{scheme}.png"
                        page.screenshot(path=place, full_page=True)
                window.close()
        page = chromium.new_page()
        for fault in searched(page, address):
            count += 1
            say(f"The search {fault}.")
    say(f"{len(pages)} pages at {len(WIDTHS)} widths, {count} faults.")
    return 1 if count else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    place = Path(given[0]) if given else None
    if place:
        place.mkdir(parents=True, exist_ok=True)
    sys.exit(main(place, given[1:]))
