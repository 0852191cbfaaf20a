"""The error over C and λ is drawn as it was found."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError

from ulmus import (
    ELMClassifier,
    GraphELMClassifier,
    ManifoldELMClassifier,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
)
from ulmus.exceptions import InvalidInputError
from ulmus.plotting import SurfaceDisplay

X, y = make_moons(60, noise=0.1, random_state=0)
FEW = np.where(np.arange(60) < 12, y, -1)


def new_axes():
    return Figure().subplots()


def centres(display):
    """The middle of each cell, on the logarithmic axes."""
    corners = np.log10(display.im_.get_coordinates())
    middle = (corners[1:, 1:] + corners[:-1, :-1]) / 2
    return 10 ** middle[0, :, 0], 10 ** middle[:, 0, 1]


@pytest.mark.parametrize("metric", ["error_rate", "squared_error"])
def test_the_cells_are_the_estimators_own(metric):
    model = SemiSupervisedELMClassifier(n_hidden=20, coupling="published", random_state=0)
    model.fit(X, FEW)
    display = SurfaceDisplay.from_estimator(model, metric=metric, ax=new_axes())
    assert_array_equal(display.im_.get_array(), model.surface_[metric])
    C, lam = centres(display)
    assert_allclose(C, model.surface_["C"])
    assert_allclose(lam, model.surface_["lam"])
    assert display.chosen_.get_data() == ([model.C_], [model.lam_])
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "log")
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("C", "λ")
    assert "left-out rows" in display.colorbar_.ax.get_ylabel()
    assert f"λ = {model.lam_:.3g}, C = {model.C_:.3g}" in display.ax_.get_title()


def test_numbers_and_validation_rows():
    t = np.where(FEW < 0, np.nan, X[:, 0])
    model = SemiSupervisedELMRegressor(n_hidden=20, coupling="published", random_state=0)
    model.fit(X, t, validation=(X[:20], X[:20, 0]))
    display = SurfaceDisplay.from_estimator(model, ax=new_axes(), colorbar=False)
    assert_array_equal(display.im_.get_array(), model.surface_["squared_error"])
    assert display.colorbar_ is None
    assert len(display.figure_.axes) == 1
    assert display.selection == "validation"


def test_gelm_is_drawn_over_what_its_curves_share():
    model = GraphELMClassifier(n_hidden=20, random_state=0).fit(X, y)
    display = SurfaceDisplay.from_estimator(model, ax=new_axes())
    path = model.loo_path_
    assert_array_equal(display.im_.get_array().ravel(), path["error_rate"])
    assert display.ax_.get_xlabel() == "C (1 + λ)"
    C, lam = centres(display)
    assert_allclose(C, np.unique(path["C"][path["lam"] == 0]))
    assert_allclose(lam[1:], [0.3, 1, 3, 10, 30], rtol=0.05)  # cells between uneven steps
    display.figure_.canvas.draw()
    written = dict(zip(display.ax_.get_yticks(), display.ax_.get_yticklabels(), strict=True))
    assert written[min(written)].get_text() == "0"
    assert_allclose(min(written), lam[0])
    assert_allclose(display.chosen_.get_xdata(), model.C_ * (1 + model.lam_))


def test_lists_in_any_order_and_zero():
    model = GraphELMClassifier(n_hidden=20, lam=[2.0, 0.0], C=[10.0, 0.1, 1.0], random_state=0)
    model.fit(X, y)
    display = SurfaceDisplay.from_estimator(model, ax=new_axes())
    assert display.lam.tolist() == [0.0, 2.0]
    assert display.C.tolist() == [0.1, 1.0, 10.0]
    for k, (lam, C) in enumerate(zip(model.loo_path_["lam"], model.loo_path_["C"], strict=True)):
        row, column = list(display.lam).index(lam), list(display.C).index(C)
        assert display.errors[row, column] == model.loo_path_["error_rate"][k]
    assert display.ax_.get_xlabel() == "C"


def test_melm_and_one_value_of_lam():
    model = ManifoldELMClassifier(n_hidden=20, random_state=0).fit(X, y)
    display = SurfaceDisplay.from_estimator(model, ax=new_axes())
    assert display.im_.get_array().shape == (1, 21)
    assert "held-out rows" in display.colorbar_.ax.get_ylabel()


def test_no_other_axes_are_touched():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    before = right.get_position().bounds
    display = SurfaceDisplay([0.1, 1.0], [1.0, 10.0], [[0.5, 0.25], [0.5, 0.75]]).plot(left)
    assert display.chosen_ is None
    assert right.get_position().bounds == before
    assert not right.has_data()
    assert right.get_xlabel() == ""


def test_what_cannot_be_drawn_says_why():
    with pytest.raises(NotFittedError):
        SurfaceDisplay.from_estimator(SemiSupervisedELMClassifier())
    with pytest.raises(InvalidInputError, match="LOOPathDisplay"):
        SurfaceDisplay.from_estimator(ELMClassifier(n_hidden=20).fit(X, y))
    model = SemiSupervisedELMClassifier(n_hidden=20, C=1.0, lam=0.5).fit(X, FEW)
    with pytest.raises(InvalidInputError, match="given C = 1 and lam = 0.5.* lam='loo'"):
        SurfaceDisplay.from_estimator(model)
