"""What commands read: the model file, and the table that DATA and its options name."""

import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ulmus.arguments import hint
from ulmus.cli.printing import watching
from ulmus.exceptions import InvalidInputError, ModelFileError, TableError
from ulmus.persistence import load
from ulmus.tables import Table, TableModel, read_table
from ulmus.tables.header import PLACE

# Options that name one column, and those that name several.
_NAMING = ("target", "color", "compare", "time", "group")
_LISTING = ("without", "keep", "kinds")
# Options that say how a text is read.
_TEXT = ("encoding", "delimiter", "header", "skip_bad_lines")
# A model's file is a zip archive.
_MAGIC = b"PK\x03\x04"


def check_model(path: str) -> None:
    """Refuse a folder, and a file that does not begin as a model's does."""
    if Path(path).is_dir():
        raise ModelFileError(f"{path} is a folder; give a file that `ulmus fit` wrote.")
    with Path(path).open("rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise ModelFileError(
                f"{path} is not a model file. `ulmus fit DATA --target NAME` "
                "writes one, which ends in .ulmus."
            )


def load_model(path: str) -> TableModel:
    """The model in a file, if it is one that reads tables."""
    check_model(path)
    model = load(path)
    if not isinstance(model, TableModel):
        raise InvalidInputError(
            f"{path} holds a {type(model).__name__}, which reads no tables; give a file that "
            "`ulmus fit` wrote, or use ulmus.load in Python."
        )
    return model


def read_for(model: TableModel, options: Namespace) -> Table:
    """The table that a model is to be used on."""
    known = () if model.encoder.width else model.encoder.names
    return read_data(options, model.encoder.image_shape, known)


def is_parquet(options: Namespace) -> bool:
    """Whether DATA is a Parquet file."""
    ends = options.data.lower().endswith((".parquet", ".pq"))
    return options.kind == "parquet" or (options.kind is None and ends)


def read_data(
    options: Namespace, image_shape: tuple[int, ...] = (), known: Collection[str] = ()
) -> Table:
    """The table that a command's DATA and its options name; "-" is CSV on standard input.

    ``known`` are names that a model expects in the header; else those that options name are.
    """
    said = vars(options)
    named = [(flag, said[flag]) for flag in _NAMING if said.get(flag)]
    named += [(flag, name) for flag in _LISTING for name in said.get(flag) or ()]
    named = [("as", name[0]) if flag == "kinds" else (flag, name) for flag, name in named]
    known = known or [name for _, name in named if not PLACE.fullmatch(name)]
    how: dict[str, Any] = {name: said[name] for name in _TEXT} | {"known": known}
    table = _read(options, image_shape, how)
    for flag, name in named:
        _check_column(table, flag, name)
    return table


def _check_column(table: Table, flag: str, name: str) -> None:
    """Refuse a column that is not there, and name the option that asks for it."""
    if name in table.names:
        return
    why = ""
    if len(table.names) == 1:
        why = " Fields may be separated by another character: give --delimiter."
    elif all(map(PLACE.fullmatch, table.names)):
        why = " The first row was taken as data: give --header if it has the names."
    advice = hint(name, table.names)
    raise TableError(f"--{flag}: There is no column {name!r}; {advice}{why}")


def _read(options: Namespace, image_shape: tuple[int, ...], how: dict[str, Any]) -> Table:
    with watching("Reading", options.quiet):
        if options.data != "-":
            shape = image_shape or None
            return read_table(options.data, kind=options.kind, image_shape=shape, **how)
        with tempfile.TemporaryDirectory(prefix="ulmus-") as folder:
            path = Path(folder) / "stdin"
            with path.open("wb") as stream:
                shutil.copyfileobj(sys.stdin.buffer, stream)
            try:
                return read_table(path, kind=options.kind or "csv", **how)
            except TableError as error:
                raise TableError(str(error).replace(str(path), "Standard input")) from error
