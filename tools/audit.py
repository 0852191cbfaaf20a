"""Hold the project's exact versions against the list of known vulnerabilities.

The exit status is 0 where none is known, 1 where one is, and 2 where a package could not be asked
for: no answer is not a good one.
"""

import json
import subprocess
import sys

from tools.environments import ROOT, say


def main() -> int:
    """Ask, and say what is known."""
    asked = subprocess.run(
        [
            *(sys.executable, "-m", "pip_audit", "--requirement", str(ROOT / "constraints.txt")),
            *("--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        packages = json.loads(asked.stdout)["dependencies"]
    except ValueError:
        print(asked.stderr, file=sys.stderr)
        say("Nothing was checked: the service that knows of vulnerabilities gave no answer.")
        return 2
    return verdict(packages)


def verdict(packages: list[dict]) -> int:
    """The exit status, and why."""
    silent = [one["name"] for one in packages if "skip_reason" in one]
    bad = [one for one in packages if one.get("vulns")]
    for one in bad:
        for known in one["vulns"]:
            fixed = ", ".join(known["fix_versions"]) or "no release yet"
            say(f"{one['name']} {one['version']}: {known['id']}, mended in {fixed}.")
    checked = len(packages) - len(silent)
    say(f"{checked} of {len(packages)} packages checked, {len(bad)} with known vulnerabilities.")
    if silent:
        say(f"Not checked, for the service does not answer for them: {', '.join(silent[:9])}, …")
    return 1 if bad else 2 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
