"""Why some defaults are what they are: each choice beside what it replaced.

Run by ``python -m benchmarks choices``; the data files come from ULMUS_DATA.
"""

import os
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.linalg.blas import sgemm, ssyrk
from sklearn.datasets import load_diabetes

from benchmarks.measure import cases_page
from ulmus import ELMClassifier, ELMRegressor, RandomFeatures, RBFFeatures
from ulmus.features import scaling, unit_layers


def mixed_blas(n=50_000, d=100, h=2000, block=4096):
    """CPU seconds of one GEMM and SYRK loop: NumPy's product before SciPy's, or SciPy's alone."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    A = rng.uniform(-0.1, 0.1, (d, h)).astype(np.float32)
    H, G = np.empty((block, h), np.float32), np.zeros((h, h), np.float32, order="F")

    def loop(product):
        start = time.process_time()
        for i in range(0, n, block):
            rows = X[i : i + block]
            product(rows, H[: len(rows)])
            ssyrk(1.0, H[: len(rows)].T, beta=1.0, c=G, overwrite_c=1)
        return time.process_time() - start

    both = [loop(lambda x, out: np.matmul(x, A, out=out)) for _ in range(3)]
    one = [loop(lambda x, out: sgemm(1.0, A.T, x.T, c=out.T, overwrite_c=1)) for _ in range(3)]
    return {"two libraries, CPU s": min(both), "one library, CPU s": min(one)}


def intercept():
    """R² on the last 142 rows of the diabetes data, RBF units, with and without an intercept."""
    X, y = load_diabetes(return_X_y=True)
    score = {}
    for name, fit_intercept in {"with an intercept": True, "without": False}.items():
        runs = [
            ELMRegressor(RBFFeatures(), fit_intercept=fit_intercept, random_state=seed)
            .fit(X[:300], y[:300])
            .score(X[300:], y[300:])
            for seed in range(5)
        ]
        score[name] = float(np.mean(runs))
    return score


def offset():
    """The C that float32 rows reach on California housing, with the sigmoid's ½ left out or in."""
    data = np.load(Path(os.environ["ULMUS_DATA"]) / "california_housing.npz")
    X, y = data["X"][::2], data["y"][::2]
    out = ELMRegressor(RandomFeatures(), random_state=0).fit(X, y)
    plain = unit_layers.Activation(unit_layers.ACTIVATIONS["sigmoid"].apply, gain=0.5)
    shifted = unit_layers.Activation(lambda Z: plain.apply(Z) + np.float32(0.5), gain=0.5)
    with patch.dict(unit_layers.ACTIVATIONS, {"sigmoid": shifted}):
        kept = ELMRegressor(RandomFeatures(), random_state=0).fit(X, y)
    wide = ELMRegressor(RandomFeatures(), random_state=0).fit(X.astype(float), y)
    return {
        name: {"C": model.C_, "left-out R²": float(model.loo_score_)}
        for name, model in {"½ left out": out, "½ kept": kept, "float64": wide}.items()
    }


def reach():
    """Test error on image sets, columns divided by their deviation alone or by the default."""
    errors = {}
    for name in ("mnist", "usps", "optdigits"):
        data = np.load(Path(os.environ["ULMUS_DATA"]) / f"{name}.npz")
        order = np.random.default_rng(0).permutation(len(data["y"]))
        X, y = data["X"][order].astype(np.float32), data["y"][order]
        errors[name] = {}
        for rule, limit in {"default": scaling._REACH, "deviation alone": np.inf}.items():
            with patch.object(scaling, "_REACH", limit):
                model = ELMClassifier(RandomFeatures(), random_state=0).fit(X[:4000], y[:4000])
                errors[name][rule] = 1 - model.score(X[4000:7000], y[4000:7000])
    return errors


def measure():
    """Every choice; those that need data files only where they are."""
    found = {"one BLAS": mixed_blas(), "intercept": intercept()}
    if "ULMUS_DATA" in os.environ:
        found |= {"offset": offset(), "reach": reach()}
    return found


def run(folder, rounds):
    """The defaults beside what they replaced."""
    return cases_page(measure(), "Choices")
