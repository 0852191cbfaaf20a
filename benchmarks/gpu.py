"""One GPU: fits from host memory, ridge on device arrays, MNIST with all labels, few and none.

``python -m benchmarks gpu --out OUT.json`` on a machine with CUDA, PyTorch and scikit-learn (CuPy
for one part); ``--parts from_host breakdown`` runs these alone. MNIST is ``mnist.npz`` in the
folder that ULMUS_DATA names, or that file itself, or the files of its authors. It is not one of
``make bench``: those machines have no GPU.
"""

import gzip
import os
import platform
import time
import traceback
from functools import partial
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import sklearn
import torch
from sklearn.linear_model import Ridge
from sklearn.preprocessing import FunctionTransformer

from benchmarks.measure import table
from ulmus import (
    ELMClassifier,
    ELMEmbedding,
    ELMRegressor,
    ELMSpectralClustering,
    RandomFeatures,
    SemiSupervisedELMClassifier,
    to_host,
)
from ulmus.backends import gram
from ulmus.backends.gram import Gram
from ulmus.backends.linalg import Cholesky
from ulmus.backends.namespace import to_numpy
from ulmus.backends.streaming import on_device
from ulmus.features.scaling import ColumnStatistics
from ulmus.hidden import Hidden
from ulmus.metrics import clustering_accuracy

CLASSES = 10


def seconds(work, rounds=3):
    """Best wall time of some rounds, after one that warms up, and the last result."""
    result, best = work(), np.inf
    for _ in range(rounds):
        torch.cuda.synchronize()
        started = time.perf_counter()
        result = work()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - started)
    return best, result


def ceilings(n=8192):
    """Matrix products of this GPU, in TFLOP/s."""
    found = {}
    A = torch.randn(n, n, device="cuda")
    for name, tf32 in (("float32", False), ("tf32", True)):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        taken, _ = seconds(lambda: A @ A, 5)
        found[name] = 2 * n**3 / taken / 1e12
    torch.backends.cuda.matmul.allow_tf32 = False
    B = A[:4096, :4096].double()
    taken, _ = seconds(lambda: B @ B, 5)
    found["float64"] = 2 * 4096**3 / taken / 1e12
    host = torch.randn(2**28).pin_memory()
    taken, _ = seconds(lambda: host.to("cuda", non_blocking=True))
    found["host_to_device_gb_per_s"] = host.nbytes / taken / 1e9
    return found


def mixture(n, d, seed=0):
    """Classes of several clusters each, in host memory, float32."""
    generator = torch.Generator("cuda").manual_seed(seed)
    centers = 0.35 * torch.randn(CLASSES * 20, d, device="cuda", generator=generator)
    which = torch.randint(len(centers), (n,), device="cuda", generator=generator)
    X = np.empty((n, d), np.float32)
    for first in range(0, n, 65536):
        rows = centers[which[first : first + 65536]]
        rows = rows + torch.randn(rows.shape, device="cuda", generator=generator)
        X[first : first + 65536] = rows.cpu().numpy()
    return X, (which % CLASSES).cpu().numpy()


def plain(X, y, units, C, chunk=16384):
    """What a person writes in PyTorch: float32 HᵀH over chunks from host memory, then a solve."""
    layer = units.layer(torch.empty(1, X.shape[1], device="cuda"), np.float32)
    W = layer.W
    center = torch.tensor(units.scaling_.center, device="cuda", dtype=torch.float32)
    factor = torch.tensor(units.scaling_.factor, device="cuda", dtype=torch.float32)
    G = torch.zeros(W.shape[1], W.shape[1], device="cuda")
    R = torch.zeros(W.shape[1], CLASSES, device="cuda")
    for first in range(0, len(X), chunk):
        rows = torch.from_numpy(X[first : first + chunk]).to("cuda")
        H = torch.sigmoid(2.0 * (((rows - center) * factor) @ W[:-1] + W[-1]))
        labels = torch.from_numpy(y[first : first + chunk]).to("cuda")
        T = 2.0 * torch.nn.functional.one_hot(labels, CLASSES) - 1.0
        G += H.T @ H
        R += H.T @ T
    G.diagonal().add_(1.0 / C)
    return torch.linalg.solve(G.double(), R.double())


def from_host(n=1_000_000, d=784, h=10_000, C=1.0):
    """Fit from host memory, beside plain PyTorch in float32 and in float64."""
    X, y = mixture(n + 20_000, d)
    X_test, y_test, X, y = X[n:], y[n:], X[:n], y[:n]
    model = ELMClassifier(RandomFeatures(h), C=C, random_state=0)
    ours, model = seconds(lambda: model.fit(on_device(X), y), 2)
    units = model.features_
    theirs, beta = seconds(lambda: plain(X, y, units, C), 1)
    test = torch.from_numpy(X_test).to("cuda")
    layer = units.layer(test, np.float32)
    H = layer(test) + layer.offset
    right = (H @ beta.float()).argmax(1).cpu().numpy() == y_test
    found = {
        "n": n, "d": d, "h": h,
        "ulmus_s": ours, "plain_float32_s": theirs, "ratio": theirs / ours,
        "ulmus_accuracy": to_host(model).score(X_test, y_test),
        "plain_accuracy": float(right.mean()),
    }  # fmt: skip
    found["gram_tflops"] = 2.0 * n * h**2 / ours / 1e12
    return found


def ridge(n=65_536, d=2048):
    """Ridge on an array that is on the device, beside scikit-learn's on the same array."""
    generator = torch.Generator("cuda").manual_seed(0)
    X = torch.randn(n, d, device="cuda", generator=generator)
    y = X @ torch.randn(d, device="cuda", generator=generator)
    y += torch.randn(n, device="cuda", generator=generator)
    host = y.cpu().numpy()
    model = ELMRegressor(FunctionTransformer(), C=1.0)
    ours, model = seconds(lambda: model.fit(X, host))
    peer = Ridge(alpha=1.0, solver="svd")
    theirs, peer = seconds(lambda: peer.fit(X, y), 1)
    apart = np.abs(to_numpy(model.beta_)[:, 0] - to_numpy(peer.coef_)).max()
    return {
        "n": n, "d": d, "ulmus_s": ours, "scikit_learn_ridge_s": theirs, "ratio": theirs / ours,
        "largest_difference": float(apart),
    }  # fmt: skip


def images():
    """MNIST's 70 000 images, the 60 000 of its training part first, and their digits."""
    place = Path(os.environ["ULMUS_DATA"])
    file = place if place.suffix == ".npz" else place / "mnist.npz"
    if file.exists():
        data = np.load(file)
        return data["X"].astype(np.float32) / 255.0, data["y"].astype(int)
    X, y = (
        [_idx(place / f"{part}-{kind}-ubyte.gz") for part in ("train", "t10k")]
        for kind in ("images-idx3", "labels-idx1")
    )
    return np.concatenate(X).reshape(-1, 784).astype(np.float32) / 255.0, np.concatenate(y)


def _idx(path):
    """An array of bytes in the format of MNIST's authors."""
    data = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(data, ">i4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def mnist(h=10_000):
    """MNIST, 60 000 rows to fit and 10 000 to test, C by leave-one-out."""
    X, y = images()
    model = ELMClassifier(RandomFeatures(h), random_state=0)
    X_train = torch.from_numpy(X[:60_000]).to("cuda")
    X_test = torch.from_numpy(X[60_000:]).to("cuda")
    taken, model = seconds(lambda: model.fit(X_train, y[:60_000]), 1)
    labels = to_numpy(model.predict(X_test))
    return {
        "h": h, "seconds": taken, "C": model.C_, "selection": model.selection_,
        "loo": model.loo_score_, "accuracy": float(np.mean(labels == y[60_000:])),
    }  # fmt: skip


def few_labels(per_class=10):
    """MNIST, 60 000 rows on the device and a few labels of each class: SS-ELM by default."""
    X, y = images()
    rng, few = np.random.default_rng(0), np.full(60_000, -1)
    for digit in range(CLASSES):
        few[rng.choice(np.flatnonzero(y[:60_000] == digit), per_class, replace=False)] = digit
    known = few >= 0
    rows = torch.from_numpy(X[:60_000]).to("cuda")
    model = SemiSupervisedELMClassifier(random_state=0)
    taken, model = seconds(lambda: model.fit(rows, few), 3)
    again, _ = seconds(lambda: model.relabel(few), 3)
    given = to_numpy(model.transduction_)[~known] == y[:60_000][~known]
    new = to_numpy(model.predict(torch.from_numpy(X[60_000:]).to("cuda"))) == y[60_000:]
    return {
        "labels": per_class * CLASSES, "seconds": taken, "relabel_seconds": again,
        "accuracy_given": float(given.mean()), "accuracy_new": float(new.mean()),
    }  # fmt: skip


def embedding(rows=60_000, few=10_000):
    """MNIST without a label: `ELMEmbedding`, and how far from the CPU's places on fewer rows."""
    X, _ = images()
    device = torch.from_numpy(X[:rows]).to("cuda")
    model = ELMEmbedding(10, random_state=0)
    taken, _ = seconds(lambda: model.fit(device), 2)
    here = ELMEmbedding(10, random_state=0).fit(X[:few]).embedding_
    there = to_numpy(model.fit(device[:few]).embedding_)
    return {"rows": rows, "seconds": taken, "rows_compared": few} | _subspace(here, there)


def _subspace(here, there):
    """How far two sets of columns span the same space: one minus the least cosine."""
    bases = [np.linalg.qr(F - F.mean(0))[0] for F in (np.asarray(here), np.asarray(there))]
    cosines = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
    return {"one_minus_least_cosine": float(1.0 - cosines.min())}


def clustering(rows=60_000, few=10_000):
    """MNIST without a label: `ELMSpectralClustering`, beside the CPU's clusters of fewer rows."""
    X, y = images()
    device = torch.from_numpy(X[:rows]).to("cuda")
    model = ELMSpectralClustering(10, random_state=0)
    taken, _ = seconds(lambda: model.fit(device), 2)
    right = clustering_accuracy(y[:rows], to_numpy(model.labels_))
    here = ELMSpectralClustering(10, random_state=0).fit(X[:few]).labels_
    there = to_numpy(model.fit(device[:few]).labels_)
    return {
        "rows": rows, "seconds": taken, "accuracy": float(right),
        "rows_compared": few, "part_as_on_the_cpu": float(clustering_accuracy(here, there)),
    }  # fmt: skip


def few_labels_as_on_the_cpu(rows=10_000, per_class=10):
    """The part of rows without a label for which SS-ELM says the same on the CPU."""
    X, y = images()
    rng, few = np.random.default_rng(0), np.full(rows, -1)
    for digit in range(CLASSES):
        few[rng.choice(np.flatnonzero(y[:rows] == digit), per_class, replace=False)] = digit
    here = SemiSupervisedELMClassifier(random_state=0).fit(X[:rows], few).transduction_
    device = torch.from_numpy(X[:rows]).to("cuda")
    there = SemiSupervisedELMClassifier(random_state=0).fit(device, few).transduction_
    return {"rows": rows, "part_as_on_the_cpu": float(np.mean(here == to_numpy(there)))}


def breakdown(n=1_000_000, d=784, h=10_000, C=1.0):
    """Where the seconds of `from_host` go: passes that do one thing more each, and the solve."""
    X, y = mixture(n, d)
    model = ELMClassifier(RandomFeatures(h), C=C, random_state=0)
    whole, model = seconds(lambda: model.fit(on_device(X), y), 1)
    units, found = model.features_, {"whole fit": whole}

    def passed(rows, work):
        rows = on_device(X) if rows is None else rows
        H = Hidden(units.layer(rows, np.float32), rows)
        for _, block in rows.blocks(H.size):
            work(H.layer, block)

    kept = on_device(X)
    for name, work in {
        "copy": lambda layer, block: None,
        "copy, product": lambda layer, block: layer._inner(block),
        "copy, product, activation": lambda layer, block: layer(block),
    }.items():
        for place, rows in (("from the host", None), ("kept on the device", kept)):
            found[f"{name}, {place}"] = seconds(partial(passed, rows, work), 1)[0]
    found["statistics of columns, from the host"] = seconds(
        lambda: ColumnStatistics.of(on_device(X)), 1
    )[0]
    del kept
    found |= _gram_seconds(n, h)
    A = torch.randn(h, 2 * h, device="cuda", dtype=torch.float64)
    A = A @ A.T + h * torch.eye(h, device="cuda", dtype=torch.float64)
    found["factor, h × h float64"] = seconds(lambda: Cholesky(A), 1)[0]
    found["labels"] = seconds(lambda: np.unique(y, return_inverse=True), 1)[0]
    return found


def _gram_seconds(n, h, rows=24_576):
    """All n rows' HᵀH from one block that is used again, by the number of column panels."""
    B = torch.tanh(torch.randn(h, rows, device="cuda")).T
    found, times = {}, -(-n // rows)

    def work():
        sums = Gram(h, B, short=True)
        for _ in range(times):
            sums.add(B)

    for panels in (4, 8, 16):
        gram._DEVICE_PANELS = panels
        taken, _ = seconds(work, 1)
        found[f"sums of products, {panels} panels"] = taken * n / (times * rows)
    gram._DEVICE_PANELS = 8
    return found


def same_answers(n=5000, d=50, h=500):
    """Largest difference of decision values between NumPy and each library on the GPU."""
    import cupy

    X, y = mixture(n, d)
    found = {}
    for dtype in (np.float64, np.float32):
        A = X.astype(dtype)
        for name, C in (("one C", 1.0), ("loo", "loo")):
            model = ELMClassifier(RandomFeatures(h), C=C, random_state=0)
            with sklearn.config_context(array_api_dispatch=False):
                here = model.fit(A, y).decision_function(A)
            for library, put in (
                ("torch", lambda a: torch.from_numpy(a).to("cuda")),
                ("cupy", cupy.asarray),
            ):
                there = model.fit(put(A), y).decision_function(put(A))
                key = f"{library}, {np.dtype(dtype).name}, {name}"
                found[key] = float(np.abs(to_numpy(there) - here).max())
            streamed = model.fit(on_device(A), y).decision_function(on_device(A))
            key = f"on_device, {np.dtype(dtype).name}, {name}"
            found[key] = float(np.abs(to_numpy(streamed) - here).max())
    return found


def rounding(n=100_000, d=784, h=4000):
    """How far sums move the eigenvalues of HᵀH, by eps · max(diag) · √h of float32.

    That is the bound of ``ulmus.problem``; rows are about their means, as there.
    """
    X, _ = mixture(n, d)
    units = RandomFeatures(h, random_state=0).fit(X[:20_000])
    rows = torch.from_numpy(X).to("cuda")
    B = units.layer(rows, np.float32)(rows)
    B -= B.mean(0)
    exact = B.double().T @ B.double()
    unit = float(np.finfo(np.float32).eps) * float(exact.diagonal().max()) * h**0.5
    found = {}
    for name, short in (("float32", False), ("matrix units", True)):
        sums = Gram(h, B, short=short)
        sums.add(B)
        error = torch.linalg.eigvalsh(sums.total() - exact)
        found[name] = float(error.abs().max()) / unit
    return found


def machine():
    """The GPU that this was measured on."""
    return {
        "gpu": torch.cuda.get_device_name(),
        "gpu_memory_gb": round(torch.cuda.get_device_properties(0).total_memory / 2**30, 1),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


PARTS = {
    "same_answers": same_answers,
    "ceilings": ceilings,
    "rounding": rounding,
    "ridge": ridge,
    "from_host": from_host,
    "breakdown": breakdown,
    "mnist": mnist,
    "few_labels": few_labels,
    "few_labels_as_on_the_cpu": few_labels_as_on_the_cpu,
    "embedding": embedding,
    "clustering": clustering,
}
# A figure of a part, as a ratio that has a goal.
RATIOS = {
    "plain PyTorch / ulmus, 1 000 000 × 784, 10 000 units": ("from_host", "ratio"),
    "SS-ELM on MNIST, seconds": ("few_labels", "seconds"),
    "ELMEmbedding on MNIST, seconds": ("embedding", "seconds"),
    "ELMSpectralClustering on MNIST, seconds": ("clustering", "seconds"),
}


def run(folder, rounds, parts=None):
    """All parts, or those that are named; an error of one does not lose the others."""
    sklearn.set_config(array_api_dispatch=True)
    found = {"machine": machine()}
    for name in parts or PARTS:
        started = time.perf_counter()
        try:
            found[name] = PARTS[name]()
        except Exception as error:
            traceback.print_exc()
            found[name] = {"error": f"{type(error).__name__}: {error}"}
        print(name, f"{time.perf_counter() - started:.0f} s", found[name], flush=True)
        torch.cuda.empty_cache()
    ratios = {
        what: found[part][key] for what, (part, key) in RATIOS.items() if key in found.get(part, {})
    }
    rows = [
        (part, what, _short(value)) for part, cell in found.items() for what, value in cell.items()
    ]
    return found, ratios, table("One GPU", ["part", "what", "figure"], rows)


def _short(value):
    return f"{value:.4g}" if isinstance(value, float) else value
