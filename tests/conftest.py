"""Data that tests may need, and the limits they run under."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# At the gate the laws meet the same examples every time; elsewhere they look for new ones.
settings.register_profile("gate", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("gate")


@pytest.fixture(scope="session")
def benchmark_data():
    """A loader of the files in ULMUS_DATA: name → (X, y, the whole file)."""
    folder = os.environ.get("ULMUS_DATA")
    if not folder:
        pytest.skip("ULMUS_DATA is not set: the benchmark files are not here")
    names = json.loads((Path(folder) / "MANIFEST.json").read_text())["datasets"]

    def load(name):
        assert name in names, f"{name} is not in the manifest of {folder}"
        data = np.load(Path(folder) / f"{name}.npz")
        return data["X"], data["y"], data

    return load
