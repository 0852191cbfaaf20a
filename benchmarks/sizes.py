"""What the defaults cost on tables of two sizes, and what a low-rank kernel loses on 10 000 rows.

Run by ``python -m benchmarks sizes``; letter and covtype come from ULMUS_DATA. A contender is a fit
in a process of its own, with all threads that BLAS may have.
"""

import numpy as np

from benchmarks.measure import race, table

SIZES = {"3000": (3000, 20), "50000": (50_000, 50)}
TEST = 5000
CONTENDERS = [f"{kind}_{rows}" for kind in ("elm", "kernel_elm") for rows in SIZES]
RANKS = [f"{name}_{how}" for name in ("letter", "covtype") for how in ("whole", "2000", "1000")]


def prepare(folder):
    """Write the data once for all contenders."""
    from benchmarks import tabular
    from benchmarks.data import mixture

    for rows, (n, d) in SIZES.items():
        X, y = mixture(n + TEST, d)
        np.savez(folder / f"{rows}.npz", X=X.astype(float), y=y)
    for name in ("letter", "covtype"):
        X, y = tabular.load(name)
        order = np.random.RandomState(200).permutation(len(X))[: 10_000 + TEST]
        np.savez(folder / f"{name}.npz", X=X[order], y=y[order])


def __getattr__(name):
    """A contender by its name: what is fitted, and to which rows."""
    if name in CONTENDERS:
        kind, rows = name.rsplit("_", 1)
        kinds = {"elm": "ELMClassifier", "kernel_elm": "KernelELMClassifier"}
        return lambda folder: _fitted(folder / f"{rows}.npz", kinds[kind], {})
    if name in RANKS:
        data, how = name.rsplit("_", 1)
        rank = {} if how == "whole" else {"method": "rpcholesky", "rank": int(how)}
        return lambda folder: _fitted(folder / f"{data}.npz", "KernelELMClassifier", rank)
    raise AttributeError(name)


def _fitted(path, kind, parameters):
    import ulmus

    data = np.load(path)
    X, y = data["X"], data["y"]
    model = getattr(ulmus, kind)(random_state=0, **parameters)

    def work():
        model.fit(X[:-TEST], y[:-TEST])
        return lambda: {"accuracy": model.score(X[-TEST:], y[-TEST:])}

    return work


def page(found):
    """Seconds, CPU seconds, peak memory and accuracy."""
    parts = []
    for title, names in (
        ("The defaults on 3000 × 20 and 50 000 × 50 rows of ten classes", CONTENDERS),
        ("A kernel ELM on 10 000 rows: the whole kernel, and factors of few columns", RANKS),
    ):
        rows = [
            (
                name.replace("_", " "),
                *(f"{found[name][key]:.1f}" for key in ("seconds", "cpu_seconds")),
                f"{found[name]['peak_mb']:.0f}",
                f"{found[name]['accuracy']:.4f}",
            )
            for name in names
        ]
        parts.append(table(title, ["fit", "seconds", "CPU s", "peak MB", "accuracy"], rows))
    return "\n\n".join(parts)


def run(folder, rounds):
    """What the defaults cost; minutes, so once."""
    prepare(folder)
    found = race("benchmarks.sizes", CONTENDERS + RANKS, folder, 1)
    return found, {}, page(found)
