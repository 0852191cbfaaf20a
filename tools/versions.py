"""Test against the oldest versions that pyproject.toml allows, or the newest there are.

``python -m tools.versions oldest`` wants Python 3.11, the oldest that is supported, where there is
one; ``newest`` takes the Python that runs it.
"""

import re
import shutil
import sys

from tools.environments import ROOT, empty, pins, project, say

# What no version of another package can break, or what takes too long to run twice.
SKIPPED = ("tests/papers", "tests/cli", "tests/distributed/test_cluster.py")


def lowest() -> list[str]:
    """Every "name>=version" of the dependencies and of the tests' extras as "name==version"."""
    extras = project()["optional-dependencies"]
    mine = [need for extra in extras["test"] for need in expanded(extra, extras)]
    found = [re.match(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)$", need) for need in mine]
    return [f"{one[1]}=={one[2]}" for one in found if one]


def expanded(need: str, extras: dict[str, list[str]]) -> list[str]:
    """A dependency; where it is extras of our own, what those need, and the core with them."""
    if not need.startswith("ulmus["):
        return [need]
    names = need.removeprefix("ulmus[").rstrip("]").split(",")
    return project()["dependencies"] + [one for name in names for one in extras[name]]


def main(which: str) -> None:
    """Install and run the tests."""
    python = shutil.which("python3.11") if which == "oldest" else None
    constraints = lowest() if which == "oldest" else []
    with empty(python or sys.executable) as environment:
        environment.install(f"{ROOT}[test]", constraints=constraints + pins())
        environment.run("-m", "pip", "list", "--format=freeze")
        skipped = [f"--ignore={path}" for path in SKIPPED]
        options = ["-q", "-p", "no:cacheprovider", "-m", "not slow"]
        if which == "oldest":
            # Old packages call what new ones beside them will drop; that is not ours to mend.
            options += ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"]
        environment.run("-m", "pytest", *options, *skipped, cwd=ROOT, SCIPY_ARRAY_API="1")
    say(f"The tests pass with the {which} versions.")


if __name__ == "__main__":
    if sys.argv[1:] not in (["oldest"], ["newest"]):
        sys.exit("usage: python -m tools.versions oldest|newest")
    main(sys.argv[1])
