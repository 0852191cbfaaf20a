"""``ulmus export``: a model for programs that have no Python."""

from pathlib import Path

from ulmus.cli.models import load_model
from ulmus.cli.places import check_free, stem_of
from ulmus.cli.printing import facts, print_json, say
from ulmus.cli.words import size_words
from ulmus.files import replacing
from ulmus.tabular.onnx import input_names, table_to_onnx

__all__ = ["export"]


def export(options):
    """Write an ONNX file whose inputs are the table's columns."""
    path = options.onnx or f"{stem_of(options.model)}.onnx"
    check_free(path, options.force)
    model = load_model(options.model)
    proto = table_to_onnx(model)
    with replacing(path) as stream:
        stream.write(proto.SerializeToString())
    size = Path(path).stat().st_size
    inputs, outputs = input_names(proto), [output.name for output in proto.graph.output]
    if options.json:
        print_json({"onnx": path, "bytes": size, "inputs": inputs, "outputs": outputs})
        return 0
    words = [f"{name} ({kind})" for name, kind in inputs.items()]
    for line in facts([("inputs", ", ".join(words)), ("outputs", ", ".join(outputs))]):
        say(line)
    say(f"{options.model} as ONNX: {path} ({size_words(size)})")
    return 0
