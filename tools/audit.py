"""Hold the project's exact versions against the list of known vulnerabilities.

The exit status is 0 where none is known, 1 where one is, and 2 where the list could not be asked:
no answer is not a good one.
"""

import subprocess
import sys

from tools.environments import ROOT, say

# What pip-audit says when the service that it asks cannot be reached.
UNREACHABLE = ("ConnectionError", "Max retries exceeded", "timed out", "ServiceError", "ProxyError")


def main() -> int:
    """Ask, and pass on what was found."""
    command = ["pip_audit", "--requirement", str(ROOT / "constraints.txt")]
    options = ["--no-deps", "--disable-pip", "--progress-spinner", "off"]
    found = subprocess.run(
        [sys.executable, "-m", *command, *options], capture_output=True, text=True, check=False
    )
    print(found.stdout, end="")
    if found.returncode and any(word in found.stderr for word in UNREACHABLE):
        say("The service that knows of vulnerabilities could not be reached: nothing was checked.")
        return 2
    print(found.stderr, end="", file=sys.stderr)
    return found.returncode


if __name__ == "__main__":
    sys.exit(main())
