"""A table's columns as inputs of a graph, and their encoding.

The graph rounds to single precision where the encoder does, because comparisons of numbers in a
model must have the same result.
"""

from typing import Any

import numpy as np

from ulmus.exceptions import ExportError
from ulmus.exporting.onnx_graph import Graph, Value
from ulmus.exporting.onnx_maps import transformed
from ulmus.exporting.onnx_outputs import OUTPUT_NAMES
from ulmus.tables.clipped_columns import ClippedColumns
from ulmus.tables.columns import FARTHEST, LARGEST, Category, Frame, Number
from ulmus.tables.dates import turn_of
from ulmus.tables.encoder import TableEncoder
from ulmus.tables.text_columns import Text
from ulmus.typing import DType


def input_names(encoder: TableEncoder) -> dict[str, str]:
    """The graph's input name for each column: its own, with a prefix if an output has the name."""
    if encoder.width:
        return {"X": "X"}
    mark = "column " if set(encoder.names) & set(OUTPUT_NAMES) else ""
    return {name: mark + name for name in encoder.names}


def encoded_rows(graph: Graph, encoder: TableEncoder, dtype: DType) -> Value:
    """The matrix of the columns, whose inputs are added to the graph."""
    if encoder.width:
        x = graph.input("X", dtype, encoder.width).cast(np.float64)
        return x if encoder.sparse else _filled(x, encoder.fill.astype(dtype))
    parts = []
    for name, given in input_names(encoder).items():
        column = encoder.column(name)
        if isinstance(column, Text):
            raise ExportError(
                f"The column {name!r} is read as text, which has no form in ONNX; fit without it, "
                f"--without {name}, or with --as {name}=category."
            )
        if isinstance(column, Number):
            parts.append(_number(column, graph, given))
        else:
            parts.append(_category(column, graph, given))
    return graph.op("Concat", *parts, axis=1)


def _number(column: Number, graph: Graph, name: str) -> Value:
    given = graph.input(name, np.float64, 1)
    x = _filled(given, column.fill)
    parts = [_framed(x, column.frame)]
    if column.ranks.size:
        parts.append(_interpolated(x, *column.ranks))
    parts += [_calendar(x, part) for part in column.parts]
    parts = [part.cast(np.float32).cast(np.float64) for part in parts]
    if column.indicator:
        parts.append(_blank(given).cast(np.float64))
    return graph.op("Concat", *parts, axis=1)


def _calendar(x: Value, part: str) -> Value:
    """`ulmus.tables.dates.part_columns`."""
    if part == "week":
        day = x.op("Floor") + 3.0
        return (day - (day / 7.0).op("Floor") * 7.0).op("Equal", np.arange(7.0)).cast(np.float64)
    turns = x / turn_of(part)
    angle = (turns - turns.op("Floor")) * (2 * np.pi)
    # The cosine as a sine: ONNX Runtime has a cosine of single precision only.
    return x.graph.op("Concat", angle.op("Sin"), (angle + np.pi / 2).op("Sin"), axis=1)


def _category(column: Category, graph: Graph, name: str) -> Value:
    known = {category: code for code, category in enumerate(column.categories)}
    width = len(known) + column.other + column.blank
    known.setdefault("", width - 1 if column.blank else -1)
    codes = graph.input(name, object, 1).op(
        "LabelEncoder",
        domain="ai.onnx.ml",
        keys_strings=list(known),
        values_int64s=list(known.values()),
        default_int64=len(column.categories) if column.other else -1,
    )
    return codes.op("Equal", np.arange(width)).cast(np.float64)


def _blank(x: Value) -> Value:
    """The negation of `ulmus.tables.columns.usable`; comparisons with NaN are false."""
    return x.op("Abs").op("Less", LARGEST).op("Not")


def _filled(x: Value, fill: Any) -> Value:
    return x.graph.op("Where", _blank(x), fill, x)


def _framed(x: Value, frame: Frame) -> Value:
    """`ulmus.tables.columns.framed`."""
    center, scale, squash = frame
    z = ((x - center) / scale).op("Max", -FARTHEST).op("Min", FARTHEST)
    third = z / 3.0
    return z / (1.0 + third * third).op("Sqrt") if squash else z


def _interpolated(x: Value, values: np.ndarray, ranks: np.ndarray) -> Value:
    """`numpy.interp` of a column: the position among the values, and the line from there."""
    slope = np.append(np.diff(ranks) / np.diff(values), 0.0)
    last = x.op("GreaterOrEqual", values).cast(np.int64).sum() - 1
    last = last.op("Max", 0)
    start, height, steep = (x.graph.op("Gather", row, last) for row in (values, ranks, slope))
    return steep * (x.op("Max", float(values[0])) - start) + height


@transformed.register
def _(transformer: ClippedColumns, x: Value) -> Value:
    clipped = len(transformer.low_) > 0
    return x.op("Max", transformer.low_).op("Min", transformer.high_) if clipped else x
