"""The map of the house shows the parts that there are."""

import re

from tools import house_map


def test_the_committed_map_has_every_part():
    shown = re.findall(r'text-anchor="middle">(\w+)<', house_map.FIGURE.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(house_map.imports()), "run python -m tools.house_map"


def test_a_part_lies_above_all_that_it_imports():
    graph = house_map.imports()
    level = house_map.levels(graph)
    assert all(level[part] > level[other] for part, others in graph.items() for other in others)


def test_lines_that_others_imply_are_left_out():
    graph = {"a": {"b", "c"}, "b": {"c"}, "c": set()}
    assert house_map.reduced(graph) == {"a": {"b"}, "b": {"c"}, "c": set()}
