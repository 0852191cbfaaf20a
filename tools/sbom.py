"""Write the bill of materials: what comes with Ulmus, as CycloneDX JSON into dist.

The environment that is described has the wheel and nothing that it does not bring itself.
"""

import json
import subprocess
import sys

from tools.environments import DIST, ROOT, empty, say


def main() -> None:
    """Install the wheel, list what came."""
    wheels = sorted(DIST.glob("*.whl"))
    if not wheels:
        sys.exit("There is no wheel in dist; run `make dist` first.")
    bill = DIST / f"{wheels[0].name.split('-py3')[0]}.cdx.json"
    with empty() as environment:
        environment.install(str(wheels[0]))
        environment.run("-m", "pip", "uninstall", "--quiet", "--yes", "setuptools", "pip")
        subprocess.run(
            [
                *(sys.executable, "-m", "cyclonedx_py", "environment", str(environment.python)),
                *("--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible"),
                *("--output-format", "JSON", "--output-file", str(bill)),
            ],
            check=True,
        )
    parts = json.loads(bill.read_text(encoding="utf-8"))["components"]
    listed = ", ".join(sorted(f"{part['name']} {part['version']}" for part in parts))
    say(f"{bill.relative_to(ROOT)} lists {len(parts)} packages: {listed}.")


if __name__ == "__main__":
    main()
