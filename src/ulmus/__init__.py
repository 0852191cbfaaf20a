"""Extreme learning machines with scikit-learn's interface.

A feature map turns X into hidden features H; one closed-form solve finds the
output weights. Any map works with any solve.
"""

import ast
import logging
from importlib import import_module
from pathlib import Path

# Where each public name lives, as `__init__.pyi` says it for editors and type checkers too. It is
# imported when it is first asked for, so that a program waits only for what it uses.
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOMES = {
    alias.name: str(node.module)
    for node in _STUB.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}
__all__ = sorted(_HOMES)

# What the library decides goes to this log and to those below it, and is written nowhere unless a
# program asks for it.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'ulmus' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_HOMES[name]), name)
    return globals()[name]


def __dir__():
    return __all__
