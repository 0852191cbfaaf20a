"""What a kernel's factor leaves out is drawn as it was found."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from ulmus import ELMClassifier, KernelELMClassifier, KernelELMRegressor, KernelFeatures, LowRank
from ulmus.exceptions import InvalidInputError
from ulmus.plotting import KernelSpectrumDisplay

X, y = make_classification(120, 5, random_state=0)


def new_axes():
    return Figure().subplots()


@pytest.mark.parametrize("method", ["rpcholesky", "nystrom", "randomized", "eig"])
def test_the_path_is_what_the_columns_leave(method):
    phi = KernelFeatures(rank=15, gamma=1.0, method=method, random_state=0).fit(X)
    K = phi.kernel_(*[(X - phi.scaling_.center) * phi.scaling_.factor] * 2)
    path = phi.approximation_path_
    assert path.shape == (15,)
    assert (np.diff(path) <= 1e-12).all()
    assert path[-1] == phi.approximation_error_
    for rank in (1, 7, 15):
        H = phi.transform(X)[:, :rank]
        assert_allclose(path[rank - 1], 1 - np.sum(H**2) / np.trace(K), atol=1e-8)
    assert_array_equal(phi.truncate(4).approximation_path_, path[:4])
    assert phi.truncate(4).approximation_error_ == path[3]


@pytest.mark.parametrize(
    "model",
    [
        KernelFeatures(tol=0.05, gamma=1.0, random_state=0),
        KernelELMRegressor("rbf", method=LowRank(tol=0.05), gamma=1.0, random_state=0),
        ELMClassifier(KernelFeatures(tol=0.05, gamma=1.0), random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_curve_the_rank_and_the_tolerance(model):
    model.fit(X, y)
    display = KernelSpectrumDisplay.from_estimator(model, ax=new_axes())
    found = getattr(model, "features_", model)
    assert_array_equal(display.line_.get_ydata(), [1.0, *found.approximation_path_])
    assert_array_equal(display.line_.get_xdata(), np.arange(found.rank_ + 1))
    assert display.rank_.get_data() == ([found.rank_], [found.approximation_error_])
    assert display.tol_.get_ydata()[0] == 0.05
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.get_xlabel() == "columns"
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["rpcholesky", "tolerance 0.05", f"in use: {found.rank_} columns"]


def test_an_exact_kernel_is_drawn_by_its_eigenvalues():
    model = KernelELMClassifier("rbf", gamma=1.0).fit(X, y)
    display = KernelSpectrumDisplay.from_estimator(model, ax=new_axes())
    best = KernelFeatures(rank=20, gamma=1.0, method="eig").fit(X).approximation_path_
    assert_allclose(display.missing[:20], best, atol=1e-9)
    assert not hasattr(model, "approximation_path_")
    assert display.rank_ is None
    assert display.tol_ is None


def test_a_rank_that_was_given_has_no_tolerance():
    model = KernelELMClassifier(rank=10, random_state=0).fit(X, y)
    assert KernelSpectrumDisplay.from_estimator(model, ax=new_axes()).tol_ is None


def test_what_cannot_be_drawn_says_why():
    with pytest.raises(NotFittedError):
        KernelSpectrumDisplay.from_estimator(KernelFeatures())
    with pytest.raises(InvalidInputError, match="RowFeatures has no factor of a kernel"):
        KernelSpectrumDisplay.from_estimator(ELMClassifier(n_hidden=20).fit(X, y))
    given = KernelELMClassifier("precomputed").fit(rbf_kernel(X), y)
    with pytest.raises(InvalidInputError, match="precomputed kernel .* rank= or tol="):
        KernelSpectrumDisplay.from_estimator(given)
