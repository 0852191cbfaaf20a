"""Build the wheel and the sdist, look into both, and use each in an empty environment."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

from tools.environments import DIST, ROOT, empty, say

# Of no use to who builds or tests a release: the gate, templates, and the runs behind results.json.
LEFT_OUT = (".ci/", ".github/", ".gitignore", "docs/papers/runs/")
# What setuptools adds.
ADDED = ("PKG-INFO", "setup.cfg", "src/ulmus.egg-info/")


def main() -> None:
    """Build, look, install, use."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\n")[:-1]
    look_into_wheel(wheel, tracked)
    look_into_sdist(sdist, tracked)
    for file in (wheel, sdist):
        with empty() as environment:
            environment.install(str(file))
            environment.run(str(ROOT / "tests" / "release" / "smoke.py"))
        say(f"{file.name} ({file.stat().st_size / 1e3:.0f} kB) works in an empty environment.")


def look_into_wheel(file: Path, tracked: list[str]) -> None:
    """It must hold all of the package, and nothing beside it."""
    names = zipfile.ZipFile(file).namelist()
    held = {name for name in names if ".dist-info/" not in name}
    compare(file.name, held, {name[4:] for name in tracked if name.startswith("src/")})


def look_into_sdist(file: Path, tracked: list[str]) -> None:
    """It must hold what a build, the tests and the documentation need, and nothing else."""
    with tarfile.open(file) as archive:
        names = [member.name for member in archive if member.isfile()]
    held = {str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in names}
    held = {name for name in held if not name.startswith(ADDED)}
    compare(file.name, held, {name for name in tracked if not name.startswith(LEFT_OUT)})


def compare(name: str, held: set[str], wanted: set[str]) -> None:
    """End with a message if one has what the other has not."""
    for what, files in (("lacks", wanted - held), ("should not hold", held - wanted)):
        if files:
            sys.exit(f"{name} {what}: {', '.join(sorted(files)[:20])}")
    say(f"{name} holds {len(held)} files, none too few or too many.")


if __name__ == "__main__":
    main()
