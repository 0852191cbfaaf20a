"""What it means that one object is as another, bit by bit."""

from types import FunctionType

import numpy as np
import scipy.sparse as sp

from ulmus.fitted import Mark, marked, settled


def assert_same(a, b, where="model"):
    """The same types and the same bits, all the way down."""
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        if a.dtype == object:
            assert_same(a.ravel().tolist(), b.ravel().tolist(), where)
        else:
            assert a.tobytes() == b.tobytes(), where
    elif sp.issparse(a):
        assert a.shape == b.shape
        assert abs(a - b).nnz == 0, where
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_same(one, other, f"{where}[{i}]")
    elif isinstance(a, np.random.RandomState):
        assert_same(a.get_state(), b.get_state(), where)
    elif hasattr(a, "__dict__") and not isinstance(a, type | FunctionType):
        mine, other = _state(a), _state(b)
        assert sorted(mine) == sorted(other), where
        for key in mine:
            assert_same(mine[key], other[key], f"{where}.{key}")
    else:
        assert a == b or a != a, where


def _state(x):
    """What x holds, but for what is made again when it is needed; rows that wait are fitted."""
    if "_waiting" in vars(x):
        settled(x)
    without = {"memory", *marked(type(x), Mark.AGAIN)}
    return {name: part for name, part in vars(x).items() if name not in without}
