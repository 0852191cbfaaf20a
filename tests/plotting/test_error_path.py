"""The error over C is drawn as it was found."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ulmus import (
    ELMClassifier,
    ELMEmbedding,
    ELMRegressor,
    GraphELMClassifier,
    KernelELMClassifier,
    ManifoldELMClassifier,
    SemiSupervisedELMClassifier,
    SparseELMClassifier,
)
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.plotting import LOOPathDisplay

X, y = make_classification(80, 6, n_informative=4, n_classes=3, random_state=0)


def new_axes():
    return Figure().subplots()


@pytest.mark.parametrize(
    ("model", "path", "words"),
    [
        (ELMClassifier(n_hidden=20, random_state=0), "loo_path_", "left-out rows wrong"),
        (KernelELMClassifier(random_state=0), "loo_path_", "left-out rows wrong"),
        (
            SparseELMClassifier(n_hidden=20, C="validation", random_state=0),
            "validation_path_",
            "held-out rows wrong",
        ),
        (ManifoldELMClassifier(n_hidden=20, random_state=0), "cv_path_", "held-out rows wrong"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_curve_is_the_estimators_own(model, path, words):
    display = LOOPathDisplay.from_estimator(model.fit(X, y), ax=new_axes())
    table = getattr(model, path)
    assert_array_equal(display.line_.get_xdata(), table["C"])
    assert_array_equal(display.line_.get_ydata(), table["error_rate"])
    (C,), (error,) = display.chosen_.get_data()
    assert C == model.C_
    assert error == table["error_rate"][list(table["C"]).index(model.C_)]
    assert display.ax_.get_xscale() == "log"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("C", words)
    assert f"C = {model.C_:.3g}" in display.ax_.get_legend().get_texts()[-1].get_text()


def test_numbers_have_a_squared_error():
    model = ELMRegressor(n_hidden=20, random_state=0).fit(*make_regression(60, 3, random_state=0))
    display = LOOPathDisplay.from_estimator(model, ax=new_axes())
    assert_array_equal(display.line_.get_ydata(), model.loo_path_["squared_error"])
    assert display.ax_.get_ylabel() == "squared error, left-out rows"
    with pytest.raises(InvalidInputError, match="no error_rate to draw here; use metric='squ"):
        LOOPathDisplay.from_estimator(model, metric="error_rate", ax=new_axes())


def test_gelm_has_a_curve_for_every_strength():
    model = GraphELMClassifier(n_hidden=20, random_state=0).fit(X, y)
    display = LOOPathDisplay.from_estimator(model, ax=new_axes())
    strengths = np.unique(model.loo_path_["lam"])
    assert [line.get_label() for line in display.lines_] == [f"{lam:.3g}" for lam in strengths]
    for lam, line in zip(strengths, display.lines_, strict=True):
        at = model.loo_path_["lam"] == lam
        assert_array_equal(line.get_xdata(), model.loo_path_["C"][at])
        assert_array_equal(line.get_ydata(), model.loo_path_["error_rate"][at])
    assert display.line_ is display.lines_[list(strengths).index(model.lam_)]
    assert display.chosen_.get_xdata()[0] == model.C_
    assert f"λ = {model.lam_:.3g}" in display.ax_.get_title()


@pytest.mark.parametrize("lam", [[0.0, 10.0], [10.0, 0.0]])
def test_the_mark_is_on_the_pair_that_was_chosen(lam):
    model = GraphELMClassifier(n_hidden=20, lam=lam, C=[0.1, 1.0, 10.0], random_state=0).fit(X, y)
    display = LOOPathDisplay.from_estimator(model, ax=new_axes())
    chosen = {name: column[display.chosen] for name, column in model.loo_path_.items()}
    assert (chosen["lam"], chosen["C"]) == (model.lam_, model.C_)
    assert display.chosen_.get_ydata()[0] == chosen["error_rate"]


def test_the_width_of_a_kernel_has_a_curve_too():
    model = KernelELMClassifier("rbf", gamma="loo", C=1.0, random_state=0).fit(X, y)
    display = LOOPathDisplay.from_estimator(model, parameter="gamma", ax=new_axes())
    assert_array_equal(display.line_.get_xdata(), model.gamma_path_["gamma"])
    assert display.chosen_.get_xdata()[0] == model.kernel_.gamma
    with pytest.raises(InvalidInputError, match="C='loo'"):
        LOOPathDisplay.from_estimator(model)
    with pytest.raises(InvalidInputError, match="gamma='loo'"):
        LOOPathDisplay.from_estimator(ELMClassifier(n_hidden=20).fit(X, y), parameter="gamma")
    with pytest.raises(InvalidParameterError, match="parameter"):
        LOOPathDisplay.from_estimator(model, parameter="width")


def test_values_in_any_order_make_one_curve():
    model = ELMClassifier(n_hidden=20, C=[10.0, 0.1, 1.0], random_state=0).fit(X, y)
    display = LOOPathDisplay.from_estimator(model, ax=new_axes())
    assert display.line_.get_xdata().tolist() == [0.1, 1.0, 10.0]
    assert display.chosen_.get_xdata()[0] == model.C_


def test_two_models_share_axes_and_nothing_else_is_touched():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    pipeline = make_pipeline(StandardScaler(), ELMClassifier(n_hidden=20, random_state=0))
    first = LOOPathDisplay.from_estimator(pipeline.fit(X, y), ax=left, name="scaled", color="k")
    again = LOOPathDisplay.from_estimator(
        KernelELMClassifier().fit(X, y), ax=left, name="kernel", linestyle="--"
    )
    assert first.ax_ is again.ax_ is left
    assert first.figure_ is figure
    assert first.line_.get_color() == "k"
    assert again.line_.get_linestyle() == "--"
    assert {"scaled", "kernel"} <= {t.get_text() for t in left.get_legend().get_texts()}
    assert not right.has_data()
    assert len(figure.axes) == 2


def test_a_display_can_be_made_by_hand():
    display = LOOPathDisplay([1.0, 10.0], [0.5, 0.25]).plot(new_axes())
    assert display.chosen_ is None
    assert display.line_.get_ydata().tolist() == [0.5, 0.25]
    assert display.ax_.get_legend() is None


def test_what_cannot_be_drawn_says_why():
    with pytest.raises(NotFittedError):
        LOOPathDisplay.from_estimator(ELMClassifier())
    with pytest.raises(InvalidInputError, match="given C = 2, .* fit it with C='loo' or a list"):
        LOOPathDisplay.from_estimator(ELMClassifier(n_hidden=20, C=2.0).fit(X, y))
    with pytest.raises(InvalidInputError, match="fit it with C='validation'"):
        LOOPathDisplay.from_estimator(SparseELMClassifier(n_hidden=20).fit(X, y))
    with pytest.raises(InvalidInputError, match="ELMEmbedding has no C"):
        LOOPathDisplay.from_estimator(ELMEmbedding(n_hidden=20).fit(X))
    tight = SemiSupervisedELMClassifier(n_hidden=20, coupling="published").fit(X, y)
    with pytest.raises(InvalidInputError, match="SurfaceDisplay"):
        LOOPathDisplay.from_estimator(tight)
