"""The page's scripts have the types that their comments say; run by ``make browser``."""

import shutil
import subprocess
from pathlib import Path

import pytest

import ulmus.app

STATIC = Path(ulmus.app.__file__).parent / "static"


@pytest.mark.browser
def test_typescript_finds_no_fault_in_the_scripts():
    if shutil.which("tsc") is None:
        pytest.skip("npm's typescript is not there; 'npm install --global typescript' brings tsc")
    scripts = sorted(map(str, STATIC.glob("*.js")))
    assert all("// @ts-check" in Path(script).read_text() for script in scripts)
    made = subprocess.run(
        ["tsc", "--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "es2022", "--module",
         "es2022", "--lib", "es2022,dom,dom.iterable", *scripts],
        capture_output=True, text=True,
    )  # fmt: skip
    assert made.stdout == ""
    assert made.returncode == 0
