"""Change the mathematics in small ways, and count how often a test notices.

``python -m tools.mutants`` draws a seeded sample of mutants of the modules below: a sign, a number,
a comparison, a condition or a loop is changed, by the operators of Cosmic Ray. For each one, the
tests that concern its module run in a copy of the tree; the working tree is never touched. A result
is a line of ``build/mutants.jsonl``, so that a run that was stopped goes on, and a mutant of a file
that has changed is tried again. ``--again`` tries those once more that no test noticed.

At the end it prints the score of each module and the survivors, and writes both to
``docs/mutants.json``.
"""

import argparse
import ast
import hashlib
import json
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from tools import quick
from tools.environments import ROOT, say

SOURCE = Path("src", "ulmus")
RECORD, SUMMARY = ROOT / "build" / "mutants.jsonl", ROOT / "docs" / "mutants.json"
# What a test run needs of the tree.
COPIED = ("src", "tests", "tools", "pyproject.toml")
SEED, SAMPLE, LEAST = 0, 240, 4
# Seconds after which a mutant counts as one that never ends, beside a multiple of the usual time.
PATIENCE, SLOWER = 60.0, 10.0
# One thread each for the linear algebra; packages are imported once, for all test runs.
SINGLE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SERVER = multiprocessing.get_context("forkserver")

SOLVE = ["laws/test_solvers.py", "laws/test_balanced.py", "laws/test_kernel_elm.py"]
HINGE = ["methods/test_box.py", "laws/test_hinge.py", "estimators/test_sparse.py"]
SMOOTH = ["laws/test_manifold.py", "estimators/test_semi_supervised.py"]
EVERY = ["contract/test_frozen.py"]
# The tests that concern a module beside that of its own name, the quickest to tell first.
TESTS = {
    "problem.py": ["laws/test_solvers.py", "laws/test_hidden.py"],
    "hidden.py": ["laws/test_hidden.py", "laws/test_solvers.py"],
    "calibration.py": ["estimators/test_classifier.py"],
    "targets.py": ["laws/test_sample_weights.py", "estimators/test_classifier.py"],
    "estimators/class_labels.py": [
        "estimators/test_indicators.py",
        "estimators/test_classifier.py",
    ],
    "graphs.py": ["laws/test_discriminant.py"],
    "kernels/lowrank.py": ["laws/test_lowrank.py", "estimators/test_kernel.py"],
    "sources/source.py": ["laws/test_balanced.py", "distributed/test_ridge.py"],
    "estimators/intervals.py": ["laws/test_intervals.py"],
    "methods/ridge.py": [*SOLVE, "estimators/test_regressor.py"],
    "methods/box.py": HINGE,
    "methods/discriminant.py": ["laws/test_discriminant.py", "estimators/test_manifold_elm.py"],
    "methods/dual.py": [*SOLVE, "laws/test_precision.py", "estimators/test_kernel.py"],
    "estimators/layer_choice.py": ["estimators/test_column_weights.py"],
    "methods/kernel_ridge.py": ["methods/test_kernel_choice.py", "laws/test_kernel_elm.py"],
    "methods/unsupervised.py": [
        "estimators/test_embedding.py",
        "estimators/test_graph_embedding.py",
        "laws/test_manifold.py",
    ],
    "sources/sums.py": [
        "laws/test_balanced.py",
        "laws/test_streams.py",
        "estimators/test_streams.py",
    ],
    "methods/laplacian_eigenmaps.py": [
        "laws/test_laplacian_eigenmaps.py",
        "estimators/test_coupling.py",
    ],
    "methods/hinge.py": HINGE,
    "methods/margin.py": ["estimators/test_sparse.py"],
    "methods/iterative.py": SMOOTH,
    "methods/manifold_basis.py": SMOOTH,
    "methods/manifold.py": SMOOTH,
    "methods/propagation.py": ["laws/test_propagation.py", "estimators/test_coupling.py"],
    "methods/pseudo_ridge.py": [
        "estimators/test_coupling.py",
        "estimators/test_pool.py",
        "methods/test_pool.py",
    ],
    "methods/randomized.py": ["laws/test_kernel_elm.py", "estimators/test_classifier.py"],
    "methods/quadratic_penalty.py": [*SOLVE, "laws/test_precision.py"],
    "methods/class_scatter.py": ["methods/test_ridge.py", "laws/test_class_scatter.py"],
    "methods/clusters.py": ["estimators/test_kmeans.py", "distributed/test_clustering.py"],
    "methods/candidates.py": ["methods/test_pool.py", "estimators/test_pool.py"],
    "methods/pool.py": ["estimators/test_pool.py"],
    "methods/weighing.py": ["methods/test_pool.py", "estimators/test_pool.py"],
    "methods/growing.py": ["sources/test_waiting.py"],
}


@dataclass(frozen=True)
class Mutant:
    """One change: the occurrence of an operator in a module whose text has this digest."""

    module: str
    digest: str
    operator: str
    occurrence: int
    line: int
    before: str
    after: str

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What it is known by."""
        return self.module, self.digest, self.operator, self.occurrence


def changed(code: str, operator: str, occurrence: int) -> str:
    """The text with one change."""
    return mutate_code(code, cosmic_ray.plugins.get_operator(operator)(), occurrence)


def modules() -> list[str]:
    """The modules of ``TESTS`` and all solvers, with an error where one has no tests."""
    solvers = {f"methods/{path.name}" for path in (ROOT / SOURCE / "methods").glob("[!_]*.py")}
    found = [*TESTS, *sorted(solvers - TESTS.keys())]
    if missing := [name for name in found if tests_of(name) == EVERY]:
        sys.exit(f"tools/mutants.py names no tests for {', '.join(missing)}.")
    return found


def tests_of(module: str) -> list[str]:
    """The tests of a module: that of its name, those of ``TESTS``, and those of every module."""
    own = Path(module).with_name(f"test_{Path(module).name}").as_posix()
    first = [own] if (ROOT / "tests" / own).exists() else []
    return list(dict.fromkeys([*first, *TESTS.get(module, []), *EVERY]))


def tells(operator: str) -> bool:
    """Whether a change says something of the tests: most others end in an error at once.

    No number is shifted or multiplied as a matrix, and a type without its decorator does not run.
    """
    name, _, kinds = operator.removeprefix("core/").partition("_")
    apart = {"RShift", "LShift", "MatMul", "Is", "IsNot", "In", "NotIn"}
    bits, kinds = {"BitOr", "BitAnd", "BitXor"}, set(kinds.split("_"))
    mixed = name == "ReplaceBinaryOperator" and len(kinds & bits) == 1
    alone = {frozenset({"Is", "IsNot"}), frozenset({"In", "NotIn"})}
    return (
        name != "RemoveDecorator" and not mixed and (not kinds & apart or frozenset(kinds) in alone)
    )


def sites(code: str) -> dict[tuple[str, int, int], list[tuple[str, int]]]:
    """Where the text can be changed, and the operators and occurrences that change it there.

    Annotations are left out: nothing reads them.
    """
    tree, found = get_ast(code), {}
    hidden = annotations(code)
    for name in cosmic_ray.plugins.operator_names():
        operator = cosmic_ray.plugins.get_operator(name)
        if operator.arguments() or not tells(name):
            continue
        places = [p for node in ast_nodes(tree) for p in operator().mutation_positions(node)]
        for occurrence, (start, _) in enumerate(places):
            if not any(first <= start < last for first, last in hidden):
                family = name.removeprefix("core/").split("_")[0]
                found.setdefault((family, *start), []).append((name, occurrence))
    return found


def annotations(code: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where types are stated, from and to, as line and column."""
    parts = []
    for node in ast.walk(ast.parse(code)):
        parts += [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            parts += (
                [node.value] if names and names[0][0].isupper() and not names[0].isupper() else []
            )
    lines = code.splitlines()
    return [
        (
            (part.lineno, characters(lines[part.lineno - 1], part.col_offset)),
            (part.end_lineno, characters(lines[part.end_lineno - 1], part.end_col_offset)),
        )
        for part in parts
        if part is not None
    ]


def characters(line: str, offset: int) -> int:
    """Bytes, as ast counts them, in characters."""
    return len(line.encode()[:offset].decode())


def sample(size: int, seed: int) -> list[Mutant]:
    """Mutants of every module, in proportion to the places that it can be changed in."""
    texts = {name: (ROOT / SOURCE / name).read_text("utf-8") for name in modules()}
    places = {name: sites(code) for name, code in texts.items()}
    total = sum(map(len, places.values()))
    drawn = []
    for name, found in places.items():
        # A module's draw depends on nothing but its own text.
        rng = random.Random(f"{seed} {name}")
        count = min(len(found), max(LEAST, round(size * len(found) / total)))
        for place in sorted(rng.sample(sorted(found), count), key=lambda p: p[1:]):
            drawn.append(mutant(name, texts[name], *rng.choice(found[place])))
    return drawn


def mutant(module: str, code: str, operator: str, occurrence: int) -> Mutant:
    """A change, and what it does to the first line that it changes."""
    lines, others = code.splitlines(), changed(code, operator, occurrence).splitlines()
    pairs = enumerate(zip(lines, [*others, ""], strict=False), start=1)
    line, (before, after) = next((i, pair) for i, pair in pairs if pair[0] != pair[1])
    digest = hashlib.sha256(code.encode()).hexdigest()[:12]
    return Mutant(module, digest, operator, occurrence, line, before.strip(), after.strip())


class Copy:
    """A copy of the tree in which mutants are tried, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc"))
            else:
                shutil.copy2(ROOT / name, folder / name)

    def run(self, module: str, patience: float | None = None) -> tuple[int | None, str]:
        """The exit status of a module's tests, None where they do not end, and what they print."""
        tests = [f"tests/{name}" for name in tests_of(module)]
        output = self.folder / "output.txt"
        process = SERVER.Process(target=quick.run, args=(self.folder, tests, output))
        process.start()
        process.join(patience)
        if process.exitcode is None:
            process.kill()
            process.join()
            return None, ""
        return process.exitcode, output.read_text("utf-8")

    def write(self, module: str, code: str) -> None:
        """Put a text in a module's place; what was compiled of the last one may look as new."""
        path = self.folder / SOURCE / module
        path.write_text(code, "utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def unchanged(self, module: str) -> float:
        """How long a module's tests take; ends here where they fail without any change."""
        start = time.monotonic()
        status, output = self.run(module)
        if status:
            raise SystemExit(f"The tests of {module} fail without a change:\n{output}")
        took = time.monotonic() - start
        say(f"{module}: {took:.1f} s without a change")
        return took

    def tried(self, one: Mutant, patience: float) -> dict:
        """What became of a mutant."""
        start = time.monotonic()
        code = (self.folder / SOURCE / one.module).read_text("utf-8")
        self.write(one.module, changed(code, one.operator, one.occurrence))
        status, output = self.run(one.module, patience)
        self.write(one.module, code)
        noticed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, flags=re.MULTILINE)[:1]
        seconds = round(time.monotonic() - start, 1)
        outcome = "survived" if status == 0 else "killed"
        by = noticed[0] if noticed else None if status == 0 else "it does not end or run"
        return asdict(one) | {"outcome": outcome, "by": by, "seconds": seconds}


def known(again: bool) -> dict[tuple[str, str, str, int], dict]:
    """The results so far; without the survivors where these are to be tried again."""
    lines = RECORD.read_text("utf-8").splitlines() if RECORD.exists() else []
    results = [json.loads(line) for line in lines]
    kept = {
        (one["module"], one["digest"], one["operator"], one["occurrence"]): one for one in results
    }
    return {key: one for key, one in kept.items() if not again or one["outcome"] == "killed"}


def attempts(todo: list[Mutant], processes: int) -> Iterator[dict]:
    """Every mutant's result, as it comes."""
    with tempfile.TemporaryDirectory(prefix="ulmus-mutants-") as folder:
        copies: Queue[Copy] = Queue()
        for number in range(processes):
            copies.put(Copy(Path(folder, str(number))))

        def unchanged(module: str) -> tuple[str, float]:
            with borrowed(copies) as copy:
                return module, PATIENCE + SLOWER * copy.unchanged(module)

        def attempt(mutant: Mutant) -> dict:
            with borrowed(copies) as copy:
                return copy.tried(mutant, patience[mutant.module])

        with ThreadPoolExecutor(processes) as pool:
            patience = dict(pool.map(unchanged, sorted({mutant.module for mutant in todo})))
            yield from pool.map(attempt, todo)


@contextmanager
def borrowed(copies: Queue[Copy]) -> Iterator[Copy]:
    """One that is free."""
    copy = copies.get()
    try:
        yield copy
    finally:
        copies.put(copy)


def run(todo: list[Mutant], processes: int) -> None:
    """Try mutants, and record each result."""
    RECORD.parent.mkdir(exist_ok=True)
    with RECORD.open("a", encoding="utf-8") as record:
        for count, result in enumerate(attempts(todo, processes), start=1):
            record.write(json.dumps(result, ensure_ascii=False) + "\n")
            record.flush()
            place = f"{result['module']}:{result['line']}"
            say(f"{count}/{len(todo)} {result['outcome']:8} {place} {result['after']}")


def report(results: list[dict]) -> dict:
    """The score of each module, and the survivors, printed and as data."""
    rows = {}
    for name in modules():
        own = [one for one in results if one["module"] == name]
        killed = sum(one["outcome"] == "killed" for one in own)
        if own:
            rows[name] = {"mutants": len(own), "killed": killed}
            say(f"{name:28} {killed:4} of {len(own):4}  {100 * killed / len(own):5.1f} %")
    total, killed = len(results), sum(row["killed"] for row in rows.values())
    say(f"{'all':28} {killed:4} of {total:4}  {100 * killed / max(1, total):5.1f} %")
    fields = ("module", "line", "operator", "before", "after")
    left = [{name: one[name] for name in fields} for one in results if one["outcome"] != "killed"]
    for one in left:
        say(f"{one['module']}:{one['line']}\n  - {one['before']}\n  + {one['after']}")
    return {"mutants": total, "killed": killed, "modules": rows, "survivors": left}


def main() -> None:
    """Draw, try what is not known yet, and report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=SAMPLE, help=f"how many (default: {SAMPLE})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the draw (default: {SEED})")
    parser.add_argument("--processes", type=int, default=2, help="at a time (default: 2)")
    parser.add_argument("--again", action="store_true", help="try the survivors again")
    parser.add_argument("--module", action="append", help="this one alone; writes no summary")
    given = parser.parse_args()
    os.environ.update(SINGLE, SCIPY_ARRAY_API="1")
    SERVER.set_forkserver_preload(["__main__", *quick.PACKAGES])
    drawn = sample(given.sample, given.seed)
    drawn = [one for one in drawn if not given.module or one.module in given.module]
    done = known(given.again)
    run([one for one in drawn if one.key not in done], given.processes)
    done = known(again=False)
    summary = report([done[one.key] for one in drawn])
    if not given.module:
        text = json.dumps({"seed": given.seed} | summary, indent=1, ensure_ascii=False)
        SUMMARY.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
