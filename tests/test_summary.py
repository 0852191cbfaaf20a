"""A notebook shows what a fit chose, and nothing of the data can act in it."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import make_classification

import ulmus
import ulmus.batches
from ulmus import (
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
)
from ulmus.summary import facts

X, y = make_classification(60, 5, random_state=0)
EVIL = '<script>alert("x")</script>'


class Elements(HTMLParser):
    """The elements of a page, and what stands in scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.links = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]


def elements(page):
    parser = Elements()
    parser.feed(page)
    return parser


def block(page):
    (found,) = re.findall(r'<table class="ulmus-summary".*</table>', page, re.DOTALL)
    return found


def test_a_fitted_model_says_what_it_chose():
    model = ELMClassifier(n_hidden=20, random_state=0).fit(X, y)
    page = model._repr_html_()
    shown = re.sub("<[^>]+>", " ", block(page))
    assert f"{model.C_:.4g}, by leaving out each row once" in shown
    assert "20 of RowFeatures" in shown
    assert "spectral (one eigendecomposition serves every C)" in shown
    assert f"{model.loo_score_:.2%} of left-out rows right" in shown
    assert block(model._repr_mimebundle_()["text/html"]) == block(page)
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_it_is_self_contained_and_leads_nowhere():
    page = ELMClassifier(n_hidden=20).fit(X, y)._repr_html_()
    found = elements(page)
    assert not [link for link in found.links if "://" in link]
    assert set(elements(block(page)).tags) <= {"table", "tr", "th", "td"}


def test_before_a_fit_there_is_nothing_to_say():
    assert facts(ELMClassifier()) == []
    assert "ulmus-summary" not in ELMClassifier()._repr_html_()


def test_no_name_in_the_data_becomes_an_element():
    names = np.array([EVIL, "b & c"])[y]
    frame = pd.DataFrame(X, columns=[EVIL, '"><img src=x>', "c", "d", "e"])
    model = KernelELMClassifier().fit(frame, names)
    page = model._repr_html_()
    assert EVIL not in page
    assert "&lt;script&gt;alert(" in block(page)
    assert elements(page).tags.count("script") == elements(
        ELMClassifier()._repr_html_()
    ).tags.count("script")
    assert "img" not in elements(page).tags


def test_a_text_display_stays_text():
    model = ELMClassifier(n_hidden=20).fit(X, y)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_looking_at_a_semi_supervised_model_predicts_nothing(monkeypatch):
    few = np.where(np.arange(60) < 20, y, -1)
    model = SemiSupervisedELMClassifier(n_hidden=20, coupling="published", random_state=0)
    model.fit(X, few)
    monkeypatch.setattr(model, "_map", lambda X: pytest.fail("every row was predicted"))
    shown = dict(facts(model))
    at = (
        np.argwhere(model.surface_["lam"] == model.lam_)[0, 0],
        list(model.surface_["C"]).index(model.C_),
    )
    assert shown["score"] == f"{1 - model.surface_['error_rate'][at]:.2%} of left-out rows right"
    assert "ulmus-summary" in model._repr_html_()


def test_numbers_have_their_own_scores():
    model = ELMRegressor(n_hidden=20, random_state=0).fit(X, X[:, 0])
    assert dict(facts(model))["score"] == f"R² = {model.loo_score_:.4f} on left-out rows"
    some = np.where(np.arange(60) < 30, X[:, 0], np.nan)
    model = SemiSupervisedELMRegressor(n_hidden=20, random_state=0).fit(X, some)
    assert dict(facts(model))["score"].startswith("R² = ")


def test_a_choice_and_its_reason():
    one = ELMClassifier(n_hidden=20, C=1.0, random_state=0).fit(X, y)
    assert dict(facts(one))["C"] == "1, given"
    assert (one.solver_, one.solver_reason_) == ("primal", "one C: one Cholesky factorisation")
    wide = ELMClassifier(n_hidden=100, C=1.0, random_state=0).fit(X, y)
    assert wide.solver_ == "dual"
    assert "fewer rows than hidden units" in wide.solver_reason_
    asked = ELMClassifier(n_hidden=20, C=1.0, solver="dual", random_state=0).fit(X, y)
    assert asked.solver_reason_ == "asked for"
    kernel = KernelELMClassifier("rbf", gamma="loo", rank=20, random_state=0).fit(X, y)
    assert dict(facts(kernel))["kernel"].endswith("gamma chosen by leaving out each row once")
    assert dict(facts(kernel))["rank"].startswith("20 by rpcholesky, ")


def test_many_and_long_names_are_cut_short():
    labels = np.array([f"{'x' * 50}{k:02d}" for k in range(10)])[np.arange(60) % 10]
    words = dict(facts(ELMClassifier(n_hidden=20).fit(X, labels)))["classes"]
    assert words.endswith("and 4 more")
    assert len(words) < 220


@pytest.mark.parametrize("name", [n for n in ulmus.__all__ if n[0].isupper()])
def test_every_public_object_has_a_short_name_in_text(name):
    assert repr(getattr(ulmus, name)()).startswith(f"{name}(")


def test_small_objects_say_what_they_are():
    assert repr(ulmus.batches.from_arrays(X, y, rows=20)) == "Batches(3)"
    assert repr(ulmus.RandomFeatures(5).fit(X).scaling_) == "Scaling(5 columns)"
