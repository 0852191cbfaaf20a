"""What columns of text are worth: nothing, as categories, by words, by letters.

Run by ``python -m benchmarks texts``; nothing is downloaded. Rows are functions and methods of
installed packages, and the class to predict is the package. The columns: the first sentence of the
documentation, the function's name, and the class that a method belongs to, a category with a long
tail. `TableEncoder` reads letters; words are given the same weights and as many columns. The rule
was fixed on the first three packages of `PACKAGES`, and the others confirm it. Where skrub is
installed (the extra `peers`), its encoders are measured too, with as many columns.
"""

import importlib
import importlib.util
import inspect
import warnings

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from benchmarks.measure import table
from ulmus import ELMClassifier
from ulmus.tables import Table, TableEncoder

PACKAGES = {
    "fixed on": ("numpy", "scipy.stats", "pandas"),
    "confirmed on": ("sklearn.metrics", "scipy.signal", "matplotlib.axes", "sqlite3", "decimal"),
}
COLUMNS = ("sentence", "name", "owner")
WAYS = ("nothing", "category", "words", "text")
PEERS = ("StringEncoder", "MinHashEncoder", "GapEncoder")
_MOST, _LONGEST, _SPLITS = 400, 300, 3


def rows_of(package):
    """Sentence, name and owner of what a package documents, each sentence once."""
    module, found = importlib.import_module(package), {}
    for name in sorted(dir(module)):
        thing = getattr(module, name)
        members = sorted(dir(thing)) if inspect.isclass(thing) else []
        pairs = [(getattr(thing, member, None), member, name) for member in members]
        for part, called, owner in [(thing, name, "none"), *pairs]:
            text = inspect.getdoc(part) if callable(part) and called[0] != "_" else None
            if text:
                sentence = " ".join(text.split("\n\n")[0].split())[:_LONGEST]
                found.setdefault(sentence, (sentence, called, owner))
    return list(found.values())[:_MOST]


def described(packages):
    """The columns, and the package of each row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [(*row, package) for package in packages for row in rows_of(package)]
    columns = np.array(rows, dtype=object).T
    return dict(zip((*COLUMNS, "package"), columns, strict=True))


def ways():
    """Ours, and skrub's where it is installed."""
    return (*WAYS, *PEERS) if importlib.util.find_spec("skrub") else WAYS


def encoded(column, way, train):
    """The matrix of one column, in one of the ways."""
    if way in PEERS:
        skrub, pandas = importlib.import_module("skrub"), importlib.import_module("pandas")
        seed = {} if way == "MinHashEncoder" else {"random_state": 0}
        width = min(50, int(train.sum()) // 20)
        encoder = getattr(skrub, way)(n_components=width, **seed)
        cells = pandas.Series(column, name="c", dtype="str")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return np.asarray(encoder.fit(cells[train]).transform(cells), dtype=np.float32)
    if way == "words":
        hashing = HashingVectorizer(n_features=2**12, alternate_sign=False, norm=None)
        V = hashing.transform(column)
        V = TfidfTransformer(sublinear_tf=True).fit(V[train]).transform(V)
        width = min(50, int(train.sum()) // 20)
        return TruncatedSVD(width, random_state=0).fit(V[train]).transform(V)
    data = Table(("c",), {"c": column})
    return TableEncoder(given={"c": way}).fit(data.rows(train)).transform(data)


def accuracy(column, y, way, seed):
    """The share of held-out rows that are right; nothing is the majority class."""
    train = np.random.default_rng(seed).permutation(len(y)) < 2 * len(y) // 3
    # Text that hardly ever comes twice has no categories.
    rare = way == "category" and np.unique(column[train], return_counts=True)[1].max() < 10
    if way == "nothing" or rare:
        names, counts = np.unique(y[train], return_counts=True)
        return float((y[~train] == names[counts.argmax()]).mean())
    X = encoded(column, way, train)
    return float(ELMClassifier(random_state=0).fit(X[train], y[train]).score(X[~train], y[~train]))


def measure(quick=False):
    """Accuracies by packages, column and way."""
    found = {}
    for what, packages in PACKAGES.items():
        data = described(packages)
        y = data["package"].astype(str)
        for name in COLUMNS:
            for way in ways():
                scores = [accuracy(data[name], y, way, s) for s in range(1 if quick else _SPLITS)]
                found.setdefault(f"{name}, {what} {len(packages)} packages", {})[way] = scores
    return found


def page(found):
    """The means as a table."""
    names = list(next(iter(found.values())))
    rows = [(case, *(f"{np.mean(one[way]):.3f}" for way in names)) for case, one in found.items()]
    return table("A column of text alone (accuracy)", ["column", *names], rows)


def run(folder, rounds):
    """A column of text, read in several ways: three splits, or one with ``--quick``."""
    found = measure(quick=rounds == 1)
    return found, {}, page(found)
