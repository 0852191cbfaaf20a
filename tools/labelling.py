"""``ulmus label`` and its page in headless Chromium, for tests, measurements and the recording."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

# No sandbox, for containers lack what it needs, and no request that the page did not make.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True)
class Running:
    """The command: its process, and what it printed when it was ready."""

    process: Any
    url: str
    journal: str


@contextmanager
def labelling(data: object, *options: str) -> Iterator[Running]:
    """``ulmus label`` on a file, until the block ends."""
    command = [sys.executable, "-m", "ulmus", "label", str(data), "--no-open", "--json"]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        text = ""
        for line in process.stdout:
            text += line
            if line.rstrip() == "}":
                break
        else:
            raise RuntimeError(f"ulmus label ended with status {process.wait()}")
        found = json.loads(text)
        yield Running(process, found["url"], found["journal"])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait()
        process.stdout.close()


@contextmanager
def browser() -> Iterator[Any]:
    """Headless Chromium; its profile is a new one."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        raise RuntimeError("chromium is not on PATH; on Debian: 'apt-get install chromium'.")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield found
        finally:
            found.close()


@dataclass(frozen=True)
class LabelPage:
    """A page, and what a person does on it."""

    page: Any

    @classmethod
    def opened(cls, window: Any, url: str) -> "LabelPage":
        """The page once all rows are on the map and the first suggestions are there."""
        page = window.new_page()
        page.goto(url)
        found = cls(page)
        page.locator("html[data-places]:not([data-places='0'])").wait_for(timeout=0)
        page.locator("#suggestions li").first.wait_for(timeout=0)
        return found

    def mark(self, name: str) -> float:
        """A number that the page keeps on its root element."""
        return float(self.page.evaluate(f"document.documentElement.dataset.{name}"))

    def settled(self, version: int) -> None:
        """Wait until the answer to so many actions is drawn."""
        place = f"html[data-version='{version}'][data-answered='{version}']"
        self.page.locator(place).wait_for(state="attached", timeout=0)

    def add_class(self, name: str) -> None:
        """Create a class by the keyboard."""
        count = self.page.locator("#classes li").count()
        self.page.locator("#map").focus()
        self.page.keyboard.press("c")
        self.page.keyboard.type(name)
        self.page.keyboard.press("Enter")
        self.page.locator("#classes li").nth(count).wait_for()
        self.page.keyboard.press("Escape")

    @property
    def selected(self) -> list[int]:
        """The rows that are selected."""
        return list(self.page.evaluate("[...rowMap.selected]"))

    def select(self, row: int) -> None:
        """Go to a row by its number."""
        self.page.locator("#row-number").fill(str(row + 1))
        self.page.keyboard.press("Enter")
        self.page.locator("#map").focus()

    def give(self, code: int) -> int:
        """Give the selected rows a class, by its key where it has one; the number of actions."""
        version = int(self.mark("version"))
        if code < 9:
            self.page.keyboard.press(str(code + 1))
        else:
            self.page.locator("#classes button").nth(code).click()
            self.page.locator("#map").focus()
        return version + 1

    @property
    def codes(self) -> list[int]:
        """The class of every row."""
        return list(self.page.evaluate("[...rowMap.codes]"))
