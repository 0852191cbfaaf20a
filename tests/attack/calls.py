"""Calls in an order, or with a partner, that nobody meant."""

import pickle
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from attack.rows import EQUAL, FINITE, REFUSED
from attack.subjects import Data, Subject

__all__ = ["CALLS"]

_METHODS = (
    "predict", "decision_function", "predict_proba", "predict_log_proba", "transform",
)  # fmt: skip


def _each(model: Any, X: Any) -> None:
    """Every method that takes rows; the first error ends it."""
    for name in _METHODS:
        if hasattr(model, name):
            getattr(model, name)(X)


def _before_fit(subject: Subject, data: Data, model: Any) -> Any:
    return _each(subject.make(), data.X)


def _relabel_before_fit(subject: Subject, data: Data, model: Any) -> Any:
    return subject.make().relabel(subject.target(data))


def _names_before_fit(subject: Subject, data: Data, model: Any) -> Any:
    return subject.make().get_feature_names_out()


def _fewer_columns(subject: Subject, data: Data, model: Any) -> Any:
    return _each(model, data.X[:, :3])


def _more_columns(subject: Subject, data: Data, model: Any) -> Any:
    return _each(model, np.hstack([data.X, data.X]))


def _other_names(subject: Subject, data: Data, model: Any) -> Any:
    other = deepcopy(model)
    other.fit(pd.DataFrame(data.X, columns=list("abcd")), *_targets(subject, data))
    return _each(other, pd.DataFrame(data.X, columns=list("dcba")))


def _other_width(subject: Subject, data: Data, model: Any) -> Any:
    """A second fit must leave nothing of the first."""
    subject.fit(model, data.X[:, :2], subject.target(data))
    subject.fit(model, data.X, subject.target(data))
    return subject.answer(model, data.X)


def _pickled(subject: Subject, data: Data, model: Any) -> Any:
    return subject.answer(pickle.loads(pickle.dumps(model)), data.X)


def _cloned(subject: Subject, data: Data, model: Any) -> Any:
    copy = subject.fit(clone(model), data.X, subject.target(data))
    return subject.answer(copy, data.X)


def _unknown_argument(subject: Subject, data: Data, model: Any) -> Any:
    return model.set_params(nonsense=3)


def _partial_width(subject: Subject, data: Data, model: Any) -> Any:
    return model.partial_fit(data.X[:, :3], *_targets(subject, data))


def _partial_columns(subject: Subject, data: Data, model: Any) -> Any:
    return model.partial_fit(data.X, np.column_stack(2 * _targets(subject, data)))


def _partial_words(subject: Subject, data: Data, model: Any) -> Any:
    return model.partial_fit(data.X, np.array(["a", "b", "c"])[data.classes])


def _partial_lengths(subject: Subject, data: Data, model: Any) -> Any:
    return model.partial_fit(data.X, subject.target(data)[:-1])


def _partial_classes(subject: Subject, data: Data, model: Any) -> Any:
    return model.partial_fit(data.X, data.classes, classes=[5, 6])


def _partial_decay(subject: Subject, data: Data, model: Any) -> Any:
    return model.partial_fit(data.X, subject.target(data), decay=float("nan"))


def _forget_all(subject: Subject, data: Data, model: Any) -> Any:
    return model.partial_fit(data.X, subject.target(data), forget=True)


def _forget_strangers(subject: Subject, data: Data, model: Any) -> Any:
    return model.partial_fit(data.X[:5] + 3.0, subject.target(data)[:5] + 40, forget=True)


def _partial_after(subject: Subject, data: Data, model: Any) -> Any:
    model.partial_fit(data.X[:7], *(y[:7] for y in _targets(subject, data)))
    return subject.answer(model, data.X)


def _score_lengths(subject: Subject, data: Data, model: Any) -> Any:
    return model.score(data.X, data.values[:-1])


def _score_words(subject: Subject, data: Data, model: Any) -> Any:
    return model.score(data.X, np.full(len(data.X), "a"))


def _score_nothing(subject: Subject, data: Data, model: Any) -> Any:
    return model.score(data.X, None)


def _relabel_lengths(subject: Subject, data: Data, model: Any) -> Any:
    return model.relabel(subject.target(data)[:-1])


def _relabel_nothing(subject: Subject, data: Data, model: Any) -> Any:
    return model.relabel(np.full(len(data.X), np.nan))


def _relabel_same(subject: Subject, data: Data, model: Any) -> Any:
    return subject.answer(model.relabel(subject.target(data)), data.X)


def _bad_batch(subject: Subject, data: Data, model: Any) -> Any:
    batch = (data.X, *_targets(subject, data))
    return model.fit(iter([batch, (data.X[:, :2], *_targets(subject, data))]))


def _no_batch(subject: Subject, data: Data, model: Any) -> Any:
    return model.fit(iter([]))


def _batch_of_nonsense(subject: Subject, data: Data, model: Any) -> Any:
    return model.fit(iter(["batch"]))


def _failing_source(subject: Subject, data: Data, model: Any) -> Any:
    def source():
        raise KeyError("nothing here")
        yield

    return model.fit(source())


def _targets(subject: Subject, data: Data) -> list:
    y = subject.target(data)
    return [] if y is None else [y]


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda model: all(hasattr(model, name) for name in names)


def _streams(model: Any) -> bool:
    return hasattr(model, "partial_fit") and getattr(model, "solver", "auto") == "auto"


def _streams_targets(model: Any) -> bool:
    return _streams(model) and hasattr(model, "predict")


def _streams_classes(model: Any) -> bool:
    return _streams(model) and hasattr(model, "decision_function")


_FITS = _has("fit")
# What is called, on which models it can be, and what must become of it.
CALLS: dict[str, tuple[Callable[[Subject, Data, Any], Any], Callable[[Any], bool], str]] = {
    "call: before fit": (_before_fit, _FITS, REFUSED),
    "call: relabel before fit": (_relabel_before_fit, _has("relabel"), REFUSED),
    "call: names before fit": (_names_before_fit, _has("get_feature_names_out"), REFUSED),
    "call: fewer columns": (_fewer_columns, _FITS, REFUSED),
    "call: more columns": (_more_columns, _FITS, REFUSED),
    "call: other names": (_other_names, _FITS, REFUSED),
    "call: other width before": (_other_width, _FITS, EQUAL),
    "call: pickled": (_pickled, _FITS, EQUAL),
    "call: cloned": (_cloned, _FITS, EQUAL),
    "call: unknown argument": (_unknown_argument, _has("set_params"), REFUSED),
    "call: batch of another width": (_partial_width, _streams, REFUSED),
    "call: batch of more targets": (_partial_columns, _streams_targets, REFUSED),
    "call: batch of words": (_partial_words, _streams_targets, REFUSED),
    "call: batch of other lengths": (_partial_lengths, _streams_targets, REFUSED),
    "call: batch of other classes": (_partial_classes, _streams_classes, REFUSED),
    "call: decay of NaN": (_partial_decay, _streams_targets, REFUSED),
    "call: forget all": (_forget_all, _streams_targets, REFUSED),
    "call: forget strangers": (_forget_strangers, _streams_targets, REFUSED),
    "call: more rows": (_partial_after, _streams, FINITE),
    "call: score of other lengths": (_score_lengths, _has("score"), REFUSED),
    "call: score of words": (_score_words, _has("relabel", "score"), REFUSED),
    "call: score of nothing": (_score_nothing, _has("score"), REFUSED),
    "call: relabel of other lengths": (_relabel_lengths, _has("relabel"), REFUSED),
    "call: relabel with nothing": (_relabel_nothing, _has("relabel"), REFUSED),
    "call: relabel with the same": (_relabel_same, _has("relabel"), EQUAL),
    "call: batches of two widths": (_bad_batch, _streams_targets, REFUSED),
    "call: no batch": (_no_batch, _streams_targets, REFUSED),
    "call: batch of nonsense": (_batch_of_nonsense, _streams_targets, REFUSED),
    "call: source that fails": (_failing_source, _streams_targets, REFUSED),
    "call: copied": (lambda s, d, m: s.answer(deepcopy(m), d.X), _FITS, EQUAL),
}
