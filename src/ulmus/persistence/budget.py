"""How much may be made of a file: memory and work, as a multiple of its own bytes.

Both are counted in bytes. What is read is charged before it is made, what is looked through (the
checks of a class) is charged each time, so that a short file can neither ask for much memory nor
refer to one large array a million times.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ulmus.exceptions import ModelFileError

_TIMES = 24
_FREE = 2**25
# Bytes that Python needs for what each character begins or ends; lists, dicts, strings, numbers.
_JSON = {b"[": 88, b"{": 200, b'"': 16, b",": 24}


class Budget:
    """What is left of the memory and work that a file of ``size`` bytes may cost."""

    def __init__(self, size: int) -> None:
        self._left = _FREE + _TIMES * size

    def spend(self, cost: int) -> None:
        """Take ``cost`` bytes, if there are so many."""
        self._left -= cost
        if self._left < 0:
            raise ModelFileError(
                f"to read it would take more than {_TIMES} times its own size in memory or work"
            )


def json_cost(text: bytes) -> int:
    """About the memory that a JSON text takes when it is parsed, told by its punctuation."""
    return len(text) + sum(cost * text.count(mark) for mark, cost in _JSON.items())


def weight_of(value: Any) -> int:
    """Bytes of the arrays that a value is or has."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if sp.issparse(value):
        return sum(weight_of(part) for part in vars(value).values())
    return 0
