"""What other transformers give, arrays or frames, changes nothing."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.preprocessing import PolynomialFeatures

import ulmus

X, y = load_iris(return_X_y=True)
few = {"n_hidden": 10, "random_state": 0}
MODELS = {
    "rows": ulmus.ELMClassifier(PCA(3), random_state=0),
    "graph": ulmus.GraphELMClassifier(PCA(3), random_state=0),
    "semi-supervised": ulmus.SemiSupervisedELMClassifier(PCA(3), random_state=0),
    "hinge": ulmus.SparseELMClassifier(PolynomialFeatures(2), random_state=0),
    "embedding": ulmus.ELMEmbedding(2, features=PCA(3), random_state=0),
    "spectral": ulmus.ELMSpectralClustering(3, **few),
    "k-means": ulmus.ELMKMeans(3, features=PCA(3), random_state=0),
    "NMF": ulmus.ELMNMF(3, **few),
}


def answer(model):
    return np.asarray(model.predict(X) if hasattr(model, "predict") else model.transform(X))


@pytest.mark.parametrize("name", MODELS)
def test_frames_from_transformers_are_as_good_as_arrays(name):
    plain = answer(MODELS[name].fit(X, y))
    with config_context(transform_output="pandas"):
        assert_array_equal(answer(MODELS[name].fit(X, y)), plain)


def test_a_stream_over_a_transformer_that_gives_frames():
    whole = ulmus.ELMClassifier(PCA(3), C=1.0, random_state=0).fit(X, y)
    parts = ulmus.ELMClassifier(PCA(3).set_output(transform="pandas"), C=1.0, random_state=0)
    for rows in (slice(0, None, 2), slice(1, None, 2)):
        parts.partial_fit(X[rows], y[rows])
    assert_array_equal(parts.predict(X), whole.predict(X))
