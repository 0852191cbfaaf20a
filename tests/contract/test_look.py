"""What `make look` finds wrong with a page."""

import pytest

from tools import look
from tools.labelling import browser

PAGE = """<!doctype html><title>A page</title>
<style>td {{ overflow-wrap: anywhere; width: {width} }}</style>
<table style="table-layout: fixed; width: {table}"><tr><td>KernelELMClassifier</table>{more}"""


@pytest.mark.browser
@pytest.mark.parametrize(
    ("width", "table", "more", "found"),
    [
        ("50px", "50px", "", ["breaks KernelELMClassifier"]),
        ("300px", "300px", "", []),
        ("300px", "300px", '<div style="width: 1300px">wide', ["scrolls 28 pixels sideways"]),
        ("300px", "300px", '<img src="/none.png">', ["lacks {address}/none.png"]),
    ],
)
def test_broken_names_sideways_scrolling_and_lost_pictures_are_found(
    tmp_path, width, table, more, found
):
    text = PAGE.format(width=width, table=table, more=more)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    with look.served(tmp_path) as address, browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{address}/page.html")
        assert look.faults(page, 1280) == [fault.format(address=address) for fault in found]
