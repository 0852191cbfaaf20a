"""The README's figures, each computed again from the committed runs."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tools import front

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def found(name, part="results"):
    text = (ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)[part]


def cell(model, job):
    """The figures beside a model's name in the row of a job."""
    row = next(line for line in README.splitlines() if line.startswith(f"| **{job}"))
    (text,) = re.findall(rf"[|>] ?`?{re.escape(model)}`? ([^<|]*?) ?(?=[<|])", row)
    return [float(number) for number in re.findall(r"[\d.]+", text)]


@pytest.mark.parametrize(
    ("shown", "model"),
    [
        ("SemiSupervisedELMClassifier", "Ulmus"),
        ("LabelSpreading", "LabelSpreading, knn"),
        ("self-training SVM", "SelfTraining, SVC"),
        ("SVM on the labels alone", "SVC"),
    ],
)
def test_accuracies_with_few_labels_are_those_of_the_run(shown, model):
    errors = [v[model] for k, v in found("labels").items() if "10 a class" in k]
    assert cell(shown, "Few labels") == [round(100 - np.mean(errors), 1)]


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    ("shown", "model"),
    [
        ("fit_table", "fit_table"),
        ("CatBoost", "CatBoost"),
        ("linear model", "linear"),
        ("random forest", "random forest"),
        ("HistGradientBoosting", "HistGradientBoosting"),
        ("LightGBM", "LightGBM"),
    ],
)
def test_ranks_scores_and_seconds_of_tables_are_those_of_the_run(shown, model, task):
    every = found("rtables")[task]
    whole = [run for run in every.values() if not any(one["failures"] for one in run.values())]
    scores = [{m: max(np.mean(one["scores"]), -0.2) for m, one in run.items()} for run in whole]
    ahead = [[one > each[model] for one in each.values()] for each in scores]
    ties = [[one == each[model] for one in each.values()] for each in scores]
    rank = np.mean(np.sum(ahead, axis=1) + (np.sum(ties, axis=1) + 1) / 2)
    score = np.mean([each[model] for each in scores])
    score = round(score, 3) if task == "regression" else round(100 * score, 1)
    seconds = np.mean([run[model]["cpu_seconds"] for run in every.values()])
    job = "Tables: numbers" if task == "regression" else "Tables: classes"
    assert cell(shown, job) == [round(rank, 1), score, round(seconds, 2)]


@pytest.mark.parametrize(
    ("shown", "model"),
    [
        ("ELMSpectralClustering", "ELMSpectralClustering"),
        ("SpectralClustering", "SpectralClustering"),
        ("k-means", "KMeans"),
        ("HDBSCAN", "HDBSCAN"),
    ],
)
def test_rand_indices_and_seconds_of_clusters_are_those_of_the_run(shown, model):
    sets = {}
    for key, run in found("unlabelled").items():
        name, kind, _ = key.split("/")
        if kind == model:
            sets.setdefault(name, []).append((run["ARI"], run["seconds"]))
    ari, seconds = np.mean([np.mean(runs, axis=0) for runs in sets.values()], axis=0)
    assert cell(shown, "Clusters") == [round(ari, 3), round(seconds, 1)]


@pytest.mark.parametrize("model", ["ELMLayout", "UMAP", "PaCMAP"])
def test_accuracies_and_seconds_of_maps_are_those_of_the_run(model):
    runs = [(way[model]["given"], way[model]["seconds"]) for way in found("maps")["ways"].values()]
    given, seconds = np.mean(runs, axis=0)
    assert cell(model, "Maps") == [round(100 * given, 1), round(seconds, 1)]


def test_every_figure_of_the_readme_comes_from_the_runs():
    assert front.written(README) == README, "run python -m tools.front"


def test_what_the_readme_says_against_the_library_is_true():
    assert -1 < found("blanks", "ratios")["points of SS-ELM above ELM, adult"] < 0
    shuttle = found("forms")["shuttle"]
    assert round(shuttle["agreement"] - shuttle["both, .05"]) == 26
    tabular = found("tabular").values()
    seconds = {
        m: np.median([np.mean([split["cpu_seconds"] for split in run[m]]) for run in tabular])
        for m in ("kernel ELM", "LightGBM")
    }
    assert seconds["LightGBM"] * 3 < seconds["kernel ELM"]
