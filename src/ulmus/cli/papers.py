"""``ulmus reproduce`` and ``ulmus data`` hand over to ``papers``, which is in the clone alone."""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import ulmus
from ulmus.exceptions import MissingExtraError

__all__ = ["fetch_files", "list_datasets", "reproduce"]


def reproduce(options: argparse.Namespace) -> int:
    """Run the papers' tables and figures; 1 if a run failed."""
    return int(_from_clone("papers.command").reproduce(options))


def list_datasets(options: argparse.Namespace) -> int:
    """Print every data set and where it would come from now."""
    return int(_from_clone("papers.datasets.command").list_datasets(options))


def fetch_files(options: argparse.Namespace) -> int:
    """Put files into the cache and print where each is; 1 if one failed."""
    return int(_from_clone("papers.datasets.command").fetch_files(options))


def _from_clone(name: str) -> Any:
    """A module of ``papers``, from the clone that this package was installed from."""
    clone = Path(ulmus.__file__).parents[2]
    if not (clone / "papers" / "command.py").is_file():
        raise MissingExtraError(
            "The papers' tables and data are in a clone of the repository, not in an installed "
            "package. In the clone: pip install --editable '.[papers]', then this command again."
        )
    if str(clone) not in sys.path:
        sys.path.append(str(clone))
    return import_module(name)
