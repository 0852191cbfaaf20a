"""One use of each extra: it must work where it is ``present``, and ask for itself where ``absent``.

Run by ``make extras`` in empty environments, not by pytest.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_iris

from ulmus import ELMClassifier, ELMLayout, KNNGraph, SparseELMClassifier, batches, on_device
from ulmus.exceptions import MissingExtraError

X, y = load_iris(return_X_y=True)


def dask():
    from ulmus.distributed import _dask

    da = _dask().array
    rows, labels = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    assert ELMClassifier(n_hidden=50).fit(rows, labels).score(rows, labels) > 0.9


def neighbors():
    assert KNNGraph(5, method="pynndescent").affinity(X).nnz >= 5 * len(X)


def parquet():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        if sys.argv[2] == "present":
            import pyarrow
            import pyarrow.parquet

            table = pyarrow.table({"a": X[:, 2], "b": X[:, 3], "y": y})
            pyarrow.parquet.write_table(table, path)
        model = ELMClassifier(n_hidden=50).fit(batches.from_parquet(path, "y"))
        assert model.score(X[:, 2:], y) > 0.9


def maps():
    assert ELMLayout(random_state=0).fit_transform(X).shape == (150, 2)


def plot():
    from ulmus.cli import parser

    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "demo.png"
        options = parser().parse_args(["demo", "--picture", str(picture)])
        assert options.run(options) == 0
        assert picture.stat().st_size > 10_000


def sparse():
    assert SparseELMClassifier(n_hidden=50).fit(X, y).score(X, y) > 0.9


def torch():
    rows = on_device(X, "cpu")
    sklearn.set_config(array_api_dispatch=True)
    assert np.mean(ELMClassifier(n_hidden=50).fit(rows, y).predict(X) == y) > 0.9


def onnx():
    from ulmus import to_onnx

    assert to_onnx(ELMClassifier(n_hidden=50).fit(X, y)).graph.node


def cli():
    from ulmus.tables import read_table

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_text("a,b\n1,x\n2,y\n")
        assert len(read_table(path)) == 2


def app():
    from ulmus.app.commands import module

    with module("server", "ulmus label").listening_socket() as found:
        assert found.getsockname()[0] == "127.0.0.1"


USES = {
    use.__name__: use
    for use in (app, cli, dask, maps, neighbors, onnx, parquet, plot, sparse, torch)
}

if __name__ == "__main__":
    name, state = sys.argv[1:]
    if name not in USES:
        sys.exit(f"The extra {name} is used by no test; give it a function in {__file__}.")
    try:
        USES[name]()
    except MissingExtraError as error:
        if state == "present" or f"ulmus[{name}]" not in str(error):
            raise
        print(f"{name}: {error}")
    else:
        if state == "absent":
            sys.exit(f"The extra {name} is said to be absent, and yet it works.")
