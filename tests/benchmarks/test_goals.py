"""``make bench`` against its goals, with measurements that are made up."""

import pytest

from benchmarks.__main__ import main
from benchmarks.goals import BRIEF, ELSEWHERE, GOALS, SLACK, Goal, judged

REACHED = {run: {goal.ratio: goal.number for goal in GOALS if goal.run == run} for run in BRIEF}


def bench(ratios, arguments=()):
    """The status, and the runs that were measured with their rounds."""
    asked = []

    def measure(name, rounds, keep, options, out):
        asked.append((name, rounds))
        return ratios[name]

    return main(list(arguments), measure), asked


def test_goals_that_are_reached_end_with_zero(capsys):
    status, asked = bench(REACHED)
    assert status == 0
    assert asked == [(name, 2) for name in BRIEF]
    printed = capsys.readouterr().out
    for goal in GOALS:
        assert f"| {goal.run} | {goal.ratio} |" in printed
        assert goal.words in printed


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: f"{goal.run}: {goal.ratio}")
def test_a_ratio_that_misses_its_goal_by_more_than_the_slack_ends_with_one(goal, capsys):
    sign = -1 if goal.least else 1
    for part, status in ((SLACK - 0.01, 0), (SLACK + 0.01, 1)):
        ratios = REACHED | {
            goal.run: REACHED[goal.run] | {goal.ratio: goal.number * (1 + sign * part)}
        }
        assert bench(ratios)[0] == status
        assert (f"{goal.ratio} misses its goal" in capsys.readouterr().err) == bool(status)


def test_a_figure_that_a_run_no_longer_gives_or_that_is_no_number_is_missed():
    assert bench(REACHED | {"fit": {}})[0] == 1
    broken = dict.fromkeys(REACHED["fit"], float("nan"))
    assert bench(REACHED | {"fit": broken})[0] == 1


def test_runs_that_are_not_measured_are_not_judged():
    assert judged({}) == ([], [])
    status, asked = bench({"path": REACHED["path"]}, ["path"])
    assert (status, asked) == (0, [("path", 3)])


def test_every_goal_belongs_to_a_run():
    from benchmarks.__main__ import APART, RUNS

    assert {goal.run for goal in GOALS} <= set(RUNS)
    assert {goal.run for goal in ELSEWHERE} <= set(APART)
    assert len({(goal.run, goal.ratio) for goal in (*GOALS, *ELSEWHERE)}) == len(GOALS + ELSEWHERE)


def test_an_unknown_benchmark_is_refused(capsys):
    with pytest.raises(SystemExit) as status:
        bench({}, ["fitt"])
    assert status.value.code == 2
    assert "fitt" in capsys.readouterr().err


def test_a_goal_says_in_which_direction():
    assert Goal("fit", "a / b", 1.25).words == "≤ 1.25"
    assert Goal("fit", "a / b", 4.0, least=True).words == "≥ 4"
