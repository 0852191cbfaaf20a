"""The runs that are committed: each belongs to a table as it is stated now."""

import json
from pathlib import Path

import pytest

from papers.protocol import cases, load

RUNS = sorted((Path(__file__).parents[2] / "docs" / "papers" / "runs").glob("*.jsonl"))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_every_committed_line_is_a_run_that_its_table_asks_for(path):
    asked = {case.key for case in cases(load(path.stem))}
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    unknown = [line["key"] for line in lines if line["key"] not in asked]
    assert not unknown, f"{len(unknown)} of {len(lines)} lines, such as {unknown[0]}"
