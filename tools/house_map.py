"""Draw docs/_static/house.svg, the map of the house, from the imports: python -m tools.house_map.

A box is a module or a package of ``src/ulmus``, one level above the highest that it imports. A line
is an import; those that others imply are left out.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "ulmus"
FIGURE = ROOT / "docs" / "_static" / "house.svg"
WIDTH, ROW, BOX = 940, 74, 30
# What is typed or told, and needed everywhere: its imports would hide all others.
GROUND = ("arguments", "backends", "docstrings", "exceptions", "files", "machine", "progress")
GROUND += ("summary", "typing", "version")


def imports():
    """The parts that each part imports, without those that everything stands on."""
    found = {}
    for path in sorted(SRC.rglob("*.py")):
        part = path.relative_to(SRC).with_suffix("").parts[0]
        if part in (*GROUND, "__init__", "__main__"):
            continue
        others = found.setdefault(part, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ulmus."):
                others.add(node.module.split(".")[1])
    return {part: {o for o in others if o in found and o != part} for part, others in found.items()}


def levels(graph):
    """How many imports lie below each part on the longest way down."""
    known = {}

    def level(part):
        if part not in known:
            known[part] = 1 + max((level(other) for other in graph[part]), default=-1)
        return known[part]

    return {part: level(part) for part in graph}


def reduced(graph):
    """Imports that no chain of others implies."""
    below = {}

    def all_below(part):
        if part not in below:
            below[part] = set().union(*({o} | all_below(o) for o in graph[part]), set())
        return below[part]

    return {
        part: {o for o in others if not any(o in all_below(p) for p in others - {o})}
        for part, others in graph.items()
    }


def svg():
    """The figure as text."""
    graph = imports()
    level = levels(graph)
    lines_down = reduced(graph)
    top = max(level.values())
    place = {}

    def middle(part):
        """Where the parts that import it are, on average; and its name."""
        above = [place[p][0] for p in place if part in lines_down[p]]
        return (sum(above) / len(above) if above else WIDTH / 2, part)

    for k in range(top, -1, -1):
        row = sorted((p for p in graph if level[p] == k), key=middle)
        for i, part in enumerate(row):
            place[part] = (WIDTH * (i + 0.5) / len(row), 24 + ROW * (top - k))
    height = 24 + ROW * (top + 1) + 40
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="14">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for part, others in lines_down.items():
        for other in sorted(others):
            (x, y), (u, v) = place[part], place[other]
            curve = (
                f"M{x:.0f} {y + BOX:.0f} C{x:.0f} {y + 55:.0f} {u:.0f} {v - 25:.0f} {u:.0f} {v:.0f}"
            )
            lines.append(f'<path d="{curve}" fill="none" stroke="#9aa5b1"/>')
    for part, (x, y) in place.items():
        wide = 16 + 8.4 * len(part)
        fill = "#dcebe1" if (SRC / part).is_dir() else "#f2f4f6"
        lines.append(
            f'<rect x="{x - wide / 2:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{BOX}" rx="5" '
            f'fill="{fill}" stroke="#2f7d4f"/>'
            f'<text x="{x:.0f}" y="{y + 20:.0f}" text-anchor="middle">{part}</text>'
        )
    ground = f"Below all: {', '.join(GROUND)}"
    lines.append(f'<text x="20" y="{height - 18}" fill="#555">{ground}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    FIGURE.write_text(svg(), encoding="utf-8")
