"""The MELM paper's figures, beside what is measured here.

Run by ``python -m benchmarks faces``; the data files come from ULMUS_DATA.
"""

from functools import partial

import numpy as np

from ulmus import ManifoldELMClassifier
from ulmus.exceptions import MissingExtraError
from ulmus.experiments import baselines, faces
from ulmus.experiments.files import benchmark_rows

LAMS = np.arange(10) / 10
# Table 3 of the paper: the mean of each network over its iterations, and MELM's.
TABLE3 = {
    "Yale": (46.00, 52.26, 69.95),
    "ORL": (44.76, 11.30, 86.06),
    "UMIST": (57.27, 26.82, 83.40),
}


def methods():
    """Accuracy of the four methods for every number of training images; draws, mean, deviation."""
    found = {}
    for name in ("Yale", "ORL", "Yale B"):
        problem = faces.PROBLEMS[name]
        for per_class in problem.per_class:
            many = name != "Yale B" or per_class == problem.shown
            for seed in (0, 1) if per_class == problem.shown else (0,):
                runs = faces.evaluate(problem, per_class, count=10 if many else 3, seed=seed)
                case = f"{name}, {per_class} images, seed {seed}"
                found[case] = {k: _summary(v) for k, v in runs.items()}
                if per_class == problem.shown:
                    found[case]["paper"] = problem.paper
                print(case, found[case], flush=True)
    return found


def forms():
    """What is solved: the positive part of S, the bounded form and the printed one."""
    found = {}
    for name in ("Yale", "ORL", "Yale B"):
        problem = faces.PROBLEMS[name]
        count = 3 if name == "Yale B" else 10
        runs = faces.evaluate(problem, problem.shown, faces.FORMS, count=count)
        found[name] = {k: _summary(v) for k, v in runs.items()}
        print(name, found[name], flush=True)
    return found


def strengths():
    """Table 4: MELM for λ from 0 to 0.9, C by the training images."""
    found = {}
    for name, problem in faces.PROBLEMS.items():
        made = {f"{lam:.1f}": partial(_with_lam, float(lam)) for lam in LAMS}
        count = 1 if name == "Yale B" else 5
        runs = faces.evaluate(problem, problem.shown, made, count=count)
        found[name] = {
            lam: {"ours": float(np.mean(values)), "paper": paper}
            for (lam, values), paper in zip(runs.items(), problem.table4, strict=True)
        }
        print(name, found[name], flush=True)
    return found


def _with_lam(lam, h):
    return ManifoldELMClassifier(n_hidden=h, lam=lam)


def networks(count=3):
    """Table 3: a deep belief network, a convolutional network and MELM, 5 images of each person."""
    found = {}
    for name, paper in TABLE3.items():
        X, y = benchmark_rows(faces.PROBLEMS[name].file)
        scores = {"DBN": [], "CNN": [], "MELM": []}
        for number, (train, test) in enumerate(faces.draws(y, 5, count)):
            judged = {"DBN": baselines.deep_belief_network(seed=number)}
            judged["MELM"] = ManifoldELMClassifier(n_hidden=1024, random_state=number)
            for model_name, model in judged.items():
                score = model.fit(X[train], y[train]).score(X[test], y[test])
                scores[model_name].append(100 * score)
            try:
                labels = baselines.convolutional_network(X[train], y[train], X[test], 32)
                scores["CNN"].append(100 * float(np.mean(labels == y[test])))
            except MissingExtraError:
                pass
        found[name] = {
            k: {"ours": float(np.mean(v)) if v else None, "paper": p}
            for (k, v), p in zip(scores.items(), paper, strict=True)
        }
        print(name, found[name], flush=True)
    return found


def _summary(values):
    return {
        "mean": float(np.mean(values)),
        "deviation": float(np.std(values, ddof=1)),
        "draws": len(values),
    }
