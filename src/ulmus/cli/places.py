"""Where commands read from and write to, looked at before any work is done."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from ulmus.exceptions import InvalidInputError, TableError
from ulmus.files import write_text

__all__ = ["check_free", "read_data", "stem_of", "write_new"]


def check_free(path, force):
    """Refuse a file that is there, unless it may be replaced, or whose folder cannot be used."""
    path = Path(path)
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InvalidInputError(
            f"There is no folder {folder} to write {path.name} to; name a folder that is there."
        )
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder; name a file to write to.")
    if not os.access(folder, os.W_OK):
        raise InvalidInputError(f"The folder {folder} cannot be written to; name another.")
    if path.exists() and not force:
        raise InvalidInputError(f"{path} is there already; --force replaces it.")


def write_new(path, text, force):
    """A whole text file; looked at again, for another program may have been quicker."""
    check_free(path, force)
    write_text(path, text)


def stem_of(data):
    """What files made from DATA are called, without an ending."""
    name = Path(data).absolute().name
    for suffix in reversed(Path(name).suffixes[-2:]):
        name = name.removesuffix(suffix)
    return "model" if data == "-" or not name else name


def read_data(options, image_shape=None):
    """The table that a command's DATA and its options name; "-" is CSV on standard input."""
    from ulmus.tables import read_table

    how = {
        "kind": options.kind,
        "encoding": options.encoding,
        "delimiter": _delimiter(options.delimiter),
        "image_shape": image_shape or None,
    }
    if options.data != "-":
        return read_table(options.data, **how)
    with tempfile.TemporaryDirectory(prefix="ulmus-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        try:
            return read_table(path, **{**how, "kind": how["kind"] or "csv"})
        except TableError as error:
            raise TableError(str(error).replace(str(path), "Standard input")) from error


def _delimiter(text):
    """As typed at a shell, where a tab is hard to type."""
    return {"\\t": "\t", "tab": "\t"}.get(text, text)
