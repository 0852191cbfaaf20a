"""One row, and many, by the library and by onnxruntime on the graph that was written for it.

Both on one thread, by turns. The shortest of many calls counts: on a shared machine the others say
more about the neighbours.
"""

import time

import numpy as np
import onnxruntime
from sklearn.datasets import load_digits

from benchmarks.measure import table
from ulmus import (
    ELMClassifier,
    KernelELMClassifier,
    RandomFeatures,
    SemiSupervisedELMClassifier,
    to_onnx,
)

MODELS = {
    "ELMClassifier, 1000 units": ELMClassifier(RandomFeatures(), random_state=0),
    "SemiSupervisedELMClassifier, 2000 units": SemiSupervisedELMClassifier(C=10, lam=0.1),
    "KernelELMClassifier, 898 landmarks": KernelELMClassifier("rbf", C=10.0),
}
SIZES = (1, 100)


def measure(calls=200):
    """Microseconds of each, and how far they are apart, for every model."""
    X, y = load_digits(return_X_y=True)
    rows = X[1::2].astype(np.float32)
    found = {}
    for name, model in MODELS.items():
        model.fit(X[::2], y[::2])
        proto = to_onnx(model)
        session = _session(proto)
        label, P = session.run(["label", "probabilities"], {"X": rows})
        found[name] = {
            "megabytes": proto.ByteSize() / 1e6,
            "labels apart": int(np.sum(label != model.predict(rows.astype(float)))),
            "probabilities apart": float(np.abs(P - model.predict_proba(rows.astype(float))).max()),
        }
        for size in SIZES:
            few = rows[:size]
            ulmus = _seconds(model.predict_proba, few)
            graph = _seconds(session.run, ["probabilities"], {"X": few})
            best = np.min([(next(ulmus), next(graph)) for _ in range(calls)], axis=0)
            found[name][f"ulmus µs, rows {size}"] = 1e6 * float(best[0])
            found[name][f"onnxruntime µs, rows {size}"] = 1e6 * float(best[1])
    return found


def _session(proto):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _seconds(function, *arguments):
    """The seconds of one call after another."""
    while True:
        start = time.perf_counter()
        function(*arguments)
        yield time.perf_counter() - start


def run(folder, rounds):
    """A call of a model and of its ONNX graph."""
    found = measure()
    rows, ratios = [], {}
    for name, result in found.items():
        rows.append(
            (
                name,
                f"{result['megabytes']:.2f}",
                *(f"{result[key]:.0f}" for key in result if " µs" in key),
                result["labels apart"],
                f"{result['probabilities apart']:.0e}",
            )
        )
        for size in SIZES:
            ulmus, graph = (result[f"{who} µs, rows {size}"] for who in ("ulmus", "onnxruntime"))
            ratios[f"ulmus / onnxruntime, {name}, rows {size}"] = ulmus / graph
    times = [key for key in result if " µs" in key]
    columns = ["model", "MB", *times, "labels apart", "probabilities apart"]
    title = "`predict_proba` on digits, rows in float32, one thread"
    return found, ratios, table(title, columns, rows)
