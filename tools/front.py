"""Write the README's figures from the committed runs: ``python -m tools.front``.

They are the table of comparisons, where a cell is the mean over all data sets of a run, and how
many figures of the papers are reached. ``tests/contract/test_front_page.py`` computes every figure
again and fails where the README has another.
"""

import json
import sys
from pathlib import Path
from statistics import mean

from benchmarks.rtables import scores, summary
from papers.counts import total

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
FEW = {
    "Ulmus": "`SemiSupervisedELMClassifier`",
    "LabelSpreading, knn": "LabelSpreading",
    "SelfTraining, SVC": "self-training SVM",
    "SVC": "SVM on the labels alone",
}
TABLES = {
    "fit_table": "`fit_table`",
    "CatBoost": "CatBoost",
    "linear": "linear model",
    "random forest": "random forest",
    "HistGradientBoosting": "HistGradientBoosting",
    "LightGBM": "LightGBM",
}
CLUSTERS = {
    "ELMSpectralClustering": "`ELMSpectralClustering`",
    "SpectralClustering": "SpectralClustering",
    "KMeans": "k-means",
    "HDBSCAN": "HDBSCAN",
}
MAPS = {"ELMLayout": "`ELMLayout`", "UMAP": "UMAP", "PaCMAP": "PaCMAP"}


def results(name):
    """What a benchmark found."""
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["results"]


def percent(share):
    """A share as text."""
    return f"{100 * share:.1f} %"


def few_labels():
    """Accuracy with ten labels a class, on rows without a label."""
    sets = {k: v for k, v in results("labels").items() if k.endswith(", 10 a class")}
    cells = {m: percent(1 - mean(mean(run[m]) for run in sets.values()) / 100) for m in FEW}
    return f"Few labels: 10 a class, {len(sets)} sets. Accuracy on rows without a label", FEW, cells


def tables(task):
    """Mean rank of the models, mean score on new rows, and CPU seconds of a fit."""
    cells = results("rtables")[task]
    found, every = summary(cells), len(scores(cells))
    form = "{:.3f}" if task == "regression" else "{:.1%}"
    shown = {
        model: f"{found[model]['rank']:.1f}, {form.format(found[model]['mean'])}, "
        f"{found[model]['seconds'] / len(cells):.2f} s"
        for model in TABLES
    }
    shown = {model: text.replace("%", " %") for model, text in shown.items()}
    kind, measure = ("numbers", "R²") if task == "regression" else ("classes", "accuracy")
    return (
        f"Tables: {kind}, {every} columns. Mean rank of six, {measure} on new rows",
        TABLES,
        shown,
    )


def clusters():
    """Adjusted Rand index, and seconds of a fit."""
    runs = {}
    for key, run in results("unlabelled").items():
        name, model, _ = key.split("/")
        runs.setdefault(model, {}).setdefault(name, []).append(run)
    cells = {}
    for model in CLUSTERS:
        found = runs[model].values()
        ari, seconds = (mean(mean(r[k] for r in run) for run in found) for k in ("ARI", "seconds"))
        cells[model] = f"{ari:.3f}, {seconds:.1f} s"
    sets = len(runs["KMeans"])
    return f"Clusters: no label, {sets} sets. Adjusted Rand index", CLUSTERS, cells


def maps():
    """How many rows have the class of their ten nearest on the map, and seconds of a fit."""
    ways = results("maps")["ways"].values()
    cells = {}
    for model in MAPS:
        given, seconds = (mean(way[model][k] for way in ways) for k in ("given", "seconds"))
        cells[model] = f"{percent(given)}, {seconds:.1f} s"
    return f"Maps in two dimensions, {len(ways)} sets. Ten-nearest-neighbours accuracy", MAPS, cells


def _jobs():
    return few_labels(), tables("classification"), tables("regression"), clusters(), maps()


def table():
    """The table as Markdown."""
    lines = ["| job and measure | Ulmus | what people use now |", "| --- | --- | --- |"]
    for job, names, cells in _jobs():
        shown = {model: f"{names[model]} {cell}" for model, cell in cells.items()}
        ours = "<br>".join(text for text in shown.values() if text.startswith("`"))
        rest = "<br>".join(text for text in shown.values() if not text.startswith("`"))
        head, measure = job.split(". ")
        lines.append(f"| **{head}**<br>{measure} | {ours} | {rest} |")
    return "\n".join(lines)


def reached():
    """How many of the papers' figures are reached, under both readings and all rules."""
    path = ROOT / "docs" / "papers" / "results.json"
    counts = total(json.loads(path.read_text(encoding="utf-8"))["counts"])
    lines = ["| figures that are reached | strict | Welch | lenient |", "| --- | --- | --- | --- |"]
    for reading, words in (("printed", "to the letter"), ("read", "as we read the papers")):
        cells = [f"{a} of {b}" for a, b in counts[reading].values()]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


def written(text):
    """The README with its figures made anew."""
    for part, made in {"figures": table, "papers": reached}.items():
        start, end = f"<!-- {part}: python -m tools.front -->", f"<!-- end of {part} -->"
        before, rest = text.split(start)
        text = f"{before}{start}\n\n{made()}\n\n{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{table()}\n\n{reached()}\n")
