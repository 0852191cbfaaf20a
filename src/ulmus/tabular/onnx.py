"""A table's model as an ONNX graph."""

import json

from sklearn.pipeline import Pipeline

from ulmus.exporting.maps import transformed
from ulmus.exporting.model import to_onnx
from ulmus.tabular.view import View

__all__ = ["input_names", "table_to_onnx"]


def table_to_onnx(model):
    """The model from the encoded matrix on; which columns those are is in the file's metadata.

    Parameters
    ----------
    model : TableModel
        What `fit_table` found.

    Returns
    -------
    proto : onnx.ModelProto
        As `ulmus.to_onnx` gives it.
    """
    stages = Pipeline([("view", model.view), ("estimator", model.estimator)])
    proto = to_onnx(stages)
    about = {
        "columns": json.dumps(model.encoder.feature_names_out, ensure_ascii=False),
        "target": model.target,
    }
    for key, value in about.items():
        proto.metadata_props.add(key=key, value=value)
    return proto


def input_names(proto):
    """The graph's inputs, and how wide each is."""
    return {
        entry.name: f"{entry.type.tensor_type.shape.dim[1].dim_value} numbers a row"
        for entry in proto.graph.input
    }


@transformed.register
def _(transformer: View, x):
    if len(transformer.low_):
        x = x.op("Max", transformer.low_).op("Min", transformer.high_)
    if not len(transformer.edge_):
        return x
    steps = x.columns(transformer.column_).op("Greater", transformer.edge_).cast(float)
    return x.op("Concat", steps, axis=1)
