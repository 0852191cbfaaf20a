"""The page about mutants is that of the run whose results are kept beside it."""

import json
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_has_a_reason_for_every_change_that_no_test_noticed():
    found = json.loads((DOCS / "mutants.json").read_text("utf-8"))
    page = (DOCS / "mutants.md").read_text("utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    reasons = {cells[1].strip(" `"): cells[-2].strip() for cells in rows if ".py:" in cells[1]}
    places = {f"{one['module']}:{one['line']}" for one in found["survivors"]}
    assert reasons.keys() == places
    assert all(reasons.values())
    assert f"Of {found['mutants']} changes, {found['killed']} " in page
    assert found["killed"] >= 0.85 * found["mutants"]
