"""Clusters stand beside the classes they are matched to."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from ulmus import ELMKMeans, ELMSpectralClustering
from ulmus.metrics import clustering_accuracy
from ulmus.plotting import ClusterConfusionDisplay

X, y = make_blobs(60, centers=3, random_state=0)


def new_axes():
    return Figure().subplots()


@pytest.mark.parametrize(
    "model",
    [
        ELMKMeans(3, n_hidden=20, random_state=0),
        ELMSpectralClustering(4, n_hidden=20, random_state=0),
        AgglomerativeClustering(3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_counts_and_accuracy(model):
    display = ClusterConfusionDisplay.from_estimator(model.fit(X), X, y, ax=new_axes())
    labels = model.predict(X) if hasattr(model, "predict") else model.labels_
    for row, label in enumerate(display.classes):
        for column, cluster in enumerate(display.clusters):
            count = np.sum((y == label) & (labels == cluster))
            assert display.confusion_matrix[row, column] == count
            assert display.text_[row, column].get_text() == str(count)
    assert_allclose(display.accuracy, clustering_accuracy(y, labels))
    assert_allclose(display.accuracy, np.trace(display.confusion_matrix) / len(y))
    assert display.ax_.get_title() == f"accuracy {display.accuracy:.1%}"
    assert_array_equal(
        display.im_.get_array(),
        display.confusion_matrix / display.confusion_matrix.sum(axis=1, keepdims=True),
    )


def test_matched_cells_are_bold_and_clusters_left_over_come_last():
    display = ClusterConfusionDisplay.from_predictions(
        ["a", "a", "a", "b", "b"], [7, 7, 3, 5, 5], ax=new_axes()
    )
    assert display.clusters.tolist() == [7, 5, 3]
    bold = [text.get_weight() == "bold" for text in display.text_.ravel()]
    assert bold == [True, False, False, False, True, False]
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["7", "5", "3"]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["a", "b"]


def test_fewer_clusters_than_classes():
    display = ClusterConfusionDisplay.from_predictions([0, 1, 2, 2], [0, 0, 1, 1], ax=new_axes())
    assert display.confusion_matrix.shape == (3, 2)
    assert display.accuracy == 0.75


def test_names_are_written_as_they_are():
    names = np.array(["$x", "_y", "a^{b"])
    display = ClusterConfusionDisplay.from_predictions(names, [0, 1, 2], ax=new_axes())
    display.figure_.canvas.draw()
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == list(names)


def test_no_numbers_where_there_is_no_room():
    many = np.arange(80)
    assert ClusterConfusionDisplay.from_predictions(many, many, ax=new_axes()).text_ is None
    figure = Figure(figsize=(1, 1))
    display = ClusterConfusionDisplay(np.eye(9, dtype=int) * 100)
    assert display.plot(figure.subplots()).text_ is None
    asked = display.plot(new_axes(), include_values=True, cmap="Greys")
    assert asked.text_[0, 0].get_text() == "100"
    assert asked.im_.get_cmap().name == "Greys"


def test_what_cannot_be_drawn_says_why():
    with pytest.raises(NotFittedError):
        ClusterConfusionDisplay.from_estimator(ELMKMeans(), X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ClusterConfusionDisplay.from_predictions([0, 1], [0, 1, 1])
