"""k-means over blocks takes the steps that k-means on all rows takes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ulmus import ELMNMF, ELMKMeans, RBFFeatures
from ulmus.exceptions import BatchError, InvalidParameterError
from ulmus.methods.clusters import Means
from ulmus.sources import hidden_rows

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

rng = np.random.default_rng(0)
CENTERS = 2.0 * rng.standard_normal((5, 6))
X = CENTERS[rng.integers(0, 5, 1500)] + rng.standard_normal((1500, 6))


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def blocks(A):
    return da.from_array(A, chunks=((400, 1, 799, 300), A.shape[1]))


@pytest.mark.parametrize("cls", [ELMKMeans, ELMNMF])
def test_where_the_sample_is_all_rows_it_is_the_fit_in_memory(cls):
    features = RBFFeatures(30, width="local")
    a = cls(5, features=features, random_state=0).fit(X)
    b = cls(5, features=features, random_state=0).fit(blocks(X))
    assert isinstance(b.labels_, da.Array)
    assert_array_equal(b.labels_.compute(), a.labels_)
    assert_allclose(b.inertia_, a.inertia_, rtol=1e-6)
    assert_allclose(b.transform(blocks(X)).compute(), a.transform(X), atol=1e-5)
    assert_array_equal(b.predict(blocks(X)).compute(), a.predict(X))


def test_the_steps_over_blocks_are_k_means(monkeypatch):
    monkeypatch.setattr(hidden_rows, "_SAMPLE", 60)
    started = []
    first = Means.started

    def noted(self, h, seed):
        started.append(first(self, h, seed))
        return started[-1]

    monkeypatch.setattr(Means, "started", noted)
    model = ELMKMeans(5, n_hidden=30, random_state=0).fit(blocks(X))
    assert model.kmeans_.n_iter_ > 2
    H = model.features_.transform(X)
    centers = started[0].kmeans.cluster_centers_
    for _ in range(model.kmeans_.n_iter_):
        before, centers = centers, stepped(H, centers)
    assert_allclose(model.cluster_centers_, centers, atol=1e-10)
    assert np.sum((centers - before) ** 2) < 1e-3 * H.var(axis=0).mean()
    nearest = squared_distances(H, centers)
    assert_array_equal(model.labels_.compute(), nearest.argmin(axis=1))
    assert_allclose(model.inertia_, nearest.min(axis=1).sum())


def squared_distances(H, centers):
    return np.sum((H[:, None] - centers) ** 2, axis=2)


def stepped(H, centers):
    """One of Lloyd's steps."""
    labels = squared_distances(H, centers).argmin(axis=1)
    return np.array([H[labels == k].mean(axis=0) for k in range(len(centers))])


def test_what_is_wrong_is_named():
    spoiled = X.copy()
    spoiled[500] = np.nan
    with pytest.raises(BatchError, match="Block 2 .*NaN"):
        ELMKMeans(5, n_hidden=30).fit(blocks(spoiled))
    with pytest.raises(InvalidParameterError, match="number of rows, 1500"):
        ELMKMeans(1501, n_hidden=30).fit(blocks(X))
