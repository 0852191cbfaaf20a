"""A test run that is expected to fail: the first failure ends it, in a process that is ready."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tools.draws import redraw

# What every test run imports and no mutant changes.
PACKAGES = ["hypothesis.strategies", "pandas", "pytest", "scipy.optimize", "scipy.sparse.linalg"]
PACKAGES += ["sklearn.datasets", "sklearn.neighbors", "sklearn.utils.estimator_checks"]
# Tests that take many seconds each, and say of the modules at hand no more than others do.
SLOW = "approximate_search or pynndescent or path_of_an_estimator"

# Hypothesis would look for a simpler example of what fails, for up to minutes.
settings.register_profile(
    "quick",
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
# Examples of a law: one that is broken seldom holds for these.
EXAMPLES = 12


class Few:
    """A plugin that draws few examples."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Draw no more than ``EXAMPLES``."""
        redraw(items, lambda number: min(number, EXAMPLES))


def run(folder: Path, tests: list[str], output: Path) -> None:
    """Run tests of a copy of the tree, and end this process with their exit status."""
    os.chdir(folder)
    sys.path.insert(0, str(folder / "src"))
    with output.open("w", encoding="utf-8") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "-k", f"not ({SLOW})"]
        # Pytest warns of plugins that are imported already.
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        status = pytest.main([*options, "--hypothesis-profile=quick", *tests], plugins=[Few()])
        import ulmus

        assert Path(ulmus.__file__).is_relative_to(folder), "the tests are of another tree"
        sys.stdout.flush()
    os._exit(int(status))
