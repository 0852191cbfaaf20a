"""One class outside the package is a kernel everywhere: by name, by blocks, in files, in ONNX."""

from dataclasses import dataclass, replace

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator

from exporting.runtime import assert_agrees
from persistence.forging import save_forged
from ulmus import (
    ELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    SparseELMClassifier,
    load,
    save,
    to_host,
)
from ulmus.exceptions import InvalidParameterError, ModelFileError
from ulmus.kernels import KERNELS, Kernel, parameter
from ulmus.kernels.pairs import squared_distances
from ulmus.persistence import classes

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

X, Y = load_iris(return_X_y=True)
VALUES = X[:, 2]


def defined():
    """All that has to be written."""

    @dataclass(frozen=True)
    class Cauchy(Kernel, name="cauchy"):
        """1 / (1 + γ‖x − z‖²)."""

        gamma: float = parameter(1.0, above=0)

        def __call__(self, X, Z, out=None):
            return 1.0 / (1.0 + self.gamma * squared_distances(X, Z))

        def onnx(self, x, Z):
            return 1.0 / (1.0 + x.squared_distances(Z, self.gamma))

    return Cauchy


@pytest.fixture(autouse=True)
def cauchy(monkeypatch):
    """The class, which is unknown again when a test ends."""
    before = dict(KERNELS)
    monkeypatch.setattr(classes, "_KNOWN", dict(classes._KNOWN))
    yield defined()
    KERNELS.clear()
    KERNELS.update(before)


MODELS = {
    "classifier": lambda: KernelELMClassifier("cauchy").fit(X, Y),
    "low rank": lambda: KernelELMClassifier("cauchy", rank=20, random_state=0).fit(X, Y),
    "width": lambda: KernelELMRegressor("cauchy", gamma="loo").fit(X, VALUES),
    "hinge": lambda: SparseELMClassifier(kernel="cauchy", C=1.0).fit(X, Y),
    "features": lambda: KernelFeatures("cauchy", rank=20, random_state=0).fit(X),
    "elm": lambda: ELMClassifier(KernelFeatures("cauchy", rank=20, random_state=0)).fit(X, Y),
}


def answer(model, rows):
    """What a model makes of rows."""
    for method in ("decision_function", "predict", "transform"):
        if hasattr(model, method):
            return getattr(model, method)(rows)
    raise AssertionError(model)


@pytest.mark.parametrize("name", MODELS)
def test_it_fits_by_name_and_as_the_object_that_the_name_became(name, cauchy):
    model = MODELS[name]()
    kernel = getattr(model, "kernel_", None) or model.features_.kernel_
    assert isinstance(kernel, cauchy)
    if hasattr(model, "score"):
        assert model.score(X, Y if hasattr(model, "classes_") else VALUES) > 0.9
    assert_allclose(kernel.diagonal(X), 1.0)
    assert KernelELMClassifier(kernel, C=1.0).fit(X, Y).kernel_ is kernel


def test_a_typical_width_is_that_of_a_gaussian():
    typical = KernelELMClassifier("cauchy", C=1.0).fit(X, Y).kernel_.gamma
    assert typical == KernelELMClassifier("rbf", C=1.0).fit(X, Y).kernel_.gamma
    assert KernelELMClassifier("cauchy", gamma=0.3, C=1.0).fit(X, Y).kernel_.gamma == 0.3


def test_sparse_rows_and_rows_of_other_libraries_give_the_same(cauchy):
    dense = KernelELMClassifier("cauchy", C=1.0).fit(X, Y)
    sparse = KernelELMClassifier("cauchy", C=1.0).fit(sp.csr_array(X), Y)
    expected = dense.decision_function(X)
    assert_allclose(sparse.decision_function(sp.csr_array(X)), expected, atol=1e-6)
    with config_context(array_api_dispatch=True):
        strict = array_api_strict.asarray(X)
        theirs = KernelELMClassifier("cauchy", C=1.0).fit(strict, array_api_strict.asarray(Y))
        assert_allclose(np.asarray(theirs.decision_function(strict)), expected, atol=1e-6)
        assert isinstance(to_host(theirs).kernel_, cauchy)


def test_batches_give_what_all_rows_at_once_do():
    features = FrozenEstimator(KernelFeatures("cauchy", rank=20, random_state=0).fit(X))
    model, whole = ELMClassifier(features, C=1.0), ELMClassifier(features, C=1.0).fit(X, Y)
    for part in np.array_split(np.arange(len(X)), 3):
        model.partial_fit(X[part], Y[part], classes=[0, 1, 2])
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-6)


def test_dask_blocks_give_what_rows_in_memory_do():
    def blocks(A):
        return da.from_array(A, chunks=(40, *A.shape[1:]))

    asked = {"rank": 20, "C": 1.0, "random_state": 0}
    with dask.config.set(scheduler="synchronous"):
        a = KernelELMClassifier("cauchy", **asked).fit(X, Y)
        b = KernelELMClassifier("cauchy", **asked).fit(blocks(X), blocks(Y))
    assert_allclose(b.decision_function(X), a.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_it_comes_back_from_a_file(name, tmp_path):
    model = MODELS[name]()
    save(model, tmp_path / "model.ulmus")
    again = load(tmp_path / "model.ulmus")
    assert_array_equal(answer(again, X), answer(model, X))


def test_a_file_is_refused_where_the_class_does_not_exist(tmp_path):
    save(MODELS["classifier"](), tmp_path / "model.ulmus")
    classes._KNOWN.pop(classes.known_as(KERNELS.pop("cauchy")).name)
    with pytest.raises(ModelFileError, match="Cauchy', which is not among the classes"):
        load(tmp_path / "model.ulmus")


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf, "wide", True, 10**400])
def test_a_file_with_a_value_out_of_range_is_refused(gamma, cauchy, tmp_path):
    model = MODELS["classifier"]()
    model.kernel_ = replace(model.kernel_, gamma=gamma)
    save_forged(model, tmp_path / "model.ulmus")
    with pytest.raises(ModelFileError, match="gamma of Cauchy does not fit"):
        load(tmp_path / "model.ulmus")


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_computes_the_same(name):
    assert_agrees(MODELS[name](), X)


def test_a_name_belongs_to_one_class(cauchy):
    with pytest.raises(InvalidParameterError, match=r"'rbf', which is that of ulmus.*RBF; choose"):

        class Other(cauchy, name="rbf"):
            pass

    assert KERNELS["rbf"].__name__ == "RBF"


def test_a_class_that_is_defined_again_takes_the_place_of_the_first(cauchy):
    again = defined()
    assert KERNELS["cauchy"] is again is not cauchy
    assert isinstance(KernelELMClassifier("cauchy", C=1.0).fit(X, Y).kernel_, again)


def test_names_that_nobody_has_are_listed_with_those_that_are_known():
    with pytest.raises(InvalidParameterError, match=r"'cauchi' is unknown; .*'rbf'.*'cauchy'"):
        KernelELMClassifier("cauchi").fit(X, Y)
