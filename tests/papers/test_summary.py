"""Means, verdicts and orderings, against figures worked out by hand."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from papers.errors import UnknownTableError
from papers.judging import RULES, lenient, strict, welch
from papers.protocol import Axis, Measure, Method, Protocol, Row, cases, parse, pick
from papers.summary import results

RATE = Measure("rate", "rate", digits=1)
ERROR = Measure("error", "error", better="lower", digits=1)


@pytest.mark.parametrize(
    ("ours", "said"),
    [(90.0, "match"), (91.04, "match"), (88.96, "match"), (91.1, "better"), (88.9, "worse")],
)
def test_within_the_deviation_and_the_last_digit_is_a_match(ours, said):
    assert lenient(ours, 90.0, 1.0, RATE) == said
    other = {"better": "worse", "worse": "better"}.get(said, said)
    assert lenient(ours, 90.0, 1.0, ERROR) == other, "a low error is good"


def test_the_strict_rule_has_the_papers_deviation_or_its_last_digit_and_one_side():
    assert strict(88.96, 90.0, 1.0, RATE)
    assert not strict(88.94, 90.0, 1.0, RATE)
    assert strict(99.0, 90.0, None, RATE)
    assert strict(89.96, 90.0, None, RATE)
    assert not strict(89.94, 90.0, None, RATE)
    assert not strict(90.06, 90.0, None, ERROR)


def test_welch_is_the_test_of_that_name():
    paper, ours = np.random.default_rng(0).normal([[90.0], [89.0]], 1.0, (2, 12))
    for shift in np.linspace(-1.0, 1.0, 21):
        moved = list(ours + shift)
        exact = Measure("rate", "rate", digits=12)
        expected = ttest_ind(moved, paper, equal_var=False, alternative="less").pvalue >= 0.05
        said = welch(moved, paper.mean(), paper.std(ddof=1), 12, exact)
        assert said == expected
    assert welch([1.0], 2.0, None, 10, RATE) is None
    assert welch([88.2], 90.0, 1.0, 10, RATE), "one run, and 1.833 is the limit of t"
    assert not welch([88.0], 90.0, 1.0, 10, RATE)
    assert welch([90.0, 90.0], 90.0, 0.0, 10, RATE)
    assert not welch([89.0, 89.0], 90.0, None, 10, RATE)


def test_a_literal_column_is_held_against_the_figures_that_it_reads():
    methods = (Method("new", "proposed"), Method("as printed", "literal", reads="new"))
    row = Row("a", repetitions=9, paper={"new": {"rate": [90.0, 1.0]}}, literal={"C": 2})
    toy = Protocol("0-table-9", 0, "Table 9", "toy", "toy", 4, (RATE,), methods, (row,))
    count = {m.name: [c for c in cases(toy) if c.method == m.name] for m in methods}
    assert [len(of) for of in count.values()] == [9, 4], "a literal column has the paper's number"
    assert {c.settings.get("C") for c in count["new"]} == {None}
    assert {c.settings.get("C") for c in count["as printed"]} == {2}
    lines = [line(toy.name, "a", "new", rate, i) for i, rate in enumerate([80.0] * 4 + [99.0] * 5)]
    lines += [line(toy.name, "a", "as printed", 91.0, i) for i in range(4)]
    whole = found(toy, lines)["counts"]["0"]
    assert whole["printed"] == {key: [1, 1] for key in RULES}
    assert whole["read"]["lenient"] == [1, 1], "the runs beyond the paper's number count here"
    assert whole["read"]["strict"] == [0, 1], "and not here"


def line(table, row, method, rate, repetition=0, x=None, seconds=2.0):
    return {
        "table": table, "row": row, "method": method, "x": x, "repetition": repetition,
        "measures": {"rate": rate}, "seconds": seconds, "whole_seconds": 3.0, "peak_mb": 100.0,
        "machine": "chip",
    }  # fmt: skip


def table(rows, measures=(RATE,), axis=None):
    return Protocol(
        "0-table-9", 0, "Table 9", "toy", "toy", 4, measures,
        (Method("new", "proposed"), Method("old", "baseline"), Method("ours", "automatic")),
        rows, axis, quick={"repetitions": 1},
    )  # fmt: skip


def found(protocol, lines, why=None, quick=False):
    return results([protocol], {protocol.name: lines}, why or {}, quick=quick, jobs=2)


def test_a_split_that_is_drawn_here_alone_widens_the_deviation():
    def said(drawn, paper):
        row = Row("a", drawn=drawn, paper={"new": {"rate": [paper, 0.0]}})
        lines = [line("0-table-9", "a", "new", rate, i) for i, rate in enumerate((90.0, 92.0))]
        return found(table((row,)), lines)["tables"][0]["rows"][0]["cells"]["new"]["rate"][
            "verdict"
        ]

    assert said(False, 91.5) == "worse"
    assert said(True, 91.5) == "match"
    assert said(True, 92.5) == "worse", "ours is 1"


def test_cells():
    paper = {"new": {"rate": [90.0, 1.0]}, "old": {"rate": 80.0}}
    rows = (Row("a", paper=paper), Row("b", paper=paper), Row("c", absent="licensed", paper=paper))
    lines = [line("0-table-9", "a", "new", rate, i) for i, rate in enumerate((90.0, 92.0, 94.0))]
    lines += [line("0-table-9", "a", "old", [81.0, 83.0]), line("0-table-9", "a", "ours", 95.0)]
    whole = found(table(rows), lines, {("0-table-9", "b", "new"): "no data"})
    a, b, c = whole["tables"][0]["rows"]
    new = a["cells"]["new"]["rate"]
    assert (new["mean"], new["deviation"], new["count"]) == (92.0, 2.0, 3)
    assert (new["paper"], new["verdict"]) == ([90.0, 1.0], "better")
    old = a["cells"]["old"]["rate"]
    assert (old["mean"], old["count"], old["values"]) == (82.0, 1, 2)
    # The paper has no deviation, so ours counts: it is 1, and the difference is 2.
    assert (old["paper"], old["verdict"]) == ([80.0, None], "better")
    assert a["cells"]["ours"]["rate"]["verdict"] is None
    assert a["seconds"] == {"new": 2.0, "old": 2.0, "ours": 2.0}
    assert b["why"] == {"new": "no data"}
    assert b["cells"]["new"]["rate"]["mean"] is None
    assert "ours" not in b["cells"]
    assert c["absent"] == "licensed"
    # As printed there is no column; as read one of two figures has runs.
    none = {"strict": [0, 2], "welch": [0, 0], "lenient": [0, 0]}
    one = {"strict": [1, 2], "welch": [1, 1], "lenient": [1, 1]}
    assert whole["counts"] == {"0": {"printed": none, "read": one}}
    assert whole["made"]["seconds"] == 15.0


def test_the_best_of_the_runs():
    best = Measure("best", "best", of="rate", statistic="best", digits=1)
    rows = (Row("a", paper={"new": {"rate": [90.0, 2.0], "best": 95.0}}),)
    lines = [line("0-table-9", "a", "new", [90.0, 93.5])]
    cell = found(table(rows, (RATE, best)), lines)["tables"][0]["rows"][0]["cells"]["new"]["best"]
    assert (cell["mean"], cell["deviation"], cell["verdict"]) == (93.5, None, "match")


def test_seconds_are_shown_and_not_judged():
    seconds = Measure("seconds", "seconds", better="lower", unit="s", judged=False)
    rows = (Row("a", paper={"new": {"seconds": 9.0}}),)
    whole = found(table(rows, (seconds,)), [line("0-table-9", "a", "new", 1.0)])
    cell = whole["tables"][0]["rows"][0]["cells"]["new"]["seconds"]
    assert (cell["mean"], cell["paper"], cell["verdict"]) == (2.0, [9.0, None], None)
    assert whole["counts"]["0"]["read"] == {key: [0, 0] for key in RULES}


def test_a_ratio_is_of_two_methods_mean_seconds():
    ratio = Measure("ratio", "ratio", unit="", judged=False, over="old")
    rows = (Row("a", paper={"new": {"ratio": 5.0}}),)
    lines = [line("0-table-9", "a", "new", 1.0, i, seconds=s) for i, s in enumerate((1.0, 3.0))]
    lines.append(line("0-table-9", "a", "old", 1.0, seconds=8.0))
    cells = found(table(rows, (ratio,)), lines)["tables"][0]["rows"][0]["cells"]
    assert cells["new"]["ratio"]["mean"] == 4.0
    assert cells["new"]["ratio"]["paper"] == [5.0, None]
    assert "old" not in cells


def test_one_run_says_nothing_of_a_figure_without_a_deviation():
    rows = (Row("a", paper={"new": {"rate": 90.0}}),)
    whole = found(table(rows), [line("0-table-9", "a", "new", 80.0)])
    assert whole["tables"][0]["rows"][0]["cells"]["new"]["rate"]["verdict"] is None
    assert whole["counts"]["0"]["read"] == {"strict": [0, 1], "welch": [0, 0], "lenient": [0, 0]}


def test_what_the_short_form_leaves_out_says_so():
    rows = (Row("a", quick=False, paper={"new": {"rate": 90.0}}), Row("b"))
    whole = found(table(rows), [line("0-table-9", "b", "new", 1.0)], quick=True)
    a, b = whole["tables"][0]["rows"]
    assert "short form" in a["why"]["new"]
    assert b["why"] == {}
    assert (
        found(table(rows), [line("0-table-9", "b", "new", 1.0)])["tables"][0]["rows"][0]["why"]
        == {}
    )


def test_points_of_a_figure():
    rows = (Row("a"),)
    lines = [line("0-table-9", "a", "new", 10.0 * x + r, r, x) for x in (2, 1) for r in (0, 2)]
    whole = found(table(rows, axis=Axis("k", "k", (1, 2))), lines)
    points = whole["tables"][0]["rows"][0]["points"]["new"]["rate"]
    assert [point[:2] + point[3:] for point in points] == [[1, 11.0, 2], [2, 21.0, 2]]


def test_orderings():
    paper = {"new": {"rate": 90.0}, "old": {"rate": 80.0}}
    against = {"new": {"rate": 80.0}, "old": {"rate": 90.0}}
    rows = (Row("a", paper=paper), Row("b", paper=paper), Row("c", paper=against))
    lines = [line("0-table-9", row, "new", 85.0) for row in "abc"]
    lines += [
        line("0-table-9", row, "old", rate) for row, rate in zip("abc", (84, 86, 80), strict=True)
    ]
    (one,) = found(table(rows), lines)["orderings"]
    assert one["claim"] == "new ahead of old"
    assert (one["holds"], one["of"], one["where_not"]) == (1, 2, ["b, rate"])


def test_quick_is_said_of_every_table():
    whole = found(table((Row("a"),)), [line("0-table-9", "a", "new", 1.0)], quick=True)
    assert whole["made"]["quick"]
    assert (whole["tables"][0]["quick"], whole["tables"][0]["asked"]) == (True, 1)


STATED = {
    "paper": 0, "label": "Table 9", "title": "toy", "evaluator": "toy", "repetitions": 1,
    "measures": [{"name": "rate", "title": "rate"}],
    "methods": [{"name": "new", "role": "proposed", "C": 3}],
    "rows": [{"name": "a", "data": "iris", "k": 5, "paper": {"new": {"rate": [1.0, 2.0]}}}],
}  # fmt: skip


def test_what_a_file_says():
    toy = parse("0-table-9", STATED)
    assert toy.evaluator == "papers.toy"
    assert (toy.methods[0].settings, toy.rows[0].settings) == ({"C": 3}, {"k": 5})


@pytest.mark.parametrize(
    "wrong",
    [
        {"methods": [{"name": "new", "role": "best"}]},
        {"methods": [*STATED["methods"], {"name": "mew", "role": "literal", "reads": "nwe"}]},
        {"rows": [{"name": "a", "paper": {"mew": {"rate": 1.0}}}]},
        {"rows": [{"name": "a", "skip": ["mew"]}]},
        {"rows": [{"name": "a", "paper": {"new": {"rat": 1.0}}}]},
        {"colums": 3},
    ],
)
def test_a_slip_in_a_file_is_an_error(wrong):
    with pytest.raises((ValueError, TypeError)):
        parse("0-table-9", STATED | wrong)


def test_an_unknown_table_suggests_the_nearest():
    with pytest.raises(UnknownTableError, match="did you mean '2-table-4'"):
        pick(["2-tabel-4"])
    with pytest.raises(UnknownTableError, match="known are"):
        pick(["xyz"])
    assert pick(["paper2"]) == [name for name in pick([]) if name.startswith("2-")]
