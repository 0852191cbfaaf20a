"""The process that runs the cases of one part: ``python -m attack.child PART SEED NUMBERS``.

NUMBERS is a range, first:last:step. Every case gives one line of JSON, so whoever started this
process knows which case it was at when it died.
"""

import gc
import json
import resource
import sys
from dataclasses import asdict
from importlib import import_module

# Bytes of data a case may hold where its part says nothing else.
_MEMORY = 4 * 2**30


def main(part: str, seed: str, numbers: str) -> None:
    """Run the cases and print what became of each."""
    module = import_module(f"attack.{part}")
    memory = getattr(module, "MEMORY", _MEMORY)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    # The modules stay to the end, so that no collection need look through them.
    gc.freeze()
    # Whatever a case prints must not be taken for a result.
    report, sys.stdout = sys.stdout, sys.stderr
    for number in range(*map(int, numbers.split(":"))):
        print(json.dumps(asdict(module.attack(int(seed), number))), file=report, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
