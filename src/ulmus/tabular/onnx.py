"""A table's model as an ONNX graph, from the columns on."""

from sklearn.pipeline import Pipeline

from ulmus.exporting.maps import transformed
from ulmus.exporting.model import save_onnx
from ulmus.tabular.view import View

__all__ = ["save_table_onnx"]


def save_table_onnx(model, path):
    """Write a model as an ONNX file, whole or not at all.

    Parameters
    ----------
    model : TableModel
        What `fit_table` found.
    path : str or path
        The file. Its graph has an input for each column, as ``encoder=`` of `ulmus.to_onnx` says.
    """
    stages = Pipeline([("view", model.view), ("estimator", model.estimator)])
    save_onnx(stages, path, encoder=model.encoder)


@transformed.register
def _(transformer: View, x):
    if len(transformer.low_):
        x = x.op("Max", transformer.low_).op("Min", transformer.high_)
    if not len(transformer.edge_):
        return x
    steps = x.columns(transformer.column_).op("Greater", transformer.edge_).cast(float)
    return x.op("Concat", steps, axis=1)
