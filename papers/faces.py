"""The MELM paper: one classifier on one draw of training images, judged on the other images."""

import time

import numpy as np
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from papers.baselines import ConvolutionalNetwork, deep_belief_network
from papers.datasets import benchmark_rows
from papers.printed_manifold import LiteralManifoldELM, PrintedManifoldELM
from ulmus.estimators.elm import ELMClassifier
from ulmus.estimators.graph_elm import GraphELMClassifier
from ulmus.estimators.manifold_elm import ManifoldELMClassifier
from ulmus.features import RandomFeatures, RBFFeatures


def draw(y, images, repetition=0, seed=0):
    """Row numbers to train on, ``images`` of each class, and the rest to test on."""
    rng = np.random.default_rng(seed)
    for _ in range(repetition + 1):
        drawn = [rng.permutation(np.flatnonzero(y == label))[:images] for label in np.unique(y)]
    train = np.concatenate(drawn)
    return train, np.setdiff1d(np.arange(len(y)), train)


def _elm(units, random_state, **given):
    return ELMClassifier(RandomFeatures(units), random_state=random_state, **given)


def _robust(units, random_state, **given):
    return ELMClassifier(RBFFeatures(units, node="robust"), random_state=random_state, **given)


def _gelm(units, random_state, **given):
    return GraphELMClassifier(n_hidden=units, random_state=random_state, **given)


def _melm(units, random_state, form="positive", **given):
    if form == "printed":
        return PrintedManifoldELM(units, random_state=random_state, **given)
    return ManifoldELMClassifier(n_hidden=units, form=form, random_state=random_state, **given)


def _literal_melm(units, random_state, **given):
    return LiteralManifoldELM(random_state=random_state, **given)


def _dbn(units, random_state, **given):
    return deep_belief_network(seed=random_state, **given)


def _cnn(units, random_state, **given):
    return ConvolutionalNetwork(random_state=random_state, **given)


def _svc(units, random_state, **given):
    return SVC(**given)


CLASSIFIERS = {
    "ELM": _elm,
    "RAF-ELM": _robust,
    "GELM": _gelm,
    "MELM": _melm,
    "MELM, to the letter": _literal_melm,
    "DBN": _dbn,
    "CNN": _cnn,
    "SVC": _svc,
}


def classifier(settings, units, seed):
    """The classifier that ``settings`` name, with those of its parameters that ``given`` lists."""
    given = {name: settings[name] for name in settings["given"]}
    return CLASSIFIERS[settings["classifier"]](units, seed, **given)


def _split(case, images):
    """Rows and labels to train on and to test on; the whole is let go, digits being many."""
    X, y = benchmark_rows(case.data)
    train, test = draw(y, images, case.repetition, case.seed)
    return X[train], y[train], X[test], y[test]


def run(case):
    """Accuracy (%) on the test images, and the seconds of `fit`, choice of C and λ included."""
    s = case.settings
    if case.x is not None:
        s = s | {s["varied"]: case.x if s["varied"] == "lam" else int(case.x)}
    X_train, y_train, X_test, y_test = _split(case, s["images"])
    # As many hidden units as pixels where no number is stated.
    model = classifier(s, s.get("units", X_train.shape[1]), 1000 * case.seed + case.repetition)
    start = time.perf_counter()
    if "components" in s:
        pca = PCA(s["components"], random_state=0).fit(X_train)
        X_train, X_test = pca.transform(X_train), pca.transform(X_test)
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    return {"accuracy": 100 * float(model.score(X_test, y_test)), "seconds": seconds}
