"""Data sets larger than memory, as batches that `fit` of the ridge-based estimators takes.

Each function gives an iterable of pairs (X, y), or of triples (X, y, sample_weight), that can be
read any number of times. Only one batch is in memory at a time.
"""

import bz2
import gzip
import io
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from ulmus.archives import ArrayArchive, sparse_matrix
from ulmus.arguments import check_number, check_precision, check_whole
from ulmus.backends.arrow import arrow_batches, arrow_dataset
from ulmus.backends.namespace import forget_pages, is_sparse, take
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.typing import DType, Rows

__all__ = ["Batches", "from_arrays", "from_csr", "from_parquet", "from_svmlight"]

_BYTES = 32 * 2**20


class Batches:
    """Batches that can be read any number of times; ``len`` works if their number is known.

    Parameters
    ----------
    make : callable
        A function without arguments that returns an iterator over pairs (X, y) or triples (X, y,
        sample_weight).
    length : int, default=None
        Number of batches, if known.

    Examples
    --------
    >>> from ulmus import ELMRegressor
    >>> from ulmus.batches import Batches
    >>> def make():
    ...     for seed in range(3):
    ...         X = np.random.default_rng(seed).uniform(size=(100, 2))
    ...         yield X, X.sum(axis=1)
    >>> parts = Batches(make, length=3)
    >>> len(parts)
    3
    >>> model = ELMRegressor(n_hidden=20, random_state=0).fit(parts)
    >>> model.predict([[0.25, 0.5]]).round(2)
    array([0.75])
    """

    def __init__(self, make: Callable[[], Iterator[Any]], length: int | None = None) -> None:
        self._make = make
        self._length = length

    def __iter__(self) -> Iterator[Any]:
        return self._make()

    def __repr__(self) -> str:
        return f"Batches({'?' if self._length is None else self._length})"

    def __len__(self) -> int:
        if self._length is None:
            raise TypeError("the number of batches is not known before they are read")
        return self._length


def from_arrays(X: Rows, y: Any, sample_weight: Any = None, *, rows: int | None = None) -> Batches:
    """Batches of arrays, memory maps or a CSR matrix.

    Parameters
    ----------
    X : array, memory map or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    sample_weight : array of shape (n_samples,), default=None
        Sample weights; a row of weight two counts as two rows.
    rows : int, default=None
        Rows in a batch; None means as many as fit in 32 MiB.

    Returns
    -------
    batches : Batches
        For `fit` in place of X and y.

    Examples
    --------
    >>> from ulmus import ELMRegressor, batches
    >>> X = np.linspace(0, 1, 1000)[:, None]
    >>> parts = batches.from_arrays(X, np.sin(6 * X[:, 0]), rows=100)
    >>> len(parts)
    10
    >>> round(ELMRegressor(n_hidden=50, random_state=0).fit(parts).score(X, np.sin(6 * X[:, 0])), 3)
    1.0
    """
    n = X.shape[0]
    columns = _beside("X", n, y, sample_weight)
    width = (X.nnz // max(n, 1) + 1) * 16 if is_sparse(X) else X.shape[1] * X.dtype.itemsize
    size = _rows(rows, width)

    def make() -> Iterator[Any]:
        for start in range(0, n, size):
            part = slice(start, min(start + size, n))
            batch = take(X, part)
            yield (batch, *(column[part] for column in columns))
            forget_pages(batch)

    return Batches(make, -(-n // size))


def from_parquet(
    source: Any,
    target: str | Sequence[str],
    *,
    columns: Sequence[str] | None = None,
    sample_weight: str | None = None,
    rows: int | None = None,
    dtype: DType = None,
) -> Batches:
    """Batches of a Parquet file, a folder of them, or an Arrow data set.

    Needs the extra ``parquet``.

    Parameters
    ----------
    source : str, path, list of paths or pyarrow.dataset.Dataset
        The data.
    target : str or list of str
        The column, or the columns, of the targets.
    columns : list of str, default=None
        The columns of X; None is all others.
    sample_weight : str, default=None
        The column of sample weights.
    rows : int, default=None
        Rows in a batch; None means as many as fit in 32 MiB.
    dtype : float32, float64 or None, default=None
        Precision of X; None means the lowest that holds all columns.

    Returns
    -------
    batches : Batches
        For `fit` in place of X and y.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet, tempfile
    >>> from ulmus import batches
    >>> table = pyarrow.table({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 1.0], "y": [1, 0, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.parquet.write_table(table, f"{folder}/rows.parquet")
    ...     for X, y in batches.from_parquet(f"{folder}/rows.parquet", "y", rows=2):
    ...         print(X.shape, y)
    (2, 2) [1 0]
    (1, 2) [1]
    """
    check_precision("dtype", dtype)
    dataset = arrow_dataset(source)
    targets = [target] if isinstance(target, str) else list(target)
    beside = targets if sample_weight is None else [*targets, sample_weight]
    inputs = list(columns or [name for name in dataset.schema.names if name not in beside])
    for name in [*inputs, *beside]:
        if name not in dataset.schema.names:
            raise InvalidParameterError(
                f"There is no column {name!r}; there are {', '.join(dataset.schema.names)}."
            )
    size = _rows(rows, 8 * len(inputs))

    def make() -> Iterator[Any]:
        for found in arrow_batches(dataset, [*inputs, *beside], size):
            for name in inputs:
                if found[name].dtype.kind not in "fiub":
                    raise InvalidInputError(
                        f"Column {name!r} holds no numbers; leave it out by columns=, or encode it "
                        "first."
                    )
            X = np.column_stack([found[name] for name in inputs])
            X = X if dtype is None else X.astype(dtype, copy=False)
            Y = [found[name] for name in targets]
            y = Y[0] if isinstance(target, str) else np.column_stack(Y)
            yield (X, y) if sample_weight is None else (X, y, found[sample_weight])

    return Batches(make)


def from_csr(path: Any, y: Any, sample_weight: Any = None, *, rows: int | None = None) -> Batches:
    """Batches of a CSR matrix that `scipy.sparse.save_npz` wrote, compressed or not.

    Parameters
    ----------
    path : str or path
        The file.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    sample_weight : array of shape (n_samples,), default=None
        Sample weights; a row of weight two counts as two rows.
    rows : int, default=None
        Rows in a batch; None means as many as fit in 32 MiB.

    Returns
    -------
    batches : Batches
        For `fit` in place of X and y.

    Examples
    --------
    >>> import tempfile
    >>> from ulmus import batches
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sp.save_npz(f"{folder}/rows.npz", sp.csr_array(np.eye(5)))
    ...     for X, y in batches.from_csr(f"{folder}/rows.npz", np.arange(5), rows=3):
    ...         print(X.shape, y)
    (3, 5) [0 1 2]
    (2, 5) [3 4]
    """
    with _archive(path) as archive:
        form = archive.array("format.npy").item() if "format.npy" in archive.members else b"nothing"
        if form != b"csr":
            raise InvalidInputError(
                f"{path} holds no CSR matrix but {form.decode()}; write it as one."
            )
        n, width = map(operator.index, archive.array("shape.npy").tolist())
        (stored,), _ = archive.header("data.npy")
    size = _rows(rows, (stored // max(n, 1) + 1) * 16)
    columns = _beside(path, n, y, sample_weight)

    def make() -> Iterator[Any]:
        with (
            _archive(path) as archive,
            archive.open("indptr.npy") as ends,
            archive.open("indices.npy") as indices,
            archive.open("data.npy") as data,
        ):
            last = _next(ends, 1)
            for start in range(0, n, size):
                part = slice(start, min(start + size, n))
                edges = np.concatenate([last, _next(ends, part.stop - start)])
                last, count = edges[-1:], int(edges[-1]) - int(edges[0])
                parts = _next(data, count), _next(indices, count), edges - edges[0]
                X = sparse_matrix(sp.csr_array, parts, (part.stop - start, width))
                yield (X, *(column[part] for column in columns))

    return Batches(make, -(-n // size))


def from_svmlight(
    path: Any,
    n_features: int,
    *,
    zero_based: bool = False,
    megabytes: float = 32,
    dtype: DType = float,
) -> Batches:
    """Batches of a text file in the format of svmlight and LIBSVM.

    Parameters
    ----------
    path : str or path
        The file; it is compressed if its name ends in ".gz" or ".bz2".
    n_features : int
        Columns of X.
    zero_based : bool, default=False
        Whether columns are counted from 0.
    megabytes : float, default=32
        Size of a batch, in whole lines of the file.
    dtype : float32 or float64, default=float
        Precision of X.

    Returns
    -------
    batches : Batches
        For `fit` in place of X and y.

    Examples
    --------
    >>> import tempfile
    >>> from ulmus import batches
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "rows.txt").write_text("1 1:0.5 3:2.0\\n-1 2:1.0\\n")
    ...     for X, y in batches.from_svmlight(f"{folder}/rows.txt", n_features=3):
    ...         print(X.toarray().tolist(), y)
    [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [ 1. -1.]
    """
    check_precision("dtype", dtype)
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
    opened = openers.get(Path(path).suffix, open)
    check_whole("n_features", n_features, least=1)
    check_number("megabytes", megabytes)
    step = max(1, int(megabytes * 1e6))

    def make() -> Iterator[Any]:
        with opened(path, "rb") as file:
            # Whole lines: with scikit-learn's own offsets a line longer than a part is read twice.
            while lines := file.readlines(step):
                part = io.BytesIO(b"".join(lines))
                yield load_svmlight_file(
                    part, n_features=n_features, dtype=dtype, zero_based=zero_based
                )

    return Batches(make)


def _beside(rows: Any, n: int, y: Any, sample_weight: Any) -> list[Any]:
    """The targets, and the weights if there are any; refused where their number is not n."""
    columns = [y] if sample_weight is None else [y, sample_weight]
    for column in columns:
        if len(column) != n:
            raise InvalidInputError(f"{rows} has {n} rows, and y or the weights {len(column)}.")
    return columns


@contextmanager
def _archive(path: Any) -> Iterator[ArrayArchive]:
    """The arrays of a file; errors about its bytes become one error that names it."""
    with Path(path).open("rb") as file:
        try:
            yield ArrayArchive(file)
        except InvalidInputError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidInputError(
                f"{path} is damaged, or was not written by scipy.sparse.save_npz: {error}."
            ) from error


def _next(opened: tuple[IO[bytes], tuple[int, ...], bool, np.dtype], count: int) -> np.ndarray:
    """The next entries of an array that is read from its beginning to its end."""
    file, _, _, dtype = opened
    found = file.read(max(count, 0) * dtype.itemsize)
    if len(found) != count * dtype.itemsize:
        raise ValueError(f"{file.name} ends early")
    return np.frombuffer(found, dtype)


def _rows(rows: int | None, bytes_per_row: int) -> int:
    if rows is None:
        return max(1, _BYTES // max(1, bytes_per_row))
    check_whole("rows", rows, least=1)
    return int(rows)
