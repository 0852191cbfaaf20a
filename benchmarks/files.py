"""A model written to a file and read back: 2000 units, 10 classes, 100 columns.

Ulmus waits until the file is safely on the disk; pickle and joblib do not, so each is also
measured with that wait.
"""

import pickle
import time
from dataclasses import is_dataclass

import numpy as np

from benchmarks.measure import race, table

ROWS, HIDDEN = 10_000, 2000
# A tenth of a second is soon disturbed: the best of so many counts.
TIMES = 20
CONTENDERS = [
    "ulmus",
    "ulmus_whole_matrices",
    "ulmus_for_predictions",
    "pickle_",
    "pickle_synced",
    "joblib_",
    "joblib_synced",
    "describe",
]


def prepare(folder):
    """Fit once for all contenders."""
    from benchmarks.data import mixture
    from ulmus import ELMClassifier, RandomFeatures

    X, y = mixture(ROWS)
    model = ELMClassifier(RandomFeatures(HIDDEN), C=1.0, random_state=0).fit(X.astype(float), y)
    (folder / "fitted.pickle").write_bytes(pickle.dumps(model))


def array_bytes(x):
    """What the arrays of a model come to."""
    if isinstance(x, np.ndarray):
        return x.nbytes
    parts = vars(x) if is_dataclass(x) or hasattr(x, "get_params") else x
    return sum(map(array_bytes, parts.values())) if isinstance(parts, dict) else 0


def _contender(folder, write, read):
    model = pickle.loads((folder / "fitted.pickle").read_bytes())
    path = folder / f"{write.__name__}-{read.__name__}"

    def there_and_back():
        write(model, path)
        return read(path)

    # The first time also imports what it needs.
    same = there_and_back()
    assert type(same) is dict or (same.beta_ == model.beta_).all()

    def work():
        best = {"seconds": np.inf, "cpu_seconds": np.inf}
        for _ in range(TIMES):
            wall, cpu = time.perf_counter(), time.process_time()
            there_and_back()
            best["seconds"] = min(best["seconds"], time.perf_counter() - wall)
            best["cpu_seconds"] = min(best["cpu_seconds"], time.process_time() - cpu)
        return best | {"bytes": path.stat().st_size, "array_bytes": array_bytes(model)}

    return work


def ulmus(folder):
    from ulmus import load, save

    return _contender(folder, save, load)


def ulmus_whole_matrices(folder):
    """What it would be if symmetric matrices were not stored as halves."""
    from ulmus import load, save
    from ulmus.persistence import encoding

    encoding.is_symmetric = lambda x: False
    return _contender(folder, save, load)


def ulmus_for_predictions(folder):
    from ulmus import load, save

    def lean(model, path):
        save(model, path, for_update=False)

    return _contender(folder, lean, load)


def describe(folder):
    """Only what a file says of itself; the file is written beforehand."""
    from ulmus import save
    from ulmus.persistence import describe

    written = []

    def once(model, path):
        if not written:
            written.append(save(model, path))

    return _contender(folder, once, describe)


def _unpickle(path):
    with path.open("rb") as stream:
        return pickle.load(stream)


def pickle_(folder):
    def plain(model, path):
        with path.open("wb") as stream:
            pickle.dump(model, stream, protocol=5)

    return _contender(folder, plain, _unpickle)


def pickle_synced(folder):
    from ulmus.files import replacing

    def synced(model, path):
        with replacing(path) as stream:
            pickle.dump(model, stream, protocol=5)

    return _contender(folder, synced, _unpickle)


def joblib_(folder):
    import joblib

    return _contender(folder, joblib.dump, joblib.load)


def joblib_synced(folder):
    import joblib

    from ulmus.files import replacing

    def synced(model, path):
        with replacing(path) as stream:
            joblib.dump(model, stream)

    return _contender(folder, synced, joblib.load)


def run(folder, rounds):
    """A model to a file and back, against pickle and joblib."""
    prepare(folder)
    best = race("benchmarks.files", CONTENDERS, folder, rounds)
    seconds = {name.strip("_"): result["seconds"] for name, result in best.items()}
    own, lean = best["ulmus"], best["ulmus_for_predictions"]
    ratios = {
        f"ulmus / {peer.replace('_', ', ')} (seconds)": seconds["ulmus"] / seconds[peer]
        for peer in ("pickle", "pickle_synced", "joblib", "joblib_synced")
    }
    ratios |= {
        "ulmus / ulmus, whole matrices (seconds)": seconds["ulmus"]
        / seconds["ulmus_whole_matrices"],
        "save and load, milliseconds": 1000 * own["seconds"],
        "save and load for predictions alone, milliseconds": 1000 * lean["seconds"],
        "file / arrays (bytes)": own["bytes"] / own["array_bytes"],
        "file for predictions alone / arrays (bytes)": lean["bytes"] / own["array_bytes"],
    }
    rows = [
        (
            name.strip("_").replace("_", " "),
            f"{1000 * result['seconds']:.0f}",
            f"{1000 * result['cpu_seconds']:.0f}",
            f"{result['bytes'] / 1e6:.1f}",
        )
        for name, result in best.items()
    ]
    title = f"Save and load, h = {HIDDEN}, 10 classes, 100 columns, float64"
    return best, ratios, table(title, ["contender", "ms", "CPU ms", "MB"], rows)
