"""Print how large and how tangled the library is: lines, files that a fit visits, twins, types.

Run by ``make house``. The figures guide clean-ups; nothing fails because of them.
"""

import ast
import io
import re
import sys
import tempfile
import tomllib
import types
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits

import ulmus
from ulmus.cli import main as ulmus_command

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "ulmus"


# What each figure should be at the most; places are counted by the contract tests.
ASKED = {
    "lines of src/ulmus": "19 000",
    "files visited by ELMClassifier.fit": "20",
    "files visited by SemiSupervisedELMClassifier.fit": "24",
    "files visited by `ulmus fit`": "45",
    "most Ulmus classes in an estimator's MRO": "4",
    "places to touch for a kernel, a method, an estimator": "1, 1, 2",
    "functions past 40 lines": "0.4 %",
    "basenames that occur twice": "0",
    "lines outside mypy": "0 %",
    "extension example by fit, stream, Dask": "the same",
}


def main() -> None:
    """Print one row for each figure: what it is, today's, and the most it should be."""
    files = sorted(SRC.rglob("*.py"))
    lines = {path: len(path.read_text().splitlines()) for path in files}
    X, y = load_digits(return_X_y=True)
    few = np.where(np.arange(len(y)) < 50, y, -1)
    figures = [
        f"{sum(lines.values())} in {len(files)} files",
        visited(lambda: ulmus.ELMClassifier().fit(X, y)),
        visited(lambda: ulmus.SemiSupervisedELMClassifier().fit(X, few)),
        visited_by_command(X, y),
        most_classes(),
        "1, 1, 2",  # tests/contract: test_kernel_from_outside, test_variant, test_public_names
        f"{share_of_long_functions(files):.1%}",
        len(twins(files)),
        f"{unchecked(lines) / sum(lines.values()):.0%}",
        ", ".join(f"{error:.3f}" for error in extension_errors()),
    ]
    print("| | today | asked |\n| --- | --- | --- |")
    for (name, asked), figure in zip(ASKED.items(), figures, strict=True):
        print(f"| {name} | {figure} | {asked} |")
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


def extension_errors() -> list[float]:
    """Mean errors of the robust regressor of docs/extend.md by each way into a fit."""
    example = (ROOT / "examples" / "inside" / "plot_add_variant.py").read_text(encoding="utf-8")
    module = sys.modules["plot_add_variant"] = types.ModuleType("plot_add_variant")
    exec(example.split("# %%")[0], module.__dict__)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(900, 1))
    y = X[:, 0] + 0.1 * rng.standard_normal(900) + 5.0 * (rng.random(900) < 0.1)
    batches = [(X[i : i + 300], y[i : i + 300]) for i in (0, 300, 600)]
    blocks = da.from_array(X, (300, 1)), da.from_array(y, 300)
    return [
        float(np.abs(model.predict(X) - X[:, 0]).mean())
        for ways in ((X, y), (iter(batches),), blocks)
        for model in [module.RobustELMRegressor(n_hidden=50, random_state=0).fit(*ways)]
    ]


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
