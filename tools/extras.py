"""Install each optional extra alone in an empty environment and use it; without it, ask for it.

With names as arguments only those are tried.
"""

import sys

from tools.environments import DIST, ROOT, empty, pins, project, say

# For who works on Ulmus: these are installed by make, and tested by what make then does.
OURS = {"recipes", "bench", "check", "docs", "mutants", "papers", "peers", "release", "test"}


def main(wanted: list[str]) -> None:
    """Every extra that users may ask for."""
    wheels = sorted(DIST.glob("*.whl"))
    if not wheels:
        sys.exit("There is no wheel in dist; run `make dist` first.")
    extras = sorted(set(project()["optional-dependencies"]) - OURS)
    if unknown := set(wanted) - set(extras):
        sys.exit(f"There is no extra {', '.join(sorted(unknown))}; there are {', '.join(extras)}.")
    script = str(ROOT / "tests" / "release" / "extras.py")
    with empty() as bare:
        bare.install(str(wheels[0]))
        for extra in wanted or extras:
            bare.run(script, extra, "absent")
        say("Without them, each asks for itself by its own name.")
    for extra in wanted or extras:
        with empty() as environment:
            environment.install(f"{wheels[0]}[{extra}]", constraints=pins())
            environment.run(script, extra, "present", SCIPY_ARRAY_API="1")
        say(f"ulmus[{extra}] works alone.")


if __name__ == "__main__":
    main(sys.argv[1:])
