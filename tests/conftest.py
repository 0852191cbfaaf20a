"""Data that tests may need, and the limits they run under."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# A test run draws the same examples of every law each time, so that it fails only for a change;
# `make explore` draws new ones. Neither looks at the clock, for a machine may be busy.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", unhurried, derandomize=True)
settings.register_profile("new", unhurried, derandomize=False, database=None, print_blob=True)
settings.load_profile("same")


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
