"""Nearest neighbours of many rows: exactly, by products of blocks, or by an optional package."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from ulmus.backends.gram import product_eps
from ulmus.backends.linalg import column_major, eigh, matmul
from ulmus.backends.namespace import (
    cast,
    doubles,
    extra,
    floating,
    is_numpy,
    is_sparse,
    namespace,
    numpy_dtype,
    on_host,
    placed,
    row_bytes,
    row_entries,
    smallest_columns,
    take,
    to_numpy,
)
from ulmus.backends.threads import held_numba
from ulmus.exceptions import InvalidParameterError
from ulmus.typing import Array, Rows, Seed

# Squared distances that are in memory at once, on the host and on a device.
_ENTRIES, _DEVICE_ENTRIES = 2**25, 2**28
# Rows of a group, whose nearest is searched first.
_GROUP = 32
# Candidates beyond twice the number of neighbours, because distances shrink in a projection.
_SPARE = 6
# Rows that are compared at once.
_AT_ONCE = 4096
# So many columns tell most rows apart.
_KEY = 32
# Columns past which projecting pays, and past which finding the directions does not.
_NARROW, _WIDE = 100, 4000
# With this part of the variance a few candidates settle nearly every row.
_VARIANCE = 0.98


def leading_components(X: Rows, n_components: int | None) -> Rows:
    """X on its leading principal components, or as it is where it has no more."""
    if n_components is None or min(X.shape) <= n_components:
        return X
    if not is_numpy(X) and not is_sparse(X) and X.shape[1] <= _WIDE:
        X = cast(X, floating(X))
        centred = X - namespace(X).mean(X, axis=0)
        # The order and the signs of the components do not change distances.
        _, basis = eigh(doubles(matmul(centred.T, centred)))
        return matmul(centred, cast(basis[:, -n_components:], X.dtype))
    # Components of many columns are drawn, always the same ones.
    components = PCA(n_components, random_state=0).set_output(transform="default")
    with config_context(array_api_dispatch=False):
        places = components.fit_transform(on_host(X))
    return places if is_sparse(X) else placed(places, X)


def approximate_neighbors(X: Rows, k: int, metric: Any, seed: Seed) -> Any:
    """Distances to about the k nearest neighbours of each row, zeros stored, as a CSR array."""
    search = extra("pynndescent", "neighbors", "method='pynndescent'").NNDescent
    # One neighbour more, because a row finds itself first.
    with held_numba():
        index = search(X, metric=metric, n_neighbors=k + 1, random_state=seed)
    indices, distances = index.neighbor_graph
    n = X.shape[0]
    rows = np.repeat(np.arange(n), k + 1)
    found = indices.ravel() >= 0
    return sp.csr_array(
        (distances.ravel()[found], (rows[found], indices.ravel()[found])), shape=(n, n)
    )


def joined_copies(distances: Any, X: Rows) -> Any:
    """The distances, and a stored zero from each row to the first row that equals it.

    Only for rows with more copies than neighbours: which copies are its neighbours is arbitrary,
    and equal rows could end up in several components of the graph.
    """
    D = sp.csr_array(distances)
    crowded = np.flatnonzero(D.max(axis=1).toarray().ravel() == 0.0)
    if not len(crowded):
        return D
    own = crowded[_first_copies(on_host(take(X, crowded)))]
    row, D = crowded[own != crowded], sp.coo_array(D)
    ends = np.concatenate([D.row, row]), np.concatenate([D.col, own[own != crowded]])
    data = np.concatenate([D.data, np.zeros(len(row), D.dtype)])
    return sp.coo_array((data, ends), shape=D.shape).tocsr()


def mean_of_copies(F: np.ndarray, X: Rows) -> np.ndarray:
    """F averaged over rows of X that are equal."""
    first = _first_copies(X)
    if (first == np.arange(len(first))).all():
        return F
    sums = np.zeros(F.shape)
    np.add.at(sums, first, F)
    return (sums / np.bincount(first, minlength=len(F)).clip(1)[:, None])[first]


def _first_copies(X: Rows) -> np.ndarray:
    """The number of the first row that equals each row; its own where no other does."""
    found, alike, first = np.arange(X.shape[0]), _alike(X), dict[bytes, int]()
    names = row_bytes(on_host(X if len(alike) == X.shape[0] else take(X, alike)))
    found[alike] = [first.setdefault(name, i) for i, name in zip(alike, names, strict=True)]
    return found


def _alike(X: Rows) -> np.ndarray:
    """The rows that equal another one in the columns that vary most; of few columns all rows.

    Comparing these first saves most of the time where no row has a copy.
    """
    if is_sparse(X) or X.shape[1] <= _KEY:
        return np.arange(X.shape[0])
    some = on_host(take(X, slice(0, min(_AT_ONCE, X.shape[0]))))
    columns = np.sort(np.argsort(np.var(some, axis=0), kind="stable")[-_KEY:])
    key = np.ascontiguousarray(on_host(take(X, columns, axis=1)), dtype=float) + 0.0
    names = key.view(np.dtype((np.void, key.itemsize * _KEY)))[:, 0]
    _, which, count = np.unique(names, return_inverse=True, return_counts=True)
    return np.flatnonzero(count[which] > 1)


def different_rows(X: Rows, most: int) -> int:
    """How many rows differ from all before them, counted up to ``most``."""
    seen: set[bytes] = set()
    for start in range(0, X.shape[0], _AT_ONCE):
        if len(seen) < most:
            stop = min(start + _AT_ONCE, X.shape[0])
            seen.update(row_bytes(on_host(take(X, slice(start, stop)))))
    return min(len(seen), most)


def searched_neighbors(X: Rows, k: int, metric: Any) -> Any:
    """Distances to the k nearest other rows by scikit-learn's search, zeros stored, as CSR."""
    try:
        found = kneighbors_graph(X, k, mode="distance", metric=metric, include_self=False)
    except (ValueError, TypeError) as error:
        raise InvalidParameterError(
            f"metric={metric!r} cannot be used on these rows: {error}"
        ) from error
    return sp.csr_array(found)


def exact_neighbors(X: Array, k: int) -> Any:
    """Euclidean distances to the k nearest other rows of each row, zeros stored, as a CSR array.

    ‖x − y‖² = ‖x‖² + ‖y‖² − 2xᵀy comes from one product, of which only the nearest few of each
    row are kept and measured again, exactly. The product is first made of the rows' projections
    onto their main directions of variance: rows that are far apart there are far apart altogether.
    Rows for which the projection or rounding leaves a doubt are searched again without projection.
    On a device a product costs no more than its search, so there is no projection.
    """
    xp, rows = namespace(X), np.arange(X.shape[0])
    X = cast(X, floating(X))
    X = X - xp.mean(X, axis=0)
    distances = np.empty((len(rows), k), numpy_dtype(X.dtype))
    columns = np.empty((len(rows), k), np.int64)
    for shadow in (_projected(X) if is_numpy(X) else None, X):
        if shadow is not None and len(rows):
            rows = _settle(X, shadow, rows, distances, columns)
    return _graph(X, distances, columns, rows)


def nearest_points(X: Rows, points: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances to the k nearest points of each row and their numbers, both NumPy's.

    On a device the candidates are nearest up to the rounding of a product.
    """
    if is_numpy(X) or is_sparse(X):
        found = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(X)
        return found[0], found[1]
    xp, points = namespace(X), cast(points, floating(X))
    middle = xp.mean(points, axis=0)
    points = points - middle
    squares, wanted = _row_squares(points), min(2 * k + _SPARE, points.shape[0])
    distances, numbers = np.empty((X.shape[0], k)), np.empty((X.shape[0], k), np.int64)
    step = max(1, _DEVICE_ENTRIES // points.shape[0])
    for start in range(0, X.shape[0], step):
        part = slice(start, min(start + step, X.shape[0]))
        rows = cast(X[part, ...], points.dtype) - middle
        near = smallest_columns(squares[None, :] - 2.0 * (rows @ points.T), wanted)
        found, near = _measured(rows, points, near, k)
        distances[part], numbers[part] = to_numpy(xp.sqrt(found)), to_numpy(near)
    return distances, numbers


def exact_cosines(X: Array, k: int) -> Any:
    """The same of cosine distances, which are half the squares of those between unit rows.

    No row may be zero.
    """
    found = exact_neighbors(X / namespace(X).sqrt(_row_squares(X))[:, None], k)
    found.data *= 0.5 * found.data
    return found


def has_zero_row(X: Array) -> bool:
    """Whether a row has no direction."""
    return bool(namespace(X).any(_row_squares(X) == 0))


def _graph(X: Array, distances: np.ndarray, columns: np.ndarray, unsure: np.ndarray) -> Any:
    """The distances as a CSR array; rows that are ``unsure`` are searched again, each by itself."""
    n, k = distances.shape
    for row in unsure.tolist():
        gap = X - X[row : row + 1, :]
        squares = np.array(to_numpy(_row_squares(gap)))
        squares[row] = np.inf
        nearest = np.flatnonzero(squares <= np.partition(squares, k - 1)[k - 1])
        columns[row] = nearest[np.argsort(squares[nearest], kind="stable")[:k]]
        distances[row] = np.sqrt(squares[columns[row]])
    ends = np.arange(0, n * k + 1, k)
    return sp.csr_array((distances.ravel(), columns.ravel(), ends), shape=(n, n))


def _projected(X: Array) -> Array | None:
    """X on the few directions that hold nearly all of its variance, where they are few."""
    _n, d = X.shape
    if not _NARROW < d <= _WIDE:
        return None
    energy, basis = eigh(column_major(matmul(X.T, X).astype(float)))
    share = np.cumsum(energy[::-1]) / max(float(energy.sum()), np.finfo(float).tiny)
    few = int(np.searchsorted(share, _VARIANCE)) + 1
    if few > d // 2:
        return None
    return matmul(X, np.ascontiguousarray(basis[:, -few:]).astype(X.dtype))


def _settle(
    X: Array, shadow: Array, rows: np.ndarray, distances: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Find the neighbours of some rows by products of ``shadow``; give the rows in doubt."""
    (n, k), xp, host = distances.shape, namespace(X), is_numpy(X)
    squares = _row_squares(shadow)
    right = _padded(shadow, squares) if host else shadow
    wanted = min(2 * k + _SPARE, n - 1)
    doubt = 4.0 * product_eps(X) * X.shape[1] ** 0.5 * xp.sqrt(squares * xp.max(squares))
    step = max(1, (_ENTRIES if host else _DEVICE_ENTRIES) // n)
    unsure = [rows[:0]]
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        near, bound = (_grouped if host else _listed)(right, squares, some, wanted)
        own = placed(some, X)
        found, near = _measured(take(X, own), X, near, k, own)
        distances[some], columns[some] = to_numpy(xp.sqrt(found)), to_numpy(near)
        # All other rows are at least as far as the last candidate, up to rounding.
        far = found[:, -1] - take(squares, some) > bound - take(doubt, some)
        unsure.append(some[to_numpy(far)])
    return np.concatenate(unsure) if wanted < n - 1 else rows[:0]


def _padded(X: Array, squares: Array) -> Array:
    """Rows [x, ‖x‖²], and rows at infinite distance that fill up the last group."""
    body = np.column_stack([X, squares])
    far = np.zeros((-len(X) % _GROUP, body.shape[1]), X.dtype)
    far[:, -1] = np.finfo(X.dtype).max
    return np.concatenate([body, far])


def _listed(X: Array, squares: Array, rows: np.ndarray, wanted: int) -> tuple[Array, Array]:
    """Candidates for the nearest rows, and ‖y‖² − 2xᵀy of the last of them."""
    S = squares[None, :] - 2.0 * (take(X, rows) @ X.T)
    near = smallest_columns(S, wanted + 1)  # one more, because a row is among its own nearest
    return near, namespace(S).max(row_entries(S, near), axis=1)


def _grouped(right: Array, squares: Array, rows: np.ndarray, wanted: int) -> tuple[Array, Array]:
    """The same on the host, of padded rows.

    They are searched among the groups of rows with the smallest minima, so that most distances need
    not be compared.
    """
    left = -2.0 * right[rows]
    left[:, -1] = 1.0
    S = matmul(left, right.T)
    S[np.arange(len(rows)), rows] = np.inf
    groups = S.reshape(len(rows), _GROUP, -1)
    least = groups.min(axis=1)
    count = min(wanted, least.shape[1])
    closest = np.argpartition(least, count - 1, axis=1)[:, :count]
    inside = np.take_along_axis(groups, closest[:, None, :], 2).reshape(len(rows), -1)
    place = np.argpartition(inside, wanted - 1, axis=1)[:, :wanted]
    member, group = np.divmod(place, count)
    columns = member * least.shape[1] + np.take_along_axis(closest, group, 1)
    return columns, np.take_along_axis(inside, place, 1).max(axis=1)


def _measured(
    rows: Array, points: Array, near: Array, k: int, own: Array | None = None
) -> tuple[Array, Array]:
    """Squared distances and numbers of the k nearest candidates; of equals the first points.

    They come from differences. ``own`` are the rows' own numbers, where they are among the points.
    """
    xp = namespace(rows)
    near = xp.sort(near, axis=1)
    gaps = (rows - take(points, near[:, c]) for c in range(near.shape[1]))
    squares = xp.stack([_row_squares(gap) for gap in gaps], axis=1)
    if own is not None:
        squares = xp.where(near == own[:, None], xp.inf, squares)
    order = xp.argsort(squares, axis=1, stable=True)[:, :k]
    return row_entries(squares, order), row_entries(near, order)


def _row_squares(X: Array) -> Array:
    """‖x‖² of every row."""
    return np.einsum("ij,ij->i", X, X) if is_numpy(X) else namespace(X).sum(X * X, axis=1)
