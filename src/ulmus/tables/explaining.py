"""Why a model predicts what it does: columns that matter, what they do, reasons for single rows.

A column is judged by what happens when its cells are exchanged between rows, so that it holds
no information about its own row any more, and all else stays as it is.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ulmus.commanded import option
from ulmus.exceptions import InvalidInputError
from ulmus.tables.assessing import comparable, score, truth_of
from ulmus.tables.cells import words_of
from ulmus.tables.columns import Number, Text
from ulmus.tables.kinds import as_text
from ulmus.tables.table import Table
from ulmus.tables.table_model import TableModel

# Rows that are predicted again for each column, times that cells are exchanged, and rows that a
# row's cells are exchanged with.
_MOST_ROWS, _TIMES, _BACKGROUND = 2000, 3, 100
# Columns whose effect is shown, values of each, and reasons of a row.
_SHOWN, _VALUES, _REASONS = 3, 5, 5
# Fewer values than these say little of a column of numbers.
_FEWEST = 3
_MOST_COLUMNS = 500


def explain(
    model: TableModel, table: Table, places: Sequence[int] = (), seed: int = 0
) -> dict[str, Any]:
    """What matters to a model on the rows of a table, as plain data.

    ``columns`` has, largest first, how much worse the score becomes without each, on at most 2000
    rows (where there is no target: how much predictions change), and its share of the mean squared
    gradients. ``effects`` has mean predictions for a few values of the first three, ``rows`` the
    reasons for these places: what each column changes against its values in other rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.tables import Table, fit_table
    >>> from ulmus.tables.explaining import explain
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(size=(2, 80))
    >>> table = Table(("x", "z", "y"), {"x": x, "z": z, "y": 3 * x + z})
    >>> found = explain(fit_table(table, "y"), table, places=[0])
    >>> [column["name"] for column in found["columns"]]
    ['x', 'z']
    """
    encoder = model.encoder
    if encoder.image_shape or encoder.sparse or len(encoder.names) > _MOST_COLUMNS:
        raise InvalidInputError(
            f"Columns can be explained one by one, up to {_MOST_COLUMNS}; images and sparse "
            f"matrices cannot. Fit fewer{option(', with --without', '')}."
        )
    rng = np.random.default_rng(seed)
    X = np.asarray(model.matrix(table))
    some = np.sort(rng.permutation(len(table))[:_MOST_ROWS])
    ends = np.cumsum(encoder.widths)
    blocks = [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    drops, measure, score = _drops(model, table, X, some, blocks, rng)
    order = np.argsort(-drops, kind="stable")
    gradients = model.summary["importances"]
    ranked = [(encoder.names[j], float(drops[j])) for j in order]
    columns = [{"name": n, "drop": drop, "gradient": gradients.get(n)} for n, drop in ranked]
    return {
        "target": model.target,
        "classes": None if model.classes is None else as_text(model.classes),
        "measure": measure,
        "score": score,
        "known_share": model.known_share(X),
        "columns": columns,
        "effects": [_effect(model, table, X[some], some, j, blocks[j]) for j in order[:_SHOWN]],
        "rows": [_reasons(model, table, X, place, blocks, rng) for place in places],
    }


def _outputs(model: TableModel, X: np.ndarray) -> np.ndarray:
    """Probabilities, or a column of numbers."""
    y, P = model.labelled(X)
    return y[:, None] if P is None else P


def _with(X: np.ndarray, block: slice, values: np.ndarray) -> np.ndarray:
    """Rows with other values in a block of columns."""
    X = X.copy()
    X[:, block] = values
    return X


# ---------------------------------------------------------------------- all rows
def _drops(
    model: TableModel, table: Table, X: np.ndarray, some: np.ndarray, blocks: list[slice], rng: Any
) -> tuple[np.ndarray, str, float]:
    """What is lost without each column, in which measure, and its value with all."""
    measure = "R²" if model.classes is None else "accuracy"
    if model.target not in table.names and table.target is None:
        measure += " against the predictions"
        truth = comparable(model.labelled(X[some])[0])
    else:
        goal = truth_of(model, table)
        some = some[goal.known[some]]
        truth = comparable(goal.values[some])
    Z = X[some]

    def scored(rows: np.ndarray) -> float:
        return score(truth, comparable(model.labelled(rows)[0]))

    best = scored(Z)
    drops = np.zeros(len(blocks))
    for j, block in enumerate(blocks):
        for _ in range(_TIMES):
            other = _with(Z, block, Z[rng.permutation(len(Z)), block])
            drops[j] += (best - scored(other)) / _TIMES
    return drops, measure, best


def _effect(
    model: TableModel, table: Table, Z: np.ndarray, some: np.ndarray, j: int, block: slice
) -> dict[str, Any]:
    """Mean predictions where all rows have one value of a column, for a few values."""
    name = model.encoder.names[j]
    column = None if model.encoder.width else model.encoder.column(name)
    values = table[name][some]
    if isinstance(column, Number):
        values = column.numbers(name, values, table.decimal_comma)
    elif isinstance(column, Text):
        # Text hardly ever comes twice: its values are those of the output that varies most.
        outputs = _outputs(model, Z)
        values = outputs[:, outputs.std(axis=0).argmax()]
    places = _typical(values)
    means = [
        _outputs(model, _with(Z, block, Z[place, block])).mean(axis=0).tolist() for place in places
    ]
    cells = [_cell(table[name], some[place]) for place in places]
    return {"name": name, "values": cells, "predictions": means}


def _typical(values: np.ndarray) -> list[int]:
    """Places of a few values: of numbers from least to largest, spread over them, else frequent."""
    distinct, first, counts = np.unique(
        words_of(values).astype(str) if values.dtype == object else values,
        return_index=True,
        return_counts=True,
    )
    if values.dtype == object:
        return [int(first[k]) for k in np.argsort(-counts, kind="stable")[:_VALUES]]
    if len(distinct) <= _VALUES:
        return [int(place) for place in first]
    rows = np.argsort(values, kind="stable")[: int(np.isfinite(values).sum())]
    shares, found = np.linspace(0.05, 0.95, _VALUES), rows[:0]
    # Where nearly all rows have the same value, its range says more than its rows.
    for order in (rows, first[np.isfinite(distinct)]):
        if len(found) < _FEWEST:
            places = order[(shares * (len(order) - 1)).astype(int)]
            found = places[np.unique(values[places], return_index=True)[1]]
    return [int(place) for place in found]


# ---------------------------------------------------------------------- one row
def _reasons(
    model: TableModel, table: Table, X: np.ndarray, place: int, blocks: list[slice], rng: Any
) -> dict[str, Any]:
    """What each column of a row changes of its prediction, against values of other rows."""
    if not 0 <= place < len(table):
        raise InvalidInputError(f"There is no row {place + 1}; there are {len(table)}.")
    own = _outputs(model, X[place : place + 1])[0]
    best = int(own.argmax())
    others = X[rng.permutation(len(X))[:_BACKGROUND]]
    rows = np.repeat(X[place : place + 1], len(others), axis=0)
    effects = [
        float(own[best] - _outputs(model, _with(rows, block, others[:, block]))[:, best].mean())
        for block in blocks
    ]
    order = np.argsort(-np.abs(effects), kind="stable")[:_REASONS]
    names = model.encoder.names
    return {
        "row": int(table.row_numbers[place]),
        "prediction": float(own[0]) if model.classes is None else as_text(model.classes)[best],
        "probability": None if model.classes is None else float(own[best]),
        "reasons": [
            {"column": names[j], "value": _cell(table[names[j]], place), "effect": effects[j]}
            for j in order
        ],
    }


def _cell(values: np.ndarray, place: int) -> str:
    word = words_of(values[place : place + 1])[0]
    return "missing" if word is None else str(word)
