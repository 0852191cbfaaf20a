"""What to_onnx and save_onnx promise beside the numbers: names, types, metadata, refusals."""

import json
import sys

import array_api_strict as strict
import numpy as np
import onnx
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from exporting.runtime import assert_agrees, results, session_of
from ulmus import (
    ELMClassifier,
    ELMKMeans,
    ELMRegressor,
    KernelELMClassifier,
    KernelFeatures,
    RandomFeatures,
    SparseELMClassifier,
    save_onnx,
    to_device,
    to_onnx,
)
from ulmus.exceptions import ExportError, InvalidParameterError, MissingExtraError
from ulmus.kernels import RBF, Kernel

X, CLASSES = load_iris(return_X_y=True)
X = X[::2].astype(np.float32).astype(float)
CLASSES = CLASSES[::2]


def classifier(y):
    return ELMClassifier(n_hidden=20, random_state=0).fit(X, y)


LABELS = {
    "strings": (np.array(["setosa", "versicolor", "ünïcode 日本"]), onnx.TensorProto.STRING),
    "objects": (np.array(["a", "b", ""], dtype=object), onnx.TensorProto.STRING),
    "large": (np.array([-5, 0, 2**62]), onnx.TensorProto.INT64),
    "bytes": (np.array([0, 1, 255], dtype=np.uint8), onnx.TensorProto.INT64),
    "floats": (np.array([-1.0, 0.0, 2.0]), onnx.TensorProto.DOUBLE),
    "whole objects": (np.array([1, 2, 3], dtype=object), onnx.TensorProto.INT64),
}


@pytest.mark.parametrize(("names", "kind"), LABELS.values(), ids=list(LABELS))
def test_labels_keep_their_type(names, kind):
    model = classifier(names[CLASSES])
    label = to_onnx(model).graph.output[0]
    assert (label.name, label.type.tensor_type.elem_type) == ("label", kind)
    assert_agrees(model, X)


def test_two_classes_are_true_and_false():
    model = classifier(CLASSES == 2)
    assert to_onnx(model).graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.BOOL
    assert results(session_of(to_onnx(model)), X)["scores"].shape == (len(X),)


def test_labels_of_several_types_are_refused():
    model = classifier(np.array(["a", "b", 3], dtype=object)[CLASSES])
    with pytest.raises(ExportError, match="all strings"):
        to_onnx(model)


def test_labels_beyond_int64_are_refused():
    model = classifier(np.array([0, 1, 2**64 - 1], dtype=np.uint64)[CLASSES])
    with pytest.raises(ExportError, match="no common type"):
        to_onnx(model)


def test_any_number_of_rows_and_only_the_right_columns():
    proto = to_onnx(classifier(CLASSES))
    (rows,) = proto.graph.input
    shape = rows.type.tensor_type.shape.dim
    assert (rows.name, shape[0].dim_param, shape[1].dim_value) == ("X", "rows", 4)
    session = session_of(proto)
    assert [output.shape for output in session.get_outputs()] == [
        ["rows"],
        ["rows", 3],
        ["rows", 3],
    ]
    with pytest.raises(Exception, match="Got: 3 Expected: 4"):
        results(session, X[:, :3])


def test_ordinary_data_with_ordinary_settings():
    data, digits = load_digits(return_X_y=True)
    model = ELMClassifier(random_state=0).fit(data[::2], digits[::2].astype(str))
    assert_agrees(model, data[1::2])
    assert_agrees(model, data[1::2].astype(np.float32))


def test_columns_of_very_different_size():
    data, classes = load_wine(return_X_y=True)
    data = data.astype(np.float32).astype(float)
    assert_agrees(KernelELMClassifier().fit(data, classes), data)
    assert_agrees(ELMRegressor(n_hidden=50, C=1e8, random_state=0).fit(data, data[:, 12]), data)


def test_large_output_weights_lose_no_digits():
    noise = np.random.default_rng(0).standard_normal(len(X))
    for g in ("sigmoid", "erf", np.arctan):
        features = RandomFeatures(60, activation=g, random_state=0)
        model = ELMRegressor(features, C=1e12).fit(X, noise)
        rows = X.astype(np.float32)
        # The library is asked in single precision here, and that alone is off by more.
        assert np.abs(model.predict(rows) - model.predict(X)).max() > 1e-4
        assert_agrees(model, X, atol=1e-6)


def test_the_likeliest_class_is_the_label_even_where_probabilities_round_together():
    model = classifier(CLASSES)
    model.temperature_, model.class_scaling_ = 1e-9, np.array([np.ones(3), np.zeros(3)])
    found = results(session_of(to_onnx(model)), X)
    np.testing.assert_array_equal(found["probabilities"].argmax(axis=1), found["label"])
    np.testing.assert_allclose(found["probabilities"], 1 / 3, rtol=1e-6)


def test_scales_and_biases_of_classes_leave_the_label_the_likeliest():
    model = classifier(CLASSES)
    model.class_scaling_ = np.array([[0.5, 1.0, 2.0], [3.0, 0.0, -1.0]])
    assert_agrees(model, X)
    found = results(session_of(to_onnx(model)), X)
    np.testing.assert_array_equal(found["probabilities"].argmax(axis=1), found["label"])
    np.testing.assert_allclose(found["probabilities"].sum(axis=1), 1.0, rtol=1e-6)


def test_models_of_sparse_rows():
    sparse = sp.csr_array(np.where(X > 3.0, X, 0.0).astype(np.float32).astype(float))
    rows = sparse.toarray()
    for model in (
        ELMClassifier(n_hidden=20, random_state=0),
        KernelELMClassifier(),
        KernelELMClassifier("poly", rank=5, random_state=0),
        SparseELMClassifier(kernel="rbf"),
    ):
        assert_agrees(model.fit(sparse, CLASSES), rows)
    assert_agrees(KernelFeatures(rank=5, random_state=0).fit(sparse), rows)


def test_a_model_without_support_vectors_says_nothing():
    model = SparseELMClassifier(kernel=RBF(1.0)).fit(X, CLASSES)
    model.support_vectors_, model.dual_coef_ = X[:0], model.dual_coef_[:, :0]
    assert_agrees(model, X)


def test_what_the_file_says_of_itself(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["länge", "b", "c", "d"])
    model = ELMClassifier(n_hidden=20, random_state=0).fit(frame, np.array(list("äbc"))[CLASSES])
    save_onnx(model, tmp_path / "model.onnx")
    proto = onnx.load(tmp_path / "model.onnx")
    props = {entry.key: entry.value for entry in proto.metadata_props}
    assert json.loads(props["classes"]) == ["b", "c", "ä"]
    assert json.loads(props["feature_names"]) == ["länge", "b", "c", "d"]
    assert props["estimator"] == "ELMClassifier"
    assert (proto.producer_name, proto.producer_version) == ("ulmus", props["ulmus_version"])
    assert {opset.domain: opset.version for opset in proto.opset_import} == {"": 18}
    assert proto.ir_version == 8
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    save_onnx(classifier(CLASSES), path)
    before = path.read_bytes()
    with pytest.raises(NotFittedError):
        save_onnx(ELMClassifier(), path)
    monkeypatch.setattr("ulmus.exporting.onnx_model._MOST_BYTES", 1000)
    with pytest.raises(ExportError, match="fewer hidden units"):
        save_onnx(classifier(CLASSES), path)
    assert path.read_bytes() == before


def test_a_model_on_a_device_is_read_from_there():
    model = classifier(CLASSES)
    place = strict.zeros(1, device=strict.Device("device1"))
    there = to_device(model, place)
    assert there.beta_.device == place.device
    assert to_onnx(there) == to_onnx(model)


def test_the_model_stays_as_it_is():
    model = classifier(CLASSES)
    before = {
        name: np.copy(value) for name, value in vars(model).items() if hasattr(value, "shape")
    }
    to_onnx(model)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(model, name), value)


def own_kernel(A, B):
    return A @ B.T


REFUSED = {
    "precomputed": (KernelELMClassifier("precomputed").fit(X @ X.T, CLASSES), "Precomputed"),
    "precomputed, sparse": (
        SparseELMClassifier(kernel="precomputed").fit(X @ X.T, CLASSES),
        "Precomputed",
    ),
    "precomputed features": (KernelFeatures("precomputed").fit(X @ X.T), "Precomputed"),
    "own kernel": (
        KernelELMClassifier(own_kernel).fit(X, CLASSES),
        "own_kernel .* cannot be written",
    ),
    "own activation": (
        RandomFeatures(5, activation=lambda Z: Z**2).fit(X),
        "arctan",
    ),
    "another estimator": (
        LogisticRegression().fit(X, CLASSES),
        "LogisticRegression cannot .* of Ulmus",
    ),
}


@pytest.mark.parametrize(("model", "why"), REFUSED.values(), ids=list(REFUSED))
def test_what_has_no_graph_is_refused(model, why):
    with pytest.raises(ExportError, match=why):
        to_onnx(model)


class Halves(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X / 2

    def onnx(self, x):
        return x / 2.0


def test_a_transformer_of_ones_own_says_its_formula_itself():
    model = ELMClassifier(make_pipeline(Halves(), RandomFeatures(20, random_state=0)), C=1.0)
    assert_agrees(model.fit(X, CLASSES), X)


def test_a_class_of_ones_own_kernel_is_refused():
    class Own(Kernel):
        def __call__(self, A, B, out=None):
            return A @ B.T

        def diagonal(self, A):
            return (A * A).sum(axis=1)

    with pytest.raises(ExportError, match="Own object .* 'rbf'"):
        to_onnx(KernelFeatures(Own(), rank=3, random_state=0).fit(X))


@pytest.mark.parametrize("model", [ELMClassifier(), ELMKMeans(), RandomFeatures()])
def test_an_unfitted_model_is_refused(model):
    with pytest.raises(NotFittedError):
        to_onnx(model)


def test_other_types_of_rows_are_refused():
    for dtype in (np.int32, np.float16, "nonsense"):
        with pytest.raises(InvalidParameterError, match="must be float32, float64"):
            to_onnx(classifier(CLASSES), dtype=dtype)


def test_without_onnx_it_says_how_to_get_it(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "onnx"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ulmus\[onnx\]'"):
        to_onnx(classifier(CLASSES))
