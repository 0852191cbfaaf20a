"""``ulmus data``: which data sets there are, and the files of those that need one."""

import json
import sys
from dataclasses import asdict

from ulmus.datasets import DATASETS, catalogue, fetch
from ulmus.datasets.registry import lookup
from ulmus.exceptions import DatasetError

__all__ = ["fetch_files", "list_datasets"]

_HEADINGS = ("name", "rows", "columns", "classes", "source", "licence")


def list_datasets(as_json):
    """Print every data set and where it would come from now."""
    entries = catalogue()
    if as_json:
        print(json.dumps([asdict(entry) for entry in entries], indent=2))
        return 0
    rows = [_HEADINGS]
    for entry in entries:
        classes = str(entry.classes) if entry.classes else "numbers"
        rows.append(
            (entry.name, str(entry.rows), str(entry.columns), classes, entry.source, entry.licence)
        )
    widths = [max(len(row[k]) for row in rows) for k in range(len(_HEADINGS))]
    for row in rows:
        cells = [
            text.rjust(width) if k in (1, 2, 3) else text.ljust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
    return 0


def fetch_files(names, cache):
    """Put files into the cache and print where each is; one that fails does not stop the others."""
    for name in names:
        lookup(name, DATASETS)  # a misspelt name is heard of before anything is fetched
    failures = 0
    for name in names:
        try:
            path = fetch(name, cache_dir=cache)
        except DatasetError as error:
            failures += 1
            print(f"ulmus: {error}", file=sys.stderr)
            continue
        if path is None:
            print(f"{name} needs no file: it is bundled or generated.", file=sys.stderr)
        else:
            print(path)
    return 1 if failures else 0
