"""MELM as printed is the solution of its equations, saddle point or not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine

import oracles
from papers.printed_manifold import PrintedManifoldELM

X, y = load_wine(return_X_y=True)


@pytest.mark.parametrize(("scatter", "units"), [("hidden", 8), ("hidden", 300), ("input", 13)])
@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_beta_solves_the_printed_system(scatter, units, lam):
    model = PrintedManifoldELM(units, C=0.01, lam=lam, scatter=scatter, random_state=0).fit(X, y)
    H, scaling = model.features_.transform(X), model.features_.scaling_
    scaled = (X - scaling.center) * scaling.factor
    rows = H if scatter == "hidden" else scaled
    S = oracles.manifold_scatter(rows, scaled, y, lam, 5)
    A, R = H.T @ H + S / 0.01, H.T @ oracles.one_vs_rest(y, np.arange(3))
    expected = np.linalg.pinv(A, rcond=1e-12, hermitian=True) @ R
    assert_allclose(H @ model.beta_, H @ expected, atol=1e-5 * np.abs(H @ expected).max())
    assert model.n_negative_ == np.sum(np.linalg.eigvalsh(A) < -1e-9 * np.abs(A).max())


def test_class_means_that_outweigh_the_data_leave_no_minimum():
    model = PrintedManifoldELM(300, C=2.0**-8, lam=0.0, random_state=0).fit(X, y)
    assert model.n_negative_ > 0
    assert model.score(X, y) < 0.5
