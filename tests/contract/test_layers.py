"""Imports point down, and every file has one place in the order."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "ulmus"
TESTS = Path(__file__).parents[1]
FILES = sorted(SRC.rglob("*.py"))

LAYERS = [
    [
        "arguments",
        "commanded",
        "docstrings",
        "exceptions",
        "files",
        "machine",
        "progress",
        "summary",
        "typing",
        "version",
        "backends",
    ],
    ["archives", "fitted"],
    ["moving", "validation"],
    ["edges"],
    [
        "batches",
        "targets",
        "graphs",
        "metrics",
    ],
    ["balance"],
    [
        "calibration",
        "distributed",
        "hidden",
        "kernels",
        "problem",
        "reservoir",
        "slopes",
    ],
    ["features"],
    ["sources"],
    ["methods"],
    ["estimators"],
    ["tables"],
    ["exporting", "persistence", "plotting"],
    ["cli"],
    ["app"],
]
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
# Within layer 2 a kernel matrix may be a hidden layer's.
BESIDE = {
    ("problem", "hidden"),
    ("reservoir", "hidden"),
    ("slopes", "hidden"),
    ("kernels", "hidden"),
    ("slopes", "kernels"),
    ("arguments", "exceptions"),
    ("backends", "typing"),
    ("backends", "exceptions"),
}

# The two stages know nothing of each other: a method sees hidden rows, whatever map they are of.
APART = {("methods", "features")}


def part(path):
    return path.relative_to(SRC).with_suffix("").parts[0]


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name their module in full"
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name and name.split(".")[0] == "ulmus" and "." in name:
                yield name.split(".")[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_imports_point_down(path):
    if path.parent == SRC and path.name in ("__init__.py", "__main__.py"):
        return
    here = part(path)
    assert here in RANK, f"{here} has no layer; give it one here and in docs/theory"
    for other in imports(ast.parse(path.read_text())):
        lower = RANK[other] < RANK[here] and (here, other) not in APART
        down = lower or other == here or (here, other) in BESIDE
        assert down, f"{here} must not import {other}"


@pytest.mark.parametrize(
    "path",
    # Optional packages are imported where they are used: in the backends, and Dask by its blocks.
    [p for p in FILES if RANK.get(part(p), 9) <= 4 and part(p) not in ("backends", "distributed")],
    ids=lambda p: str(p.relative_to(SRC)),
)
def test_no_import_hides_in_a_function(path):
    tree = ast.parse(path.read_text())
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                assert not isinstance(node, ast.Import | ast.ImportFrom), (
                    f"{path.name}:{node.lineno} imports inside {function.name}"
                )


@pytest.mark.parametrize("folder", sorted(p.parent.name for p in SRC.glob("*/__init__.py")))
def test_every_package_has_tests_in_a_folder_of_its_name(folder):
    assert list((TESTS / folder).glob("test_*.py")), f"tests/{folder} has no tests"


def test_no_file_is_too_long_to_read():
    for path in FILES:
        assert len(path.read_text().splitlines()) <= 400, f"{path.name} is past 400 lines"
