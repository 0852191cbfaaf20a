"""Charts: points lie where their values say, whatever the values."""

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.axes import Scale, span, steps, to_steps
from papers.chart import BOTTOM, LEFT, RIGHT, TOP, Series, chart

values = st.floats(-1e6, 1e6, allow_subnormal=False)


def drawn(*lines, **how):
    return chart("name", [Series(f"line {k}", tuple(points)) for k, points in enumerate(lines)],
                 title="A chart", **how)  # fmt: skip


def markers(svg):
    """The places of the points of every line, without those of the legend."""
    body = re.sub(r'<g class="key">.*?\n</g>\n', "", svg, flags=re.S)
    return [
        [tuple(map(float, place)) for place in re.findall(r"translate\((\S+) (\S+)\)\" d=", line)]
        for line in re.findall(r'<g class="series.*?</g>', body, re.S)
    ]


@settings(deadline=None)
@given(
    points=st.lists(st.tuples(values, values), min_size=1, max_size=20, unique_by=lambda p: p[0])
)
def test_points_keep_their_order_and_stay_in_the_frame(points):
    points = sorted(points)
    (places,) = markers(drawn([(x, y, None) for x, y in points]))
    assert len(places) == len(points)
    for (x0, y0), (x1, y1) in pairwise(places):
        assert x0 <= x1 + 0.1
        assert math.isfinite(y0 + y1)
    by_height = sorted(zip((y for _, y in points), (y for _, y in places), strict=True))
    heights = [height for _, height in by_height]
    assert all(high >= low - 0.11 for high, low in pairwise(heights))
    assert all(LEFT <= x <= RIGHT and TOP <= y <= BOTTOM for x, y in places)


def test_values_lie_in_proportion():
    (places,) = markers(drawn([(0, 10, None), (5, 15, None), (10, 20, None)]))
    (x0, y0), (x1, y1), (x2, y2) = places
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert (y0, y2) == (BOTTOM, TOP)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)


def test_equal_factors_take_equal_room_on_a_log_axis():
    svg = drawn([(10.0**p, 1.0 + p, None) for p in range(-3, 4)], scale="log")
    (places,) = markers(svg)
    gaps = [after[0] - before[0] for before, after in pairwise(places)]
    assert gaps == pytest.approx([gaps[0]] * 6, abs=0.2)
    assert ">0.001<" in svg
    assert ">1000<" in svg


def test_a_log_axis_says_which_values_it_has_no_place_for():
    svg = drawn([(0.0, 1.0, None), (1.0, 2.0, None), (10.0, 3.0, None)], scale="log", x_title="λ")
    assert "λ (0 not shown)" in svg
    assert len(markers(svg)[0]) == 2


def test_deviations_stay_in_the_frame():
    svg = drawn([(1, 5.0, 4.0), (2, 6.0, 1.0)])
    (band,) = re.findall(r'class="band" points="(.*?)"', svg)
    heights = [float(pair.split(",")[1]) for pair in band.split()]
    assert len(heights) == 4
    assert min(heights) >= TOP
    assert max(heights) <= BOTTOM


def test_a_single_point_has_a_bar_and_no_line():
    svg = drawn([(3.0, 5.0, 1.0)])
    assert len(markers(svg)[0]) == 1
    assert 'class="bar"' in svg
    assert "polyline" not in svg


@pytest.mark.parametrize("same", [0.0, 5.0, -1e-3, 1e9])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_equal_values_make_a_level_line(same, scale):
    (places,) = markers(drawn([(x, same, 0.0) for x in (1.0, 2.0, 3.0)], scale=scale))
    assert len({y for _, y in places}) == 1
    assert TOP < places[0][1] < BOTTOM


def test_a_missing_value_parts_the_line():
    line = [
        (1, 1.0, 0.1),
        (2, 2.0, 0.1),
        (3, None, None),
        (4, math.nan, 0.1),
        (5, 2.0, 0.1),
        (6, 1.0, None),
    ]
    svg = drawn(line)
    assert svg.count("polyline") == 2
    assert len(markers(svg)[0]) == 4
    assert "nan" not in svg.lower()


def test_nothing_to_draw_says_so():
    assert "Not run" in drawn([(1, None, None)])
    assert "Not run" in drawn()


def test_lines_differ_without_colour():
    svg = drawn(*[[(0, k, None), (1, k + 1, None)] for k in range(12)])
    key = re.search(r'<g class="key">(.*?)\n</g>', svg, re.S)[1].splitlines()[1:]
    looks = [re.findall(r'dasharray="(.*?)"', line) + re.findall(r' d="(M-?[\d.]+-?.*?)"', line)[1:]
             for line in key]  # fmt: skip
    assert len({tuple(look) for look in looks}) == 12


def test_a_line_without_points_is_not_in_the_legend_and_leaves_colours_alone():
    svg = drawn([], [(1, 1.0, None)])
    assert "line 0" not in svg.split("</desc>")[1].split('class="axes"')[0]
    assert 'class="series series-1"' in svg


def test_names_are_escaped():
    svg = chart('"><script>', [Series("<b>", ((1, 1.0, None),))], title="<i>", x_title="<u>",
                y_title="<s>", description="<p>")  # fmt: skip
    assert not re.search(r"<(script|b|i|u|s|p)>", svg)


@settings(deadline=None)
@given(low=values, width=st.floats(1e-3, 1e6))
def test_marks_are_few_and_lie_between_the_ends(low, width):
    low, high = span([low, low + width])
    marked = [value for value, _ in steps(*to_steps(low, high))]
    assert 2 <= len(marked) <= 8
    # A step may miss an end by what rounding leaves, which no eye can see.
    bottom, top = to_steps(low, high)
    assert bottom <= low + 1e-6 * (high - low)
    assert top >= high - 1e-6 * (high - low)


@settings(deadline=None)
@given(low=st.floats(1e-12, 1e12), factor=st.floats(1.01, 1e15))
def test_log_marks_are_few_and_different(low, factor):
    scale = Scale(low, low * factor, 0, 1, log=True)
    marked = scale.marks()
    assert 2 <= len(marked) <= 8
    assert all(-1e-9 <= scale(value) <= 1 + 1e-9 for value, _ in marked)
