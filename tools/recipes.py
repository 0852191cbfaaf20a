"""Run the recipes of docs/guide/recipes.md that need other packages: ``make recipes``.

The page's blocks of Python are run section by section, after the examples at its top. A section
fails where a block raises, and the exit status is the number of sections that failed.
"""

import doctest
import re
import sys
import traceback
import warnings
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "recipes.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def sections(text):
    """Titles, and the code below each as a reader would type it; a section needs the page's top."""
    top, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    start = "".join(doctest.script_from_examples(block) for block in BLOCK.findall(top))
    for section in rest:
        title, _, body = section.partition("\n")
        blocks = BLOCK.findall(body)
        if any(not block.startswith(">>>") for block in blocks):
            yield title, start + "\n".join(blocks)


def main():
    """Run all of them; the number that failed."""
    failed = 0
    for title, code in sections(PAGE.read_text(encoding="utf-8")):
        outcome = "works"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the packages' own
                exec(compile(code, title, "exec"), {})
        except Exception:
            failed, outcome = failed + 1, "failed"
            traceback.print_exc()
        sys.stdout.write(f"{title}: {outcome}\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
