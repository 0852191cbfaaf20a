"""What models of tables in a file must be like before they are handed out."""

from typing import Any

from ulmus.persistence.rules import (
    Layout,
    Rule,
    Sizes,
    any_of,
    flag,
    floats,
    has,
    is_a,
    number,
    places,
    size,
    text,
    tuple_of,
    whole,
    word,
)
from ulmus.tables import TableEncoder
from ulmus.tables.cells import DATE_LAYOUTS

__all__ = ["LAYOUTS"]

_COLUMN: dict[str, Rule] = {
    "kind": word("number", "boolean", "date", "category"),
    "categories": tuple_of(text),
    "blank": flag,
    "other": flag,
    "layout": word("", *DATE_LAYOUTS),
    "spellings": tuple_of(text),
    "fill": number(),
    "indicator": flag,
    "frame": lambda value, sizes: (
        type(value) is tuple
        and len(value) == 3
        and number()(value[0], sizes)
        and number(0, above=True)(value[1], sizes)
        and flag(value[2], sizes)
    ),
    "ranks": floats(2, "r"),
}


def _column(state: Any) -> bool:
    """How one column is read: each field by itself, and all that its kind needs."""
    if type(state) is not dict or "kind" not in state:
        return False
    needed = {"categories"} if state["kind"] == "category" else {"frame"}
    sound = all(name in _COLUMN and _COLUMN[name](part, {}) for name, part in state.items())
    return sound and needed <= state.keys()


def _encoder(encoder: Any, sizes: Sizes) -> bool:
    """Columns for all names, or as many fills as the matrix has columns; a name for each."""
    if encoder.width:
        dense = encoder.sparse or floats(encoder.width)(encoder.fill, sizes)
        known = dense and len(encoder.names) == encoder.width
    else:
        known = all(map(_column, encoder.columns.values()))
        known = known and set(encoder.names) <= encoder.columns.keys()
    return known and len(encoder.feature_names_out) == encoder.encoded_width()


def _table_model(model: Any, sizes: Sizes) -> bool:
    """The encoder gives the columns that the view knows, and classes have probabilities."""
    classes = model.task == "classification"
    if any(hasattr(model.estimator, name) != classes for name in ("classes_", "predict_proba")):
        return False
    dense = len(model.view.low_) > 0
    width = len(model.encoder.feature_names_out)
    return width == model.view.n_features_in_ and dense != bool(model.encoder.sparse)


_CLIPPED = any_of(floats("d"), floats(0))

LAYOUTS: dict[str, Layout] = {
    "ulmus.tables.TableEncoder": Layout(
        {
            "names": tuple_of(text),
            "feature_names_out": tuple_of(text),
            "columns": is_a(dict),
            "dropped": is_a(dict),
            "sparse": flag,
            "width": whole(0, 2**31),
            "image_shape": tuple_of(whole(1, 2**31)),
        },
        more=_encoder,
    ),
    "ulmus.tables.TableModel": Layout(
        {
            "encoder": is_a(TableEncoder),
            "view": has("transform"),
            "estimator": has("predict"),
            "target": text,
            "task": word("classification", "regression"),
            "summary": is_a(dict),
        },
        more=_table_model,
    ),
    "ulmus.tables.clipped_bins.ClippedBins": Layout(
        {
            "n_features_in_": size("d"),
            "low_": _CLIPPED,
            "high_": _CLIPPED,
            "column_": places("s", within="d"),
            "edge_": floats("s"),
        },
        more=lambda view, sizes: view.low_.shape == view.high_.shape,
    ),
}
