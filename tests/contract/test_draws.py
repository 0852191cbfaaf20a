"""What a test run draws does not depend on luck, nor on the clock."""

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import integers


def test_two_runs_of_a_law_meet_the_same_examples():
    met = []

    @settings(max_examples=20)
    @given(integers(0, 10**9))
    def law(number):
        met.append(number)

    law()
    first, met[:] = met.copy(), []
    law()
    assert met == first


def test_a_busy_machine_fails_no_law():
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
