"""Empty environments, to see a release as its users will."""

import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def say(text: str) -> None:
    """What is happening, in order with what the programs below print."""
    print(text, flush=True)


def project() -> dict:
    """What pyproject.toml says of the project."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins() -> list[str]:
    """The PyTorch that the papers are run with: without it pip may choose one of gigabytes."""
    return [need for need in project()["optional-dependencies"]["papers"] if "==" in need]


@dataclass(frozen=True)
class Environment:
    """A virtual environment; programs run in its own folder, where the sources are not found."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def install(self, *what: str, constraints: list[str] | None = None) -> None:
        """Install by pip, under constraints such as "numpy==2.0"."""
        file = self.folder / "constraints.txt"
        file.write_text("\n".join(constraints or []), encoding="utf-8")
        self.run("-m", "pip", "install", "--quiet", "--constraint", str(file), *what)

    def run(self, *arguments: str, cwd: Path | None = None, **environ: str) -> None:
        """Run Python; end with its exit status where that is not 0."""
        own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | environ
        command = [str(self.python), *arguments]
        status = subprocess.run(command, cwd=cwd or self.folder, env=own, check=False).returncode
        if status:
            say(f"Failed: {' '.join(command)}")
            sys.exit(status)


@contextmanager
def empty(python: str = sys.executable) -> Iterator[Environment]:
    """A new environment with pip alone; it goes when it is left."""
    with tempfile.TemporaryDirectory(prefix="ulmus-") as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        yield Environment(Path(folder))
