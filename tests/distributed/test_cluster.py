"""On a real cluster of two processes: the same answer, and a killed worker changes nothing."""

import os
import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ulmus import (
    ELMClassifier,
    ELMKMeans,
    KernelELMClassifier,
    RandomFeatures,
    SemiSupervisedELMClassifier,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.slow, pytest.mark.first]

rng = np.random.default_rng(0)
X = rng.standard_normal((4000, 10))
Y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)


@pytest.fixture(scope="module")
def client():
    with (
        # Workers are forked off one process that has imported what they need, and not each anew.
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        distributed.LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def model():
    return ELMClassifier(n_hidden=60, C=[0.1, 1.0, 10.0], random_state=0)


def lazy(A):
    return da.from_array(A, chunks=(500, *A.shape[1:]))


def assert_same_fit(a, b):
    assert a.C_ == b.C_
    assert_allclose(b.beta_, a.beta_, atol=1e-8 * np.abs(a.beta_).max())


def test_two_workers_find_what_one_process_finds(client):
    a, b = model().fit(X, Y), model().fit(lazy(X), lazy(Y), client=client)
    assert_same_fit(a, b)
    assert_array_equal(b.predict(lazy(X)).compute(), a.predict(X))


@pytest.mark.parametrize(
    "reading", [1, 2], ids=["while the scale is learned", "while sums are made"]
)
def test_a_worker_that_dies_in_the_middle_changes_nothing(client, tmp_path, reading):
    undisturbed = model().fit(lazy(X), lazy(Y), client=client)
    dead = tmp_path / "dead"

    def deadly(block, number):
        """The sixth block: its worker dies when it is read for the n-th time."""
        if number == 5:
            read = tmp_path / f"read-{len(list(tmp_path.iterdir()))}"
            read.touch()
            if len(list(tmp_path.glob("read-*"))) == reading and not dead.exists():
                dead.write_text(str(os.getpid()))
                os.kill(os.getpid(), signal.SIGKILL)
        return block

    rows = da.concatenate(
        [
            da.from_array(part).map_blocks(deadly, number, meta=X[:0])
            for number, part in enumerate(np.split(X, 8))
        ]
    )
    disturbed = model().fit(rows, lazy(Y), client=client)
    assert int(dead.read_text()) not in client.run(os.getpid).values()
    assert_array_equal(disturbed.beta_, undisturbed.beta_)
    assert disturbed.C_ == undisturbed.C_
    assert disturbed.temperature_ == undisturbed.temperature_


def test_a_worker_that_dies_with_rows_in_its_memory_changes_nothing(client):
    undisturbed = model().fit(lazy(X), lazy(Y), client=client)
    rows = lazy(X).persist()
    distributed.wait(rows)
    address, pid = next(iter(client.run(os.getpid).items()))
    assert client.has_what()[address], "the worker should hold some of the rows"
    os.kill(pid, signal.SIGKILL)
    disturbed = model().fit(rows, lazy(Y), client=client)
    assert_array_equal(disturbed.beta_, undisturbed.beta_)


def test_an_error_on_a_worker_names_its_block(client):
    spoiled = X.copy()
    spoiled[1200] = np.nan
    with pytest.raises(ValueError, match="Block 2 .*NaN"):
        model().fit(lazy(spoiled), lazy(Y), client=client)


def test_kernels_graphs_and_clusters_travel_too(client):
    rows, few = X[:800], np.where(np.arange(800) % 20 == 0, Y[:800], -1)
    for estimator, y in (
        (KernelELMClassifier(rank=50, C=1.0, random_state=0), Y[:800]),
        (SemiSupervisedELMClassifier(n_hidden=50, C=1.0, lam=0.1, random_state=0), few),
        (SemiSupervisedELMClassifier(n_hidden=50, C=1.0, lam=[0.1, 1.0], random_state=0), few),
    ):
        expected = estimator.fit(rows, y).decision_function(rows)
        found = estimator.fit(lazy(rows), lazy(y), client=client).decision_function(lazy(rows))
        assert_allclose(found.compute(), expected, atol=1e-6)
    units = RandomFeatures(50)
    a = ELMKMeans(4, features=units, random_state=0).fit(rows)
    b = ELMKMeans(4, features=units, random_state=0).fit(lazy(rows), client=client)
    assert_array_equal(b.labels_.compute(), a.labels_)
