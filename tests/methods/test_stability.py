"""Hidden layers that are compared without a label."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from ulmus.methods.clusters import Means
from ulmus.methods.stability import layer_scores

X, _ = make_blobs(90, n_features=5, centers=3, random_state=0)
NOISE = np.random.default_rng(0).uniform(size=(90, 5))


def test_layers_that_agree_and_are_stable_come_before_noise():
    found = layer_scores([NOISE, X, 3.0 * X], [Means(3, 10)] * 3)
    assert found["stability"][0] < 0.7 < found["stability"][1]
    assert found["agreement"][0] < found["agreement"][1] == found["agreement"][2]
    assert_allclose(found["score"], found["agreement"].clip(0) * found["stability"] ** 2)
    assert found["score"].argmax() > 0
