"""``make bench``: run comparisons, print every ratio beside its goal, keep the JSON and the table.

Without names the runs that have goals are measured, twice each, in about a quarter of an hour on
two cores; ``--full`` measures all, three times each. The status is 1 where a ratio misses its goal
by more than 15 %. ``gpu`` and ``cores`` are for machines that have a GPU, or many cores. The JSON
and the Markdown table land beside this file and in ``docs/benchmarks``.
"""

import argparse
import json
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from benchmarks import goals
from benchmarks.measure import machine, table

HERE = Path(__file__).parent
PAGES = HERE.parent / "docs" / "benchmarks"
RUNS = (
    "fit", "path", "layers", "widths", "sizes", "small", "kernel", "manifold", "hinge", "dask",
    "dask_labels", "dask_scale", "neighbours", "import", "files", "choices", "readings",
    "kernel_readings", "known", "geometry", "units", "classes", "clusters", "maps", "scale",
    "mnist", "hundred", "labels", "unseen", "blanks", "priors", "graphs", "values", "label",
    "relabel", "onnx", "streams", "rows", "ridges", "tables", "tabular", "messy", "rtables",
    "texts", "folds", "serving", "million", "coverage", "unlabelled", "counts", "noise", "forms",
    "sparse", "edges", "sources",
)  # fmt: skip
# Runs of which some models can be measured again.
OF_MODELS = ("rtables", "tabular")
# Runs for machines that others cannot replace.
APART = ("cores", "gpu")
# Where a run is that is not called ``run``, or whose module has another name.
PLACES = {
    "blanks": "labels.run_blanks",
    "counts": "unlabelled.run_counts",
    "dask": "dask_cluster.run",
    "graphs": "priors.run_graphs",
    "import": "cold_import.run",
    "noise": "among_noise.run",
    "onnx": "latency.run",
    "sources": "priors.run_sources",
    "unseen": "labels.run_unseen",
    "values": "priors.run_values",
}


def run_of(name):
    """The function of an empty folder and a number of rounds: figures, ratios and a page.

    Its module is imported here, because machines may lack what others need.
    """
    module, _, function = PLACES.get(name, f"{name}.run").partition(".")
    return getattr(import_module(f"benchmarks.{module}"), function)


def measured(name, rounds, keep, options, out=None):
    """Run one benchmark, print its page, keep it, and give its ratios."""
    with tempfile.TemporaryDirectory() as folder:
        found, ratios, page = run_of(name)(Path(folder), rounds, **options)
    if ratios:
        lines = [(what, f"{ratio:.3g}") for what, ratio in ratios.items()]
        page += "\n\n" + table("Ratios", ["what", "ratio"], lines)
    print(f"\n{page}\n", flush=True)
    report = {"machine": machine(), "results": found, "ratios": ratios}
    text = json.dumps(report, indent=2) + "\n"
    if out is not None:
        Path(out).write_text(text)
    if keep:
        (HERE / "results").mkdir(exist_ok=True)
        (HERE / "results" / f"{name}.json").write_text(text)
        PAGES.mkdir(parents=True, exist_ok=True)
        (PAGES / f"{name}.md").write_text(page + "\n")
        if name in OF_MODELS:
            # Imported here, for few machines can.
            import_module(f"benchmarks.{name}").picture(found, PAGES / f"{name}.svg")
    return ratios


def main(arguments=None, measure=measured):
    """Run the benchmarks that are named; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="which (default: those with goals)")
    parser.add_argument("--full", action="store_true", help="all, three rounds each")
    parser.add_argument("--rounds", type=int, help="best of this many")
    parser.add_argument("--models", nargs="+", help="of some: these, beside others as kept")
    parser.add_argument("--parts", nargs="+", help="of gpu and hundred: these parts alone")
    parser.add_argument("--quick", action="store_true", help="one round, one split, kept peers")
    parser.add_argument("--keep", action="store_true", help="write the JSON and the tables")
    parser.add_argument("--out", help="of one benchmark: write its JSON to this file")
    asked = parser.parse_args(arguments)
    names = asked.names or (list(RUNS) if asked.full else goals.BRIEF)
    unknown = set(names) - {*RUNS, *APART}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(RUNS)}")
    if asked.out and len(names) > 1:
        parser.error("--out is for one benchmark; name one.")
    few = 2 if names == goals.BRIEF else 3
    rounds = 1 if asked.quick else asked.rounds or few
    found = {}
    for name in names:
        options = {"models": asked.models} if asked.models and name in OF_MODELS else {}
        options |= {"parts": asked.parts} if asked.parts and name in ("gpu", "hundred") else {}
        found[name] = measure(name, rounds, asked.keep, options, asked.out)
    lines, missed = goals.judged(found)
    if lines:
        print(table("Goals", ["benchmark", "what", "measured", "goal", ""], lines))
    for goal in missed:
        print(f"{goal.run}: {goal.ratio} misses its goal {goal.words}.", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
