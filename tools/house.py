"""Print how large and how tangled the library is: lines, files that a fit visits, twins, types.

Run by ``make house``. The figures guide clean-ups; nothing fails because of them.
"""

import ast
import io
import re
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits

import ulmus
from ulmus.cli import main as ulmus_command

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "ulmus"


def main() -> None:
    """Print one row for each figure."""
    files = sorted(SRC.rglob("*.py"))
    lines = {path: len(path.read_text().splitlines()) for path in files}
    X, y = load_digits(return_X_y=True)
    few = np.where(np.arange(len(y)) < 50, y, -1)
    rows = {
        "lines of src/ulmus": f"{sum(lines.values())} in {len(files)} files",
        "files visited by ELMClassifier.fit": visited(lambda: ulmus.ELMClassifier().fit(X, y)),
        "files visited by SemiSupervisedELMClassifier.fit": visited(
            lambda: ulmus.SemiSupervisedELMClassifier().fit(X, few)
        ),
        "files visited by `ulmus fit`": visited_by_command(X, y),
        "most Ulmus classes in an estimator's MRO": most_classes(),
        "functions past 40 lines": f"{share_of_long_functions(files):.1%}",
        "basenames that occur twice": len(twins(files)),
        "lines outside mypy": f"{unchecked(lines) / sum(lines.values()):.0%}",
    }
    for name, figure in rows.items():
        print(f"| {name} | {figure} |")
    print("twins:", ", ".join(twins(files)) or "none")


def visited(call: Callable[[], Any]) -> int:
    """How many files of the library have a line run during the call."""
    found = set()

    def see(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    call()  # imports are made here, and are not counted below
    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sum(Path(name).is_relative_to(SRC) for name in found)


def visited_by_command(X: np.ndarray, y: np.ndarray) -> int:
    """How many files ``ulmus fit`` visits on a small CSV."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        names = [*(f"x{j}" for j in range(4)), "kind"]
        rows = np.column_stack([X[:300, 20:24], y[:300]])
        np.savetxt(table, rows, delimiter=",", header=",".join(names), comments="")
        model = str(Path(folder) / "rows.ulmus")
        arguments = ["fit", str(table), "--target", "kind", "--model", model, "--force", "--quiet"]
        with redirect_stdout(io.StringIO()):
            return visited(lambda: ulmus_command(arguments))


def most_classes() -> int:
    """The longest chain of the library's own classes behind a public estimator."""
    public = (getattr(ulmus, name) for name in ulmus.__all__)
    return max(
        sum(parent.__module__.startswith("ulmus") for parent in kind.__mro__)
        for kind in public
        if isinstance(kind, type) and issubclass(kind, BaseEstimator)
    )


def share_of_long_functions(files: list[Path]) -> float:
    """The share of functions whose body, docstring aside, is past 40 lines."""
    sizes = [size for path in files for size in function_sizes(ast.parse(path.read_text()))]
    return float(np.mean(np.array(sizes) > 40))


def function_sizes(tree: ast.AST) -> Iterator[int]:
    """Lines of each function's body without its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            yield node.end_lineno - body[0].lineno + 1 if body and node.end_lineno else 0


def twins(files: list[Path]) -> list[str]:
    """Module names that stand in more than one folder."""
    counts = Counter(path.stem for path in files if not path.stem.startswith("__"))
    return sorted(name for name, count in counts.items() if count > 1)


def unchecked(lines: dict[Path, int]) -> int:
    """Lines in files that mypy leaves out or does not hold to typed signatures."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    excluded = [re.compile(pattern) for pattern in settings.get("exclude", [])]
    return sum(
        count
        for path, count in lines.items()
        if any(pattern.search(path.relative_to(ROOT).as_posix()) for pattern in excluded)
    )


if __name__ == "__main__":
    main()
