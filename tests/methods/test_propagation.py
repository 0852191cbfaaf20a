"""Labels spread where the rows live."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.datasets import make_moons

from ulmus import KNNGraph, SemiSupervisedELMClassifier, SemiSupervisedELMRegressor, to_host
from ulmus.backends.gram import _by_rows
from ulmus.methods import prepared
from ulmus.methods.propagation import spread

X, SIDE = make_moons(200, noise=0.08, random_state=0)


@pytest.mark.torch
@pytest.mark.parametrize("rows", [slice(None), np.array([3, 50, 120])], ids=["all", "some"])
def test_labels_spread_on_a_device_are_those_of_the_host(rows):
    torch = pytest.importorskip("torch")
    here = KNNGraph(5).laplacian(X)
    Y = np.zeros((200, 2))
    Y[[0, 5], [0, 1]] = 1.0
    lams = np.array([1.0, 9.0, 100.0])
    expected = spread(here, Y, lams, rows, tol=1e-10)
    found = spread(here.placed(torch.asarray(X), torch.float64), Y, lams, rows, tol=1e-10)
    assert_allclose(found, expected, atol=1e-12)
    direct = np.stack(
        [np.linalg.solve(np.eye(200) + lam * (here @ np.eye(200)), Y) for lam in lams]
    )
    assert_allclose(found, direct[:, rows], atol=1e-8)


@pytest.mark.torch
@pytest.mark.parametrize("coupling", ["auto", "free"])
@pytest.mark.parametrize("away", [False, True])
def test_a_pool_of_rows_in_torch_is_that_of_numpy(monkeypatch, coupling, away):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(prepared, "is_away", lambda X: away)  # as on a GPU
    few = np.where(np.arange(200) % 10 == 0, SIDE, -1)
    model = SemiSupervisedELMClassifier(n_hidden=50, coupling=coupling, C=1.0, random_state=0)
    here = sklearn.clone(model).fit(X, few)
    with sklearn.config_context(array_api_dispatch=True):
        there = sklearn.clone(model).fit(torch.asarray(X), torch.asarray(few))
        found = to_host(there.label_distributions_)
        again = there.relabel(torch.asarray(np.where(few >= 0, 1 - few, -1)))
    # A device takes a few steps more than the tolerance of 1e-3 asks for.
    assert_allclose(found, here.label_distributions_, atol=1e-4)
    assert_allclose(to_host(there.beta_), here.beta_, rtol=1e-4, atol=1e-6)
    other = here.relabel(np.where(few >= 0, 1 - few, -1))
    assert_allclose(to_host(again.beta_), other.beta_, rtol=1e-4, atol=1e-6)


@pytest.mark.torch
def test_values_of_rows_in_torch_are_those_of_numpy():
    torch = pytest.importorskip("torch")
    y = np.where(np.arange(200) % 5 == 0, np.sin(X[:, 0]), np.nan)
    model = SemiSupervisedELMRegressor(n_hidden=50, C=1.0, random_state=0)
    here = sklearn.clone(model).fit(X, y)
    with sklearn.config_context(array_api_dispatch=True):
        there = sklearn.clone(model).fit(torch.asarray(X), torch.asarray(y))
        found = to_host(there.transduction_)
    assert_allclose(found, here.transduction_, atol=1e-5)


@pytest.mark.torch
def test_a_graph_in_either_sparse_format_spreads_labels_alike():
    torch = pytest.importorskip("torch")
    here = KNNGraph(5).laplacian(X)
    there = here.placed(torch.asarray(X), torch.float64)
    Y = np.eye(200)[:, :3]
    by_rows = replace(there, matrix=_by_rows(there.matrix))
    found = [spread(each, Y, np.array([1.0, 50.0])) for each in (there, by_rows)]
    assert_allclose(*found, atol=1e-12)
