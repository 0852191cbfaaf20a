"""The three counts once more, from the raw lines and the stated tables, without `papers`."""

import json
import math
import re
import tomllib
from collections import defaultdict
from pathlib import Path
from statistics import fmean, pstdev, stdev

import pytest
from scipy.stats import t as student

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "papers"


def raw_lines(name):
    """Every run of a table by row and column; of a run that was made twice the last."""
    found = defaultdict(dict)
    path = DOCS / "runs" / f"{name}.jsonl"
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        line = json.loads(text)
        found[line["row"], line["method"]][line["repetition"]] = line
    return {cell: [runs[k] for k in sorted(runs)] for cell, runs in found.items()}


def values_of(lines, measure):
    wanted = measure.get("of", measure["name"])
    found = []
    for line in lines:
        value = line["measures"][wanted]
        found += value if isinstance(value, list) else [value]
    return found


def shown(values, measure):
    higher = measure.get("better", "higher") == "higher"
    if measure.get("statistic") == "best":
        return max(values) if higher else min(values)
    return fmean(values)


def strict(values, figure, deviation, measure):
    lead = shown(values, measure) - figure
    lead = lead if measure.get("better", "higher") == "higher" else -lead
    return lead + 0.5 / 10 ** measure.get("digits", 2) + 1e-9 >= -(deviation or 0)


def welch(values, figure, deviation, trials, measure):
    if measure.get("of"):
        return None
    lead = fmean(values) - figure
    lead = lead if measure.get("better", "higher") == "higher" else -lead
    lead += 0.5 / 10 ** measure.get("digits", 2) + 1e-9
    own = stdev(values) if len(values) > 1 else None
    if own is None and deviation is None:
        return None
    if own is None or deviation is None:
        spread, count = (deviation, trials) if own is None else (own, len(values))
        error, freedom = spread * math.sqrt(1 / len(values) + 1 / trials), count - 1
    else:
        ours, theirs = own**2 / len(values), deviation**2 / trials
        error = math.sqrt(ours + theirs)
        freedom = error and error**4 / (ours**2 / (len(values) - 1) + theirs**2 / (trials - 1))
    return lead >= 0 if not error else bool(student.cdf(lead / error, freedom) >= 0.05)


def lenient(values, figure, deviation, cells, measure, drawn):
    if deviation is None and measure.get("of"):
        mean = cells.get(measure["of"])
        deviation = mean[1] if isinstance(mean, list) else None
    if (deviation is None or drawn) and len(values) > 1:
        deviation = max(deviation or 0, pstdev(values))
    return None if deviation is None else strict(values, figure, deviation, measure)


def counted():
    """[reached, judged] by paper, reading and rule."""
    count = defaultdict(lambda: [0, 0])
    for path in sorted((ROOT / "papers" / "protocols").glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        if "axis" in table:
            continue
        runs, trials = raw_lines(path.stem), table.get("trials", table["repetitions"])
        letter = {m["reads"]: m["name"] for m in table["methods"] if m.get("reads")}
        proposed = [m["name"] for m in table["methods"] if m["role"] == "proposed"]
        for row in (row for row in table["rows"] if not row.get("absent")):
            for name in proposed:
                cells = row.get("paper", {}).get(name, {})
                for measure in (m for m in table["measures"] if m.get("judged", True)):
                    if measure["name"] not in cells:
                        continue
                    stated = cells[measure["name"]]
                    figure, deviation = stated if isinstance(stated, list) else (stated, None)
                    for reading, column in (("printed", letter.get(name)), ("read", name)):
                        lines = runs.get((row["name"], column), [])
                        own = [x for x in lines if x["repetition"] < table["repetitions"]]
                        few, every = values_of(own, measure), values_of(lines, measure)
                        said = {"strict": False, "welch": None, "lenient": None}
                        if every:
                            said = {
                                "strict": strict(few, figure, deviation, measure),
                                "welch": welch(few, figure, deviation, trials, measure),
                                "lenient": lenient(
                                    every, figure, deviation, cells, measure, row.get("drawn")
                                ),
                            }
                        for rule, reached in said.items():
                            key = str(table["paper"]), reading, rule
                            count[key][0] += reached is True
                            count[key][1] += reached is not None
    return dict(count)


@pytest.fixture(scope="module")
def count():
    return counted()


def test_the_committed_counts_are_those_of_the_raw_lines(count):
    results = json.loads((DOCS / "results.json").read_text(encoding="utf-8"))
    stated = {
        (paper, reading, rule): pair
        for paper, readings in results["counts"].items()
        for reading, rules in readings.items()
        for rule, pair in rules.items()
    }
    assert stated == count


def test_every_figure_is_counted_by_the_strict_rule(count):
    of = [pair[1] for (_, _, rule), pair in count.items() if rule == "strict"]
    assert sum(of) == 2 * 280


def test_the_readme_has_these_counts(count):
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for reading in ("printed", "read"):
        for rule in ("strict", "welch", "lenient"):
            pairs = [p for (_, r, u), p in count.items() if (r, u) == (reading, rule)]
            reached, of = (sum(pair[k] for pair in pairs) for k in (0, 1))
            assert re.search(rf"\b{reached} of {of}\b", text), (reading, rule, reached, of)
