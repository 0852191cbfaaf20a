"""Honest files that the forged ones are made from: models of every class, sums, tables."""

import io
import json
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
)

from persistence.cases import CASES
from persistence.test_layouts import HOLES, MODELS, RARE, SPOTTED, TABLE, X
from ulmus import ELMClassifier, ELMRegressor, save
from ulmus.tables import Table, TableModel, fit_table

__all__ = ["NAMES", "Model", "every_class", "model"]

_WIDE = Table(tuple(f"x{j}" for j in range(9)), matrix=sp.csr_array(np.eye(9)[np.arange(60) % 9]))
_DATES = np.array(["2020-01-02", "2021-05-06", None, "2022-07-08"], dtype=object)
# Models beside those that the tests of `ulmus.persistence` have, and the rows to use them on.
_MORE: dict[str, Any] = {
    "imputer, words": lambda: (
        SimpleImputer(strategy="most_frequent").fit(np.array(RARE, dtype=object)),
        np.array(RARE, dtype=object),
    ),
    "one-hot, numbers": lambda: (
        OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(np.round(X)),
        np.round(X),
    ),
    "powers, from 2": lambda: (PolynomialFeatures((2, 3), interaction_only=True).fit(X), X),
    "lengths": lambda: (Normalizer().fit(X), X),
    "one-hot, elm": lambda: (
        make_pipeline(
            OneHotEncoder(handle_unknown="ignore"), ELMClassifier(n_hidden=7, random_state=0)
        ).fit(RARE * 5, [0, 1] * 15),
        RARE,
    ),
    # Of another width, so that parts of one model in another do not fit it.
    "elm, 3 columns": lambda: (
        ELMClassifier(n_hidden=6, random_state=0).fit(X[:, :3], X[:, 0] > 5.8),
        X[:, :3],
    ),
    "PCA, 3 columns": lambda: (PCA(2, whiten=True).fit(X[:, :3]), X[:, :3]),
    "min-max, clipped, 3 columns": lambda: (MinMaxScaler(clip=True).fit(X[:, :3]), X[:, :3]),
    "regressor, 2 outputs": lambda: (
        TransformedTargetRegressor(
            ELMRegressor(n_hidden=7, random_state=0),
            transformer=make_pipeline(PCA(2)),
            check_inverse=False,
        ).fit(X, X[:, :3]),
        X,
    ),
    "ordinal, unknown": lambda: (
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, min_frequency=2).fit(
            np.round(X[:, :2])
        ),
        np.round(X[:, :2]),
    ),
    "table, dates": lambda: (
        fit_table(
            Table(("when", "y"), {"when": np.tile(_DATES, 9), "y": np.arange(36.0) % 7}), "y"
        ),
        Table(("when",), {"when": _DATES}),
    ),
    "table, matrix": lambda: (
        fit_table(Table(_WIDE.names, matrix=_WIDE.matrix, target=np.arange(60.0) % 3), None),
        _WIDE,
    ),
}


# Rows of models that are not fitted to X.
_ROWS: dict[str, Any] = {
    "kernel, given": X @ X.T, "one-hot": RARE, "one-hot, rare": RARE, "ordinal": RARE,
    "imputer, indicator": HOLES, "ordinal, NaN": HOLES, "table": TABLE,
    "ordinal, NaN and rare": SPOTTED,
}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A saved model: its bytes, its document (as text too), its arrays, and rows to use it on."""

    content: bytes
    text: bytes
    document: dict[str, Any]
    arrays: tuple[np.ndarray, ...]
    rows: Any


def _fitted(name: str) -> tuple[Any, Any]:
    """A model and rows for it."""
    if name in _MORE:
        return _MORE[name]()
    if name in CASES:
        estimator, rows, y = CASES[name]
        return (estimator if rows is None else clone(estimator).fit(rows, y)), rows
    found = MODELS[name]()
    return found, _ROWS.get(name, X)


NAMES = tuple(dict.fromkeys([*CASES, *MODELS, *_MORE]))


@cache
def model(name: str) -> Model:
    """The saved model of that name, the same in every process."""
    # Some draw from the state that NumPy has of its own.
    np.random.seed(0)  # noqa: NPY002
    found, rows = _fitted(name)
    if isinstance(found, TableModel):
        found.summary |= {"seconds": 0.5, "fitted_at": "2020-01-01T00:00:00+00:00"}
    with tempfile.TemporaryDirectory(prefix="ulmus-") as folder:
        path = Path(folder) / "model.ulmus"
        save(found, path)
        content = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        text = file.read("model.json")
        arrays = [
            np.load(io.BytesIO(file.read(f"arrays/{number}.npy")))
            for number in range(len(file.namelist()) - 1)
        ]
    return Model(content, text, json.loads(text), tuple(arrays), _few(rows))


def _few(rows: Any) -> Any:
    """Two rows of whatever holds them."""
    if rows is None:
        return None
    if isinstance(rows, Table):
        return rows.rows(np.arange(2))
    return rows[:2] if not hasattr(rows, "iloc") else rows.iloc[:2]


def every_class() -> set[str]:
    """The names of the classes that are in some model's file."""
    found: set[str] = set()

    def look(data: Any) -> None:
        if isinstance(data, dict):
            if isinstance(data.get("class"), str):
                found.add(data["class"])
            data = list(data.values())
        for part in data if isinstance(data, list) else ():
            look(part)

    for name in NAMES:
        look(model(name).document["model"])
    return found
