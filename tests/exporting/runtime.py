"""A model as ONNX, run by onnxruntime and held against the model itself."""

import numpy as np
import onnx
import onnxruntime

from ulmus import to_onnx

METHODS = {
    "label": "predict",
    "variable": "predict",
    "probabilities": "predict_proba",
    "scores": "decision_function",
    "transformed": "transform",
}


def session_of(proto):
    onnx.checker.check_model(proto, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def results(session, rows, dtype=np.float32):
    """The outputs by name."""
    names = [output.name for output in session.get_outputs()]
    found = session.run(names, {"X": np.asarray(rows).astype(dtype)})
    return dict(zip(names, found, strict=True))


def assert_agrees(model, X, dtype=np.float32, atol=1e-4, sizes=(1, 7)):
    """Every output is what its method gives, for batches of several sizes; the outputs' names."""
    session = session_of(to_onnx(model, dtype=dtype))
    for rows in (*(X[:size] for size in sizes), X):
        found = results(session, rows, dtype)
        for name, values in found.items():
            expected = getattr(model, METHODS[name])(rows)
            assert values.shape == expected.shape, name
            if name == "label":
                np.testing.assert_array_equal(values, expected)
            else:
                assert values.dtype == dtype
                scale = max(1.0, float(np.abs(expected).max()))
                np.testing.assert_allclose(values, expected, rtol=0, atol=atol * scale)
    for name, values in results(session, X[:0], dtype).items():
        assert len(values) == 0, name
    offered = {method for method in set(METHODS.values()) if hasattr(model, method)}
    assert offered == {METHODS[name] for name in found}
    return list(found)
