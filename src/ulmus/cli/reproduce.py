"""``ulmus reproduce``: hands over to ``papers``, which is in the clone and not installed."""

import sys
from importlib import import_module
from pathlib import Path

import ulmus
from ulmus.exceptions import MissingExtraError

__all__ = ["reproduce"]


def reproduce(options):
    """Run the papers' tables and figures; 1 if a run failed."""
    return _command().reproduce(options)


def _command():
    """The module that runs them, from the clone that this package was installed from."""
    clone = Path(ulmus.__file__).parents[2]
    if not (clone / "papers" / "command.py").is_file():
        raise MissingExtraError(
            "The papers' tables are run from a clone of the repository, not from an installed "
            "package. In the clone: pip install --editable '.[papers]', then this command again."
        )
    if str(clone) not in sys.path:
        sys.path.append(str(clone))
    return import_module("papers.command")
