"""Tables 2 to 4 of the kernel ELM paper: random radial units against a kernel's low-rank space.

The settings and the paper's figures are in ``protocols/3-table-*.toml``. A run is one experiment:
five folds, stratified, and the mean rate over them.
"""

import time
import warnings
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from papers.alternatives import ALTERNATIVES
from papers.datasets import benchmark_rows
from papers.pairs import Pairs
from ulmus.estimators.elm import ELMClassifier
from ulmus.estimators.kernel import KernelELMClassifier
from ulmus.estimators.sparse import SparseELMClassifier
from ulmus.exceptions import IllConditionedWarning, LowRankWarning
from ulmus.features import KernelFeatures, RBFFeatures

# So small beside the largest, a direction moves an output by less than 1e-5 where C is 1000.
_HARDLY = 1e-7


@dataclass(frozen=True)
class Fold:
    """Training and test rows; two folds are the same where data, experiment and number are."""

    data: str
    experiment: int
    number: int
    X: np.ndarray = field(compare=False)
    y: np.ndarray = field(compare=False)
    X_test: np.ndarray = field(compare=False)
    y_test: np.ndarray = field(compare=False)

    @property
    def seed(self):
        """Of what is drawn for it."""
        return 5 * self.experiment + self.number


def run(case):
    """Mean rate (%) over the folds, at the best C where there is a list, and seconds of a fit."""
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, IllConditionedWarning, LowRankWarning):
            warnings.simplefilter("ignore", category)
        folds = _folds(case.data, 1000 * case.seed + case.repetition, case.settings["folds"])
        found = [_curve(case.settings, fold) for fold in folds]
    rates, seconds = zip(*found, strict=True)
    return {"rate": float(np.mean(rates, axis=0).max()), "seconds": float(np.mean(seconds))}


def _folds(data, experiment, count):
    """The first so many of five folds."""
    X, y = inputs(data)
    splits = StratifiedKFold(5, shuffle=True, random_state=experiment).split(X, y)
    for number, (train, test) in zip(range(count), splits, strict=False):
        yield Fold(data, experiment, number, X[train], y[train], X[test], y[test])


def inputs(name):
    """The data as the protocol sees them: standardised columns, centres' law being U(−1, 1)."""
    X, y = benchmark_rows(name)
    if name == "tic_tac_toe":
        X = np.where(X == 1, 1.0, np.where(X == -1, 2.0, 3.0))
    return StandardScaler().fit_transform(X), y


def _curve(settings, fold):
    """The test rate at every C that is tried, and the seconds of one fit."""
    if "space" in settings:
        return _in_space(settings, fold)
    model = KernelELMClassifier("rbf", gamma="loo", random_state=fold.seed)
    if settings["model"] in ALTERNATIVES:
        columns = min(settings["width"], len(fold.X))
        model = ALTERNATIVES[settings["model"]](columns, fold.seed)
    start = time.process_time()
    model.fit(fold.X, fold.y)
    seconds = time.process_time() - start
    return [100.0 * model.score(fold.X_test, fold.y_test)], seconds


def _in_space(settings, fold):
    """ELM or S-ELM on hidden rows."""
    H, H_test, seconds = _hidden(settings["space"], settings["width"], fold)
    if settings["model"] != "elm":
        start = time.process_time()
        H, H_test = _turned(H, H_test)
        seconds += time.process_time() - start
    values = settings["C"] if isinstance(settings["C"], list) else [settings["C"]]
    start, fit = time.process_time(), _fitting(settings, H, fold.y)
    rates = [100.0 * float(np.mean(fit(C).predict(H_test) == fold.y_test)) for C in values]
    return rates, seconds + (time.process_time() - start) / len(values)


def _fitting(settings, H, y):
    """A function of C to a fitted classifier, which starts from the last one where it can."""
    if settings.get("pairs") and settings["C"] != "validation":
        return Pairs(H, y).fit
    model = ELMClassifier(FunctionTransformer())
    if settings["model"] != "elm":
        model = SparseELMClassifier(FunctionTransformer(), warm_start=True, random_state=0)
    if settings.get("pairs"):
        model = OneVsOneClassifier(model)

    def fit(C):
        getattr(model, "estimator", model).set_params(C=C)
        return model.fit(H, y)

    return fit


def _turned(H, H_test):
    """The same rows in fewer columns: a rotation changes no margin and no ‖β‖.

    Directions that the rows hardly have are left out. Random units have many: a thousand on
    Segmentation have 280 directions, and S-ELM is four times as quick in those.
    """
    _, sizes, V = np.linalg.svd(H, full_matrices=False)
    V = V[sizes > _HARDLY * sizes[0]].T
    return H @ V, H_test @ V


def _hidden(space, width, fold):
    """Hidden rows for training and for testing, and the seconds they took."""
    if space == "low-rank":
        H, H_test, seconds = _eigenvectors(fold)
        return H[:, :width], H_test[:, :width], seconds
    units = RBFFeatures(width, centers="uniform", scaling=None, random_state=fold.seed)
    return _mapped(units, fold)


# A narrower space is the first columns of a wider one, and the methods of a row share it.
@lru_cache(maxsize=5)
def _eigenvectors(fold):
    units = KernelFeatures(rank=min(1000, len(fold.X)), method="eig", scaling=None)
    return _mapped(units, fold)


def _mapped(units, fold):
    start = time.process_time()
    H = units.fit(fold.X).transform(fold.X)
    return H, units.transform(fold.X_test), time.process_time() - start
