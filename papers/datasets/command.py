"""What `ulmus data` does: list the data sets, and fetch their files."""

import argparse
from dataclasses import asdict

from papers.datasets.facts import lookup
from papers.datasets.loading import catalogue, fetch
from papers.errors import DatasetError
from ulmus.cli.printing import note, print_json, say, table

# Where a file comes from that is not on this machine.
_ELSEWHERE = {
    "network": "`ulmus data fetch NAME` gets the file.",
    "absent": "put NAME.npz into a folder, and name the folder in ULMUS_DATA; docs/papers/data.md "
    "says where each comes from.",
}


def list_datasets(options: argparse.Namespace) -> int:
    """Print every data set and where it would come from now."""
    entries = [asdict(entry) for entry in catalogue()]
    if options.json:
        print_json(entries)
        return 0
    rows = [tuple({**e, "classes": e["classes"] or "numbers"}.values()) for e in entries]
    for line in table(tuple(entries[0]), rows):
        say(line)
    sources = {entry["source"] for entry in entries}
    for source, words in _ELSEWHERE.items():
        if source in sources:
            note(f"{source}: {words}", options.quiet)
    return 0


def fetch_files(options: argparse.Namespace) -> int:
    """Put files into the cache and print where each is; one that fails does not stop the others."""
    for name in options.names:
        lookup(name)  # a misspelt name is reported before anything is fetched
    paths = {}
    for name in options.names:
        try:
            paths[name] = fetch(name)
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
