"""``ulmus export``: a model for programs that have no Python."""

from argparse import Namespace
from pathlib import Path

from sklearn.pipeline import Pipeline

from ulmus.cli.places import check_free, load_model, stem_of
from ulmus.cli.printing import facts, print_json, say, size_words
from ulmus.exporting.onnx_model import save_onnx
from ulmus.exporting.table_columns import input_names
from ulmus.tables import TableEncoder

__all__ = ["export"]

_TAKES = {"category": "text", "number": "number", "boolean": "1 or 0", "date": "days since 1970"}


def export(options: Namespace) -> int:
    """Write an ONNX file whose inputs are the table's columns."""
    path = options.onnx or f"{stem_of(options.model)}.onnx"
    check_free(path, options.force)
    model = load_model(options.model)
    stages = Pipeline([("view", model.view), ("estimator", model.estimator)])
    save_onnx(stages, path, encoder=model.encoder)
    size, inputs = Path(path).stat().st_size, _inputs(model.encoder)
    if options.json:
        print_json({"onnx": path, "bytes": size, "inputs": inputs})
        return 0
    words = ", ".join(f"{name} ({kind})" for name, kind in inputs.items())
    say(*facts([("inputs", words)]), f"{options.model} as ONNX: {path} ({size_words(size)})")
    return 0


def _inputs(encoder: TableEncoder) -> dict[str, str]:
    """The graph's inputs, and what each takes."""
    if encoder.width:
        return {"X": f"{encoder.width} numbers a row"}
    names = input_names(encoder)
    return {
        names[name]: _TAKES[kind] for name, kind in zip(encoder.names, encoder.kinds, strict=True)
    }
