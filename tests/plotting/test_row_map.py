"""Rows are where the embedding puts them, in the colours of their labels."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

from ulmus import ELMClassifier, ELMEmbedding, ELMSpectralClustering
from ulmus.exceptions import InvalidInputError
from ulmus.plotting import EmbeddingDisplay
from ulmus.plotting.canvas import COLOURS, MARKERS, MUTED

X, y = load_iris(return_X_y=True)
NAMES = load_iris().target_names


@pytest.fixture(scope="module")
def embedding():
    return ELMEmbedding(n_hidden=40, random_state=0).fit(X)


def new_axes():
    return Figure().subplots()


def names(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_labels_that_are_given(embedding):
    display = EmbeddingDisplay.from_estimator(embedding, X, NAMES[y], ax=new_axes())
    E = embedding.transform(X)
    for k, points in enumerate(display.scatters_):
        assert_array_equal(points.get_offsets(), E[y == k])
        assert_allclose(points.get_facecolors(), [to_rgba(COLOURS[k])] * 50)
    assert names(display) == NAMES.tolist()
    assert display.certainty is None
    assert display.ax_.get_xlabel() == "first coordinate"


def test_a_classifier_says_how_sure_it_is(embedding):
    classifier = ELMClassifier(n_hidden=40, random_state=0).fit(X[::5], NAMES[y][::5])
    display = EmbeddingDisplay.from_estimator(embedding, X, classifier=classifier, ax=new_axes())
    P, labels = classifier.predict_proba(X), classifier.predict(X)
    assert_array_equal(display.labels, labels)
    for name, points in zip(display.classes, display.scatters_, strict=True):
        assert_allclose(points.get_facecolors()[:, 3], P[labels == name].max(axis=1))
        assert (points.get_edgecolors()[:, 3] == 1).all()
    assert names(display) == [*NAMES, "certain", "uncertain"]
    with pytest.raises(InvalidInputError, match="RidgeClassifier gives no probabilities"):
        EmbeddingDisplay.from_estimator(embedding, X, classifier=RidgeClassifier().fit(X, y))


@pytest.mark.parametrize(
    "few",
    [
        np.where(np.arange(150) % 10, -1, y),
        np.where(np.arange(150) % 10, np.nan, y),
        np.where(np.arange(150) % 10, None, NAMES[y].astype(object)),
    ],
    ids=["-1", "nan", "None"],
)
def test_rows_without_a_label_are_grey(embedding, few):
    display = EmbeddingDisplay.from_predictions(embedding.transform(X), few, ax=new_axes())
    assert len(display.classes) == 3
    grey = display.scatters_[0]
    assert len(grey.get_offsets()) == 135
    assert_allclose(grey.get_facecolors()[0], to_rgba(MUTED))
    assert names(display)[0] == "no label"


def test_clusters_of_a_clusterer_and_of_a_pipeline():
    model = ELMSpectralClustering(3, n_components=3, n_hidden=40, random_state=0).fit(X)
    display = EmbeddingDisplay.from_estimator(model, X, components=(1, 2), ax=new_axes())
    E = model.embedding_.transform(X)[:, [1, 2]]
    for k, points in enumerate(display.scatters_):
        assert_array_equal(points.get_offsets(), E[model.labels_ == k])
    kmeans = make_pipeline(PCA(2), KMeans(3, n_init=1, random_state=0)).fit(X)
    assert len(EmbeddingDisplay.from_estimator(kmeans, X, ax=new_axes()).classes) == 3


def test_no_labels_at_all(embedding):
    display = EmbeddingDisplay.from_estimator(embedding, X, ax=new_axes())
    assert len(display.scatters_) == 1
    assert display.legend_ is None


def test_many_classes_differ_in_colour_or_shape():
    labels = np.arange(45)
    points = np.random.default_rng(0).standard_normal((45, 2))
    display = EmbeddingDisplay.from_predictions(points, labels, ax=new_axes())
    looks = {(tuple(s.get_facecolors()[0]), len(s.get_paths()[0])) for s in display.scatters_}
    assert len(names(display)) == 45
    assert len({(k % len(COLOURS), k % len(MARKERS)) for k in range(60)}) == 60
    assert len(looks) > 30
    assert EmbeddingDisplay.from_predictions(np.zeros((99, 2)), np.arange(99)).legend_ is None


def test_the_legend_covers_no_row(embedding):
    labels = np.array(["_hidden", "$x", "plain"])[y]
    display = EmbeddingDisplay.from_predictions(embedding.transform(X), labels, ax=new_axes())
    display.figure_.canvas.draw()
    assert names(display) == ["$x", "_hidden", "plain"]
    legend, axes = display.legend_.get_window_extent(), display.ax_.get_window_extent()
    assert legend.x0 >= axes.x1 - 1


def test_what_cannot_be_drawn_says_why(embedding):
    with pytest.raises(NotFittedError):
        EmbeddingDisplay.from_estimator(ELMEmbedding(), X)
    narrow = ELMEmbedding(n_components=1, n_hidden=20).fit(X)
    with pytest.raises(InvalidInputError, match="gives 1; a map needs n_components=2"):
        EmbeddingDisplay.from_estimator(narrow, X)
    with pytest.raises(InvalidInputError, match="has no transform"):
        EmbeddingDisplay.from_estimator(ELMClassifier(n_hidden=20).fit(X, y), X)
    with pytest.raises(InvalidInputError, match="two columns"):
        EmbeddingDisplay(np.zeros((4, 3))).plot(new_axes())
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        EmbeddingDisplay.from_predictions(np.zeros((4, 2)), [0, 1], ax=new_axes())
