"""A table's columns as inputs of a graph, and what its encoder makes of them.

What the encoder rounds to single precision the graph rounds too: a model may ask whether a number
is above another, and must get the same answer.
"""

from functools import singledispatch

import numpy as np

from ulmus.exceptions import ExportError
from ulmus.exporting.outputs import OUTPUT_NAMES
from ulmus.tables.categories import Category
from ulmus.tables.numbers import Number
from ulmus.tables.shape import FARTHEST, LARGEST

__all__ = ["encoded_rows", "input_names"]

_ML = "ai.onnx.ml"


def input_names(encoder):
    """The graph's input for each column: its own name, marked where an output has one of them."""
    if encoder.width:
        return {"X": "X"}
    mark = "column " if set(encoder.names) & set(OUTPUT_NAMES) else ""
    return {name: mark + name for name in encoder.names}


def encoded_rows(graph, encoder, dtype):
    """The matrix of the columns, whose inputs are added to the graph."""
    if encoder.width:
        return _matrix(graph, encoder, dtype)
    inputs = input_names(encoder)
    parts = [_column(encoder._column(name), graph, inputs[name]) for name in encoder.names]
    return graph.op("Concat", *parts, axis=1)


def _matrix(graph, encoder, dtype):
    """Rows that were a matrix from the start, with their blanks filled."""
    x = graph.input("X", dtype, encoder.width).cast(np.float64)
    return x if encoder.sparse else _filled(x, encoder.fill.astype(dtype))


@singledispatch
def _column(column, graph, name):
    """The columns of the matrix that one column becomes."""
    raise ExportError(f"The column {name!r} is of a kind that cannot be written as ONNX.")


@_column.register
def _(column: Number, graph, name):
    given = graph.input(name, np.float64, 1)
    x = _filled(given, column.fill)
    parts = [_framed(x, *column.frame)]
    if column.ranks.size:
        parts.append(_interpolated(x, *column.ranks))
    parts = [part.cast(np.float32).cast(np.float64) for part in parts]
    if column.indicator:
        parts.append(_blank(given).cast(np.float64))
    return graph.op("Concat", *parts, axis=1)


@_column.register
def _(column: Category, graph, name):
    known = {category: code for code, category in enumerate(column.categories)}
    width = len(known) + column.other + column.blank
    known.setdefault("", width - 1 if column.blank else -1)
    codes = graph.input(name, object, 1).op(
        "LabelEncoder",
        domain=_ML,
        keys_strings=list(known),
        values_int64s=list(known.values()),
        default_int64=len(column.categories) if column.other else -1,
    )
    return codes.op("Equal", np.arange(width)).cast(np.float64)


def _blank(x):
    """`ulmus.tables.shape.usable`, turned round: NaN is below nothing."""
    return x.op("Abs").op("Less", LARGEST).op("Not")


def _filled(x, fill):
    return x.graph.op("Where", _blank(x), fill, x)


def _framed(x, center, scale, bend):
    """`ulmus.tables.shape.framed`."""
    z = ((x - center) / scale).op("Max", -FARTHEST).op("Min", FARTHEST)
    third = z / 3.0
    return z / (1.0 + third * third).op("Sqrt") if bend else z


def _interpolated(x, values, ranks):
    """`numpy.interp` of a column: the place among the values, and the straight line from there."""
    slope = np.append(np.diff(ranks) / np.diff(values), 0.0)
    last = x.op("GreaterOrEqual", values).cast(np.int64).sum() - 1
    last = last.op("Max", 0)
    start, height, steep = (x.graph.op("Gather", row, last) for row in (values, ranks, slope))
    return steep * (x.op("Max", float(values[0])) - start) + height
