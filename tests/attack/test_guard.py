"""The attack's own machinery: a case that dies or never ends is counted, and the others go on."""

from attack.guard import guarded
from attack.outcomes import BAD, Outcome, Result, Tally


def test_a_case_that_dies_is_a_result_and_the_next_ones_are_run():
    # Nothing here lasts; the limit is there for machines that are very busy.
    results = dict(guarded("toy", seed=10, numbers=range(4), limit=600))
    assert [results[number].detail for number in (0, 1, 3)] == ["10", "11", "13"]
    assert results[2].outcome == Outcome.CRASH


def test_a_case_that_never_ends_is_a_result():
    ((number, result),) = guarded("toy", seed=0, numbers=range(4, 5), limit=0.1)
    assert (number, result.outcome) == (4, Outcome.HANG)


def test_the_table_has_a_line_for_each_kind_and_one_for_all():
    tally = Tally()
    for number, outcome in enumerate([Outcome.RIGHT, Outcome.REFUSED, Outcome.RAW]):
        tally.add(number, Result("shapes" if number else "types", outcome))
    lines = tally.table().splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["shapes", "types", "all"]
    assert lines[-1].split()[1:] == ["1", "1", "0", "1", "0", "0", "0", "3"]
    assert [result.outcome for _, result in tally.bad] == [Outcome.RAW]
    assert Outcome.RAW in BAD
