"""``ulmus bench``: how fast this machine fits, beside the least that it could take."""

import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

from ulmus.cli.printing import note, table, tell, watching
from ulmus.estimators.elm import ELMClassifier
from ulmus.machine import machine

_COLUMNS, _CLASSES = 50, 10
_RUNS = 3


def bench(options: Namespace) -> int:
    """Fit and predict invented rows in four ways, and print the seconds of each."""
    n, h = options.rows, options.units
    rng = np.random.default_rng(options.seed)
    X = rng.standard_normal((n, _COLUMNS), dtype=np.float32)
    y = np.argmax(X @ rng.standard_normal((_COLUMNS, _CLASSES), dtype=np.float32), axis=1)
    seed = {"random_state": options.seed}
    sampler = RBFSampler(gamma=1 / _COLUMNS, n_components=h, **seed)
    contenders: dict[str, Any] = {
        "the least: BLAS and one Cholesky": _Floor(h),
        "ELMClassifier, C = 1": ELMClassifier(n_hidden=h, C=1.0, **seed),
        "ELMClassifier, C of 25 by leave-one-out": ELMClassifier(n_hidden=h, **seed),
        "scikit-learn: Ridge on RBFSampler": make_pipeline(sampler, RidgeClassifier(alpha=1.0)),
    }
    found = {}
    with watching("Timing", options.quiet, steps=len(contenders)) as step:
        _Floor(h).fit(X[:100], y[:100])  # the first call of BLAS starts its threads
        for name, model in contenders.items():
            step(name)
            found[name] = {"fit": _least(model.fit, X, y), "predict": _least(model.predict, X)}
    about = machine()
    if not options.json:
        words = f"{about['processor']}, {about['cores']} cores, {about['memory_gb']} GB"
        note(words, options.quiet)
    floor = sum(next(iter(found.values())).values())
    rows = [
        (name, f"{s['fit']:.2f}", f"{s['predict']:.2f}", f"{sum(s.values()) / floor:.1f}")
        for name, s in found.items()
    ]
    headings = (f"{n:,} × {_COLUMNS}, {h} units", "fit s", "predict s", "× least")
    result = {"rows": n, "columns": _COLUMNS, "units": h, "seconds": found, "machine": about}
    return tell(options, result, *table(headings, rows))


def _least(work: Callable[..., object], *arguments: np.ndarray) -> float:
    """Seconds of the quickest of a few runs: what slowed the others was something else."""
    seconds = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        work(*arguments)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


class _Floor:
    """The products that any such model takes, by BLAS, with nothing around them."""

    def __init__(self, units: int) -> None:
        self.units = units

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.W = np.ones((X.shape[1], self.units), dtype=X.dtype)
        H = X @ self.W
        gram = blas.ssyrk(1.0, H.T).astype(float) + len(X) * self.units * np.eye(self.units)
        T = np.eye(_CLASSES, dtype=X.dtype)[y]
        self.coef = cho_solve(cho_factor(gram), H.T @ T).astype(X.dtype)

    def predict(self, X: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.argmax(X @ self.W @ self.coef, axis=1)
        return found
