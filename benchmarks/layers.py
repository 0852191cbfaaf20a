"""The default hidden layer against random units, which was the default before: cost and accuracy.

Run by ``python -m benchmarks layers``; MNIST comes from ULMUS_DATA. 50 000 × 100 rows of ten
classes, and 10 000 images. All have 1000 units and C by leave-one-out. With receptive fields,
units between rows see a random rectangle each, and columns are not weighed.
"""

import numpy as np

from benchmarks.measure import contenders_page, race

ROWS, IMAGES = 50_000, 10_000
CONTENDERS = [
    "random_units",
    "units_from_rows",
    "images_random_units",
    "images_units_from_rows",
    "images_receptive_fields",
]


def prepare(folder):
    """Write the data once for all contenders."""
    from benchmarks.data import mixture
    from papers.datasets import benchmark_rows

    X, y = mixture(ROWS + 10_000)
    np.savez(folder / "rows.npz", X=X.astype(float), y=y)
    X, y = benchmark_rows("mnist")
    rows = np.random.default_rng(0).permutation(len(X))[: 2 * IMAGES]
    np.savez(folder / "images.npz", X=X[rows].astype(float), y=y[rows])


def _fitted(path, n_rows, features):
    from ulmus import ELMClassifier

    data = np.load(path)
    X, y = data["X"], data["y"]
    model = ELMClassifier(features, random_state=0)

    def work():
        model.fit(X[:n_rows], y[:n_rows])
        return {"accuracy": model.score(X[n_rows:], y[n_rows:])}

    return work


def random_units(folder):
    from ulmus import RandomFeatures

    return _fitted(folder / "rows.npz", ROWS, RandomFeatures())


def units_from_rows(folder):
    return _fitted(folder / "rows.npz", ROWS, None)


def images_random_units(folder):
    from ulmus import RandomFeatures

    return _fitted(folder / "images.npz", IMAGES, RandomFeatures())


def images_units_from_rows(folder):
    return _fitted(folder / "images.npz", IMAGES, None)


def images_receptive_fields(folder):
    from ulmus import RowFeatures

    features = RowFeatures(image_shape=(28, 28), random_state=0)
    return _fitted(folder / "images.npz", IMAGES, features)


def run(folder, rounds):
    """The default layer against random units."""
    prepare(folder)
    best = race("benchmarks.layers", CONTENDERS, folder, rounds)
    cpu = {name: result["cpu_seconds"] for name, result in best.items()}
    ratios = {
        "units from rows / random units, 50 000 × 100 (CPU)": cpu["units_from_rows"]
        / cpu["random_units"],
        "units from rows / random units, images (CPU)": cpu["images_units_from_rows"]
        / cpu["images_random_units"],
    }
    columns = {
        "CPU s": ("cpu_seconds", ".2f"),
        "peak MB": ("peak_mb", ".0f"),
        "accuracy": ("accuracy", ".4f"),
    }
    title = (
        "The default hidden layer and random units, 1000 each: 50 000 × 100, and 10 000 of MNIST"
    )
    return best, ratios, contenders_page(title, best, columns)
