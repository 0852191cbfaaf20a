"""What a release says of itself agrees, and it holds all of its files."""

import importlib.metadata
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from ulmus.version import __version__

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_in_one_place():
    assert "version" not in PYPROJECT["project"]
    assert PYPROJECT["tool"]["setuptools"]["dynamic"]["version"] == {
        "attr": "ulmus.version.__version__"
    }
    assert "from ulmus.version import __version__" in (ROOT / "docs" / "conf.py").read_text()
    assert importlib.metadata.version("ulmus") == __version__


def test_papers_that_cite_and_the_changes_name_the_same_version():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert cited[1] == newest[1] == __version__


def test_every_file_of_the_package_is_installed():
    source = ROOT / "src" / "ulmus"
    patterns = PYPROJECT["tool"]["setuptools"]["package-data"]["ulmus"]
    for path in source.rglob("*"):
        place = path.relative_to(source).as_posix()
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts:
            assert any(fnmatch(place, pattern) for pattern in patterns), f"{place} is left behind"
    for folder in {path.parent for path in source.rglob("*.py")}:
        assert (folder / "__init__.py").is_file(), f"{folder} is no package, and left behind"
