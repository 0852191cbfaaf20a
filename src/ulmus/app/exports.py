"""What one takes away: labels as CSV, the model as a file, and as ONNX."""

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.app.learner import Answer, with_names
from ulmus.app.opened_table import OpenedTable
from ulmus.cli.results import rounded, without_formulas, write_text_rows
from ulmus.exporting.onnx_model import save_onnx
from ulmus.persistence import save
from ulmus.tables import TableModel
from ulmus.tables.fitting import model_summary
from ulmus.tables.suspicions import copies, fingerprint, row_hashes


def labels_csv(opened: OpenedTable, answer: Answer) -> bytes:
    """Every row's class, its probability and who gave it, a person or the model; images' files.

    Row and ids are those that `ulmus predict` writes.
    """
    table, names = opened.table, np.array(answer.labels.classes, dtype=object)
    columns = {
        "row": table.row_numbers,
        **{name: table[name] for name in opened.encoder.ids(table)},
    }
    if table.files:
        columns["file"] = np.array(table.files, dtype=object)
    columns |= {
        "class": names[answer.codes],
        "probability": rounded(answer.certainty, 6),
        "labelled by": np.where(answer.labels.known, "person", "model"),
    }
    text = io.StringIO()
    write_text_rows(text, without_formulas(columns)[0])
    return text.getvalue().encode()


def table_model(opened: OpenedTable, answer: Answer) -> TableModel:
    """A model for new tables with the same columns, as `ulmus predict` takes it."""
    estimator = with_names(answer.model, answer.labels)
    seed: Any = estimator.random_state
    hashes = row_hashes(opened.X)
    codes, known = answer.labels.codes, answer.labels.known
    summary = model_summary(codes, known, estimator, True, seed) | {
        "copies": copies(hashes),
        "importances": {},
        "seconds": 0.0,
        "notes": list(opened.notes),
    }
    parts = opened.encoder, opened.view, estimator, opened.target, "classification"
    return TableModel(*parts, summary, fingerprint(hashes))


def model_file(opened: OpenedTable, answer: Answer) -> bytes:
    """The bytes of a file that `ulmus predict` and `ulmus.load` read."""
    model = table_model(opened, answer)
    return _written("model.ulmus", lambda path: save(model, path, for_update=False))


def onnx_file(opened: OpenedTable, answer: Answer) -> bytes:
    """The bytes of an ONNX file whose inputs are the table's columns."""
    model = table_model(opened, answer)
    return _written("model.onnx", lambda path: save_onnx(model, path))


def _written(name: str, write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="ulmus-") as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()
