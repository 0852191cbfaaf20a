"""The limits that tests run under, and what is left out where it cannot be run."""

import shutil
from importlib.util import find_spec

import joblib
import pytest
from hypothesis import HealthCheck, settings

# A test run draws the same examples of every law each time, so that it fails only for a change;
# `make explore` draws new ones. Neither looks at the clock, for a machine may be busy.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", unhurried, derandomize=True)
settings.register_profile("new", unhurried, derandomize=False, database=None, print_blob=True)
settings.load_profile("same")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """A worker for each CPU that this process may use, which in a container are few of many."""
    return min(joblib.cpu_count(), 8)


def pytest_collection_modifyitems(config, items):
    """Leave out what cannot run here: `make torch` and `make browser` get or ask for it.

    The longest come first.
    """
    changing = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if changing:
        raise pytest.UsageError(f"A test must have the same name in every run: {changing[0]}")
    here = {"torch": find_spec("torch"), "browser": shutil.which("chromium")}
    missing = {name for name, found in here.items() if not found}
    left_out = {item for item in items if missing & {mark.name for mark in item.iter_markers()}}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
