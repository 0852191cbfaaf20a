"""``ulmus data``: which data sets there are, and the files of those that need one."""

from dataclasses import asdict

from ulmus.cli.printing import note, print_json, say, table
from ulmus.datasets import DATASETS, catalogue, fetch
from ulmus.datasets.registry import lookup
from ulmus.exceptions import DatasetError

__all__ = ["fetch_files", "list_datasets"]

_HEADINGS = ("name", "rows", "columns", "classes", "source", "licence")


def list_datasets(options):
    """Print every data set and where it would come from now."""
    entries = catalogue()
    if options.json:
        print_json([asdict(entry) for entry in entries])
        return 0
    rows = [
        (e.name, e.rows, e.columns, e.classes or "numbers", e.source, e.licence) for e in entries
    ]
    for line in table(_HEADINGS, rows, right=(1, 2, 3)):
        say(line)
    return 0


def fetch_files(options):
    """Put files into the cache and print where each is; one that fails does not stop the others."""
    for name in options.names:
        lookup(name, DATASETS)  # a misspelt name is heard of before anything is fetched
    paths = {}
    for name in options.names:
        try:
            paths[name] = fetch(name, cache_dir=options.cache)
        except DatasetError as error:
            note(f"ulmus: {error}")
    if options.json:
        print_json({name: None if path is None else str(path) for name, path in paths.items()})
    for name, path in paths.items() if not options.json else ():
        if path is None:
            note(f"{name} needs no file: it is bundled or generated.", options.quiet)
        else:
            say(path)
    return 1 if len(paths) < len(set(options.names)) else 0
