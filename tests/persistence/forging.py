"""Files that `ulmus.save` would not write."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import sklearn

import ulmus
from ulmus.persistence import encoding
from ulmus.persistence.rules import Layout

HEAD = {
    "format": "ulmus model",
    "version": 1,
    "ulmus": ulmus.__version__,
    "scikit-learn": sklearn.__version__,
    "random": [],
}


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def zipped(path, members, **options):
    with zipfile.ZipFile(path, "w", **options) as file:
        for name, data in members:
            file.writestr(name, data)
    return path


def forged(path, model, arrays=(), **changes):
    """A file whose checksums are all right, around whatever document."""
    document = HEAD | {"model": model} | changes
    with Path(path).open("wb") as stream:
        encoding.write(stream, json.dumps(document).encode(), arrays)
    return path


def save_forged(model, path):
    """`ulmus.save` without its checks, for models that someone has tampered with."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Layout, "check", lambda self, made: None)
        ulmus.save(model, path)
    return path


def units(**state):
    return {"object": {"class": "ulmus.RandomFeatures", "state": state}}
