"""Constructor arguments of every kind of nonsense."""

from typing import Any

import numpy as np

__all__ = ["VALUES", "arguments_of"]

VALUES: dict[str, Any] = {
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "-1": -1,
    "-0.5": -0.5,
    "0": 0,
    "2.5": 2.5,
    "1e300": 1e300,
    "1e-300": 1e-300,
    "denormal": 5e-324,
    "10**30": 10**30,
    "True": True,
    "False": False,
    "None": None,
    "word": "nonsense",
    "empty word": "",
    "bytes": b"rbf",
    "complex": 1j,
    "empty list": [],
    "list with NaN": [1.0, float("nan")],
    "list of words": ["a", "b"],
    "ragged list": [[1.0], [1.0, 2.0]],
    "matrix": np.ones((2, 2)),
    "dict": {},
    "dict of words": {"a": "b"},
    "object": object(),
    "class": int,
    "function": len,
    "float16": np.float16,
    "longdouble": np.longdouble,
    "complex type": "complex64",
    "integer type": "int32",
    "NumPy integer": np.int64(3),
    "NumPy float": np.float32(0.5),
    "NumPy boolean": np.bool_(True),
    "array of one": np.array([1.0]),
    "array without dimensions": np.array(1.0),
}


def arguments_of(model: Any) -> list[str]:
    """The names of a model's own arguments."""
    return sorted(model.get_params(deep=False))
