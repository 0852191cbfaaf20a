"""One thread may ask a model while another fits it: it gets the earlier model, or the later one.

The threads meet at a gate within the hidden units, so that nothing here depends on a clock.
"""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, get_ident

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from ulmus import (
    ELMNMF,
    ELMClassifier,
    ELMEmbedding,
    ELMKMeans,
    ELMRegressor,
    ELMSpectralClustering,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    ManifoldELMClassifier,
    RandomFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
    SparseELMClassifier,
)

X, Y = load_iris(return_X_y=True)
# Another fit in every respect: fewer columns, other labels, other rows.
FIRST = X, Y
THEN = X[::2, :3], np.where(Y[::2] == 2, 7, Y[::2])
MODELS = [
    ELMClassifier(C=1.0),
    ELMClassifier(C=[0.1, 1.0]),
    ELMRegressor(C=1.0),
    GraphELMClassifier(C=1.0, lam=1.0),
    ManifoldELMClassifier(C=1.0),
    SemiSupervisedELMClassifier(C=1.0, lam=0.1),
    SemiSupervisedELMRegressor(C=1.0, lam=0.1),
    SparseELMClassifier(),
    ELMEmbedding(),
    ELMKMeans(3, n_init=1),
    ELMNMF(3, n_init=1),
    ELMSpectralClustering(3, n_init=1),
    RandomFeatures(10),
    KernelELMClassifier(C=1.0),
    KernelELMRegressor(C=1.0),
    KernelFeatures(rank=5),
]
ASKED = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "transduction_",
    "label_distributions_",
    "embedding_",
)


class Gate:
    """Holds one thread, when it first comes by, until it is opened."""

    def __init__(self):
        self.reached, self.opened, self.held = Event(), Event(), None

    def pass_by(self):
        if get_ident() == self.held:
            self.held = None
            self.reached.set()
            self.opened.wait()

    def hold(self, work, *args):
        """What is to run in the thread that is held."""
        self.held = get_ident()
        try:
            return work(*args)
        finally:
            self.reached.set()


def gated(model, gate):
    """The model, with units or a kernel that pass by the gate."""

    def units(Z):
        gate.pass_by()
        return 1.0 / (1.0 + np.exp(-Z))

    def kernel(A, B):
        gate.pass_by()
        return np.exp(-0.1 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

    model = clone(model).set_params(random_state=0)
    if isinstance(model, RandomFeatures):
        return model.set_params(activation=units)
    if "features" in model.get_params():
        return model.set_params(features=RandomFeatures(20, activation=units))
    return model.set_params(kernel=kernel)


def answers(model, rows):
    """All that the model says of these rows, and of those it was fitted to."""
    found = {}
    for name in ASKED:
        if hasattr(model, name):
            asked = getattr(model, name)
            asked = asked(rows) if callable(asked) else asked
            if isinstance(asked, np.ndarray):
                found[name] = asked
    return found


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


# A fit of random units passes by no gate: it works out none of them.
@pytest.mark.parametrize("model", [m for m in MODELS if type(m) is not RandomFeatures], ids=str)
def test_a_model_answers_as_it_was_while_it_is_fitted_again(model):
    gate = Gate()
    model = gated(model, gate).fit(*FIRST)
    expected, before = answers(model, X), dict(vars(model))
    with ThreadPoolExecutor(1) as pool:
        fit = pool.submit(gate.hold, model.fit, *THEN)
        gate.reached.wait()
        try:
            found, meanwhile = answers(model, X), dict(vars(model))
        finally:
            gate.opened.set()
        fit.result()
    assert_same(found, expected)
    assert all(meanwhile[name] is before[name] for name in before)
    assert_same(answers(model, THEN[0]), answers(clone(model).fit(*THEN), THEN[0]))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_an_answer_that_was_begun_is_finished_by_the_same_model(model):
    gate = Gate()
    model = gated(model, gate).fit(*FIRST)
    name = "predict" if hasattr(model, "predict") else "transform"
    expected = getattr(model, name)(X)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(gate.hold, getattr(model, name), X)
        gate.reached.wait()
        try:
            model.fit(*THEN)
        finally:
            gate.opened.set()
        np.testing.assert_array_equal(answer.result(), expected)
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("model", [ELMClassifier(C=1.0), ELMRegressor(C=1.0)], ids=str)
def test_rows_are_added_in_one_step(model):
    gate = Gate()
    model = gated(model, gate).fit(*FIRST)
    expected = answers(model, X)
    with ThreadPoolExecutor(1) as pool:
        fit = pool.submit(gate.hold, model.partial_fit, X[::3], Y[::3])
        gate.reached.wait()
        try:
            found = answers(model, X)
        finally:
            gate.opened.set()
        fit.result()
    assert_same(found, expected)


def test_a_fit_keeps_what_is_no_part_of_it():
    model = ELMClassifier(n_hidden=10, C=1.0, random_state=0)
    model.note = "mine"
    features = RandomFeatures(5)
    assert model.set_params(features=features, n_hidden=None).fit(X, Y) is model
    assert model.note == "mine"
    assert model.features is features
    assert clone(model).get_params()["features"].n_hidden == 5
    assert model.set_params(C=2.0).fit(X, Y).C_ == 2.0
