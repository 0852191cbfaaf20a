"""Charts of benchmarks show figures of the committed runs."""

import json
from pathlib import Path

import pytest

from tools import charts

ROOT = Path(__file__).parents[2]
TABLES = sorted(p for p in (ROOT / "docs" / "benchmarks").glob("*.md") if p.stem != "index")


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_bar_is_a_figure_of_its_run(path):
    text = path.read_text(encoding="utf-8")
    found = charts.figures(path.stem, text)
    if path.stem in charts.COLUMNS:
        shown = {cell.strip() for line in text.splitlines() for cell in line.split("|")}
        assert {float(c) for c in shown if c.replace(".", "", 1).isdigit()} >= set(
            found[1].values()
        )
    elif found is not None:
        results = ROOT / "benchmarks" / "results" / f"{path.stem}.json"
        ratios = json.loads(results.read_text(encoding="utf-8"))["ratios"]
        assert all(
            any(k.endswith(name) and v == value for k, v in ratios.items())
            for name, value in found[1].items()
        )


def test_ranks_are_drawn_before_other_figures(tmp_path):
    text = (ROOT / "docs" / "benchmarks" / "tabular.md").read_text(encoding="utf-8")
    title, ranks = charts.figures("tabular", text)
    assert title.startswith("Mean rank")
    assert "kernel ELM" in ranks
    assert charts.draw("tabular", text, tmp_path)
    assert "<svg" in (tmp_path / "tabular.svg").read_text(encoding="utf-8")


def test_tables_fold_below_their_chart():
    page = charts.folded("Before.\n\n```{include} fit.md\n```\n\nAfter.\n", {"fit"})
    chart, table = page.index("](charts/fit.svg)"), page.index("```{include} fit.md")
    assert chart < page.index("{dropdown}") < table < page.index("After.")
    assert "charts" not in charts.folded("```{include} fit.md\n```\n", set())
