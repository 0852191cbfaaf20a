"""Rows that come one batch after the other, and go again."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from ulmus import ELMClassifier, GraphELMClassifier
from ulmus.exceptions import BatchError, InvalidInputError

X, y = make_classification(300, 6, n_informative=4, n_classes=3, random_state=0)
TEXT = y.astype(str)
CLASSIFIERS = [ELMClassifier, GraphELMClassifier]


# ---------------------------------------------------------------- labels
@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize(
    ("first", "then"), [(y, TEXT), (TEXT, y), (y, TEXT.astype(object)), (TEXT, y.astype(float))]
)
def test_labels_that_change_their_kind_between_batches_are_refused(model, first, then):
    model = model(n_hidden=12, C=1.0, random_state=0).partial_fit(X[:100], first[:100])
    before = model.predict(X)
    with pytest.raises(InvalidInputError, match="'0'.*keep their kind"):
        model.partial_fit(X[100:], then[100:])
    assert model.classes_.tolist() == np.unique(first).tolist()
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("rewind", [False, True])
def test_labels_that_change_their_kind_within_a_stream_are_refused(rewind):
    parts = [(X[:100], y[:100]), (X[100:], TEXT[100:])]
    with pytest.raises(BatchError, match=r"Batch 2 cannot be used.*keep their kind"):
        ELMClassifier(n_hidden=12, C=1.0).fit((lambda: iter(parts)) if rewind else iter(parts))


def test_equal_numbers_are_one_class_whatever_their_type():
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    for labels in (y.astype(np.int8), y.astype(float), y.astype(object)):
        model.partial_fit(X, labels)
    assert model.classes_.tolist() == [0, 1, 2]


def test_labels_of_several_kinds_stay_what_they_are():
    mixed = np.array([0, "0", 1], dtype=object)[y]
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0).partial_fit(X, mixed)
    model.partial_fit(X[y == 1], np.full((y == 1).sum(), "0"))
    model.partial_fit(X[y == 0], y[y == 0])
    assert model.classes_.tolist() == [0, 1, "0"]
