"""What an installed release must do with nothing beside it: run by ``make dist``, not by pytest."""

import importlib.metadata
import subprocess
import sysconfig
from importlib import resources
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

import ulmus
from ulmus.exceptions import MissingExtraError

X, y = load_iris(return_X_y=True)
X, y = X[::3], y[::3]

place = Path(ulmus.__file__)
assert place.is_relative_to(sysconfig.get_path("purelib")), f"{place} is not what was installed"
assert ulmus.__version__ == importlib.metadata.version("ulmus")

data = resources.files("ulmus")
for name in ("py.typed",):
    assert data.joinpath(name).is_file(), f"{name} was not installed"

for name in ulmus.__all__:
    cls = getattr(ulmus, name)
    if not hasattr(cls, "fit"):
        continue
    try:
        model = cls().fit(X, np.where(np.arange(len(y)) % 2, y, y[0]))
    except MissingExtraError as error:
        print(f"{name}: {error}")
        continue
    found = model.predict(X) if hasattr(model, "predict") else model.transform(X)
    assert len(found) == len(X), name

command = Path(sysconfig.get_path("scripts")) / "ulmus"
said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
assert said.strip() == f"ulmus {ulmus.__version__}", said
listed = subprocess.run([command, "data", "list"], capture_output=True, text=True)
assert listed.returncode == 1
assert "clone" in listed.stderr, listed.stderr
print(f"Ulmus {ulmus.__version__} fits, predicts and has its files.")
