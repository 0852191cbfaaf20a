"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

__all__ = ["replacing", "write_text"]


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[Any]]:
    """A new file, open for bytes, that takes the place of ``path`` when the block ends well.

    It is written beside it under another name and is safely on the disk before it is renamed, so
    that whatever goes wrong, a full disk or a killed process, the old file is still there.
    """
    path = Path(path)
    draft = path.with_name(f".{path.name}-{secrets.token_hex(4)}.part")
    try:
        with draft.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """A whole text file in UTF-8."""
    with replacing(path) as stream:
        stream.write(text.encode())
