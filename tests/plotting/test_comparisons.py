"""The picture of a model's candidates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ulmus import ELMClassifier, ELMSpectralClustering, SemiSupervisedELMClassifier
from ulmus.exceptions import InvalidInputError
from ulmus.plotting import CandidatesDisplay

X, y = make_moons(150, noise=0.1, random_state=0)
FEW = np.where(np.arange(150) < 20, y, -1)


def test_the_points_are_the_models_candidates():
    model = SemiSupervisedELMClassifier(n_hidden=30, random_state=0).fit(X, FEW)
    display = CandidatesDisplay.from_estimator(model)
    table = model.candidates_
    for kind, points in display.points_.items():
        own = table["kind"] == kind
        assert_allclose(points.get_offsets()[:, 0], table["error"][own])
        assert_allclose(points.get_offsets()[:, 1], table["weight"][own])
    first = display.legend_.get_texts()[0].get_text()
    shares = {k: table["weight"][table["kind"] == k].sum() for k in set(table["kind"])}
    heaviest = max(shares, key=shares.get)
    assert first == f"{heaviest}, {shares[heaviest]:.0%}"


def test_forms_of_a_clusterer_are_drawn_by_their_agreement():
    model = ELMSpectralClustering(2, n_hidden=30, random_state=0).fit(X)
    display, table = CandidatesDisplay.from_estimator(model), model.candidates_
    for kind, points in display.points_.items():
        own = table["kind"] == kind
        assert_allclose(points.get_offsets()[:, 0], np.flatnonzero(own) + 1)
        assert_allclose(points.get_offsets()[:, 1], table["agreement"][own])
    best = table["agreement"].argmax()
    best = f"{table['kind'][best]}, {table['agreement'][best]:.2f}"
    assert display.legend_.get_texts()[0].get_text() == best


def test_the_last_step_of_a_pipeline_is_meant():
    model = make_pipeline(StandardScaler(), SemiSupervisedELMClassifier(n_hidden=30))
    assert CandidatesDisplay.from_estimator(model.fit(X, FEW)).points_


def test_what_cannot_be_drawn_says_why():
    with pytest.raises(InvalidInputError, match="ELMClassifier has no candidates"):
        CandidatesDisplay.from_estimator(ELMClassifier(n_hidden=10).fit(X, y))
    one = np.where(np.isin(np.arange(150), [np.argmax(y == 0), np.argmax(y == 1)]), y, -1)
    model = SemiSupervisedELMClassifier(n_hidden=30, random_state=0).fit(X, one)
    with pytest.raises(InvalidInputError, match="every class has one label"):
        CandidatesDisplay.from_estimator(model)
