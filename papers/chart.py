"""A line chart as SVG inside a page: colours come from the page's style sheet."""

from dataclasses import dataclass
from html import escape
from itertools import groupby

from papers.axes import Scale, span, to_steps
from papers.wording import exact, has, spread

WIDTH, HEIGHT = 440, 270  # of the frame with its labels; the legend goes above
LEFT, RIGHT, TOP, BOTTOM = 52, 430, 10, 222
INSET = 12  # between the frame and the first and last point
LETTER, LINE = 7.2, 18  # of a letter the width, of a line of the legend the height

COLOURS = 8
# Both tell lines apart without colour; five and eight give forty pairs before one comes again.
DASHES = ("", "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2")
MARKERS = (
    "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z",  # circle
    "M-3-3h6v6h-6z",  # square
    "M0-4l4 7h-8z",  # triangle
    "M0-4.4l4.4 4.4l-4.4 4.4l-4.4-4.4z",  # diamond
    "M0 4l4-7h-8z",  # triangle, point down
    "M-1.2-4h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z",  # plus
    "M-4-3.4h8l-4 3.4l4 3.4h-8l4-3.4z",  # hourglass
    "M0-4.4l1.2 3.2h3.2l-2.6 2l1 3.2l-2.8-2l-2.8 2l1-3.2l-2.6-2h3.2z",  # star
)


@dataclass(frozen=True)
class Series:
    """A line: points as (x, y, deviation); y may be missing and leaves a gap, deviation may too."""

    name: str
    points: tuple[tuple[float, float | None, float | None], ...]
    proposed: bool = False


def chart(
    name: str,
    series: list[Series],
    *,
    title: str,
    description: str = "",
    x_title: str = "",
    y_title: str = "",
    scale: str = "linear",
    digits: int = 2,
) -> str:
    """Lines with bands of ± one deviation, a legend and axes, as one ``<svg>`` element.

    ``name`` starts the ids inside; no two charts of a page may share it. A point alone between gaps
    has a bar for its deviation. ``title`` and ``description`` are for those who hear the page.
    ``scale`` is "linear" or "log", of x; a logarithmic axis has no place for x ≤ 0 and says what it
    leaves out. ``digits`` are those of y where a point is pointed at. Lines have the classes
    ``series`` and ``series-0`` to ``series-7``.
    """
    log = scale == "log"
    left_out = sorted({x for line in series for x, _, _ in line.points if log and x <= 0})
    if left_out:
        x_title += f" ({', '.join(map(exact, left_out))} not shown)"
    lines = [_drawable(line, log) for line in series]
    points = [point for line in lines for point in line.points if has(point[1])]
    legend, room = _legend(lines)
    body = _drawing(lines, points, log, digits) if points else [_text(241, 120, "Not run")]
    labels = [
        _text((LEFT + RIGHT) / 2, HEIGHT - 8, x_title, "axis-title"),
        f'<text class="axis-title" transform="translate(12 {(TOP + BOTTOM) / 2:g}) rotate(-90)">'
        f"{escape(y_title)}</text>",
    ]
    mark = escape(name, quote=True)
    return "\n".join([
        f'<svg class="chart" viewBox="0 {-room:g} {WIDTH} {HEIGHT + room:g}" role="img" '
        f'aria-labelledby="{mark}-title {mark}-desc">',
        f'<title id="{mark}-title">{escape(title)}</title>',
        f'<desc id="{mark}-desc">{escape(description or title)}</desc>',
        *legend, *body, *labels, "</svg>",
    ])  # fmt: skip


def _drawable(line: Series, log: bool) -> Series:
    points = sorted((p for p in line.points if not log or p[0] > 0), key=lambda point: point[0])
    return Series(line.name, tuple(points), line.proposed)


def _drawing(lines, points, log, digits):
    x = Scale(*span((p[0] for p in points), log), LEFT + INSET, RIGHT - INSET, log)
    ends = [end for _, y, d in points for end in (y - (d or 0), y + (d or 0))]
    y = Scale(*to_steps(*span(ends)), BOTTOM, TOP)
    drawn = [*_frame(x, y)]
    for place, line in enumerate(lines):
        drawn.append(_group(place, line) + f"<title>{escape(line.name)}</title>")
        for there, part in groupby(line.points, key=lambda point: has(point[1])):
            if there:
                drawn += _stretch(list(part), place, x, y)
        for point in line.points:
            if has(point[1]):
                said = f"{line.name} at {exact(point[0])}: {spread(point[1], point[2], digits)}"
                at = f"translate({x(point[0]):.1f} {y(point[1]):.1f})"
                drawn.append(
                    f'<path class="marker" transform="{at}" d="{MARKERS[place % len(MARKERS)]}">'
                    f"<title>{escape(said)}</title></path>"
                )
        drawn.append("</g>")
    return drawn


def _stretch(points, place, x, y):
    """The band and the line of points without a gap between them."""
    if len(points) == 1:
        ((at, mean, d),) = points
        return (
            [f'<path class="bar" d="M{x(at):.1f} {y(mean - d):.1f}V{y(mean + d):.1f}"/>']
            if d
            else []
        )
    path = " ".join(f"{x(at):.1f},{y(mean):.1f}" for at, mean, _ in points)
    line = f'<polyline class="line" points="{path}"{_dash(place)}/>'
    above = [f"{x(at):.1f},{y(mean + (d or 0)):.1f}" for at, mean, d in points]
    below = [f"{x(at):.1f},{y(mean - (d or 0)):.1f}" for at, mean, d in reversed(points)]
    band = f'<polygon class="band" points="{" ".join(above + below)}"/>'
    return [band, line] if any(d for _, _, d in points) else [line]


def _frame(x, y):
    drawn = ['<g class="axes">']
    for value, text in y.marks():
        drawn.append(f'<path class="grid" d="M{LEFT} {y(value):.1f}H{RIGHT}"/>')
        drawn.append(_text(LEFT - 7, y(value) + 4, text, "tick-y"))
    for value, text in x.marks():
        drawn.append(f'<path class="tick" d="M{x(value):.1f} {BOTTOM}v5"/>')
        drawn.append(_text(x(value), BOTTOM + 19, text, "tick-x"))
    return [*drawn, f'<path class="base" d="M{LEFT} {BOTTOM}H{RIGHT}"/>', "</g>"]


def _legend(lines):
    """The names with their lines, in as many rows as they need, and the height of these."""
    drawn, left, row = [], LEFT, 0
    for place, line in enumerate(lines):
        if not any(has(y) for _, y, _ in line.points):
            continue
        width = 34 + LETTER * len(line.name) + 14
        if left + width > WIDTH and left > LEFT:
            left, row = LEFT, row + 1
        drawn.append((place, line, left, row))
        left += width
    room = LINE * (row + 1) + 4 if drawn else 0
    entries = []
    for place, line, left, row in drawn:
        middle = -room + LINE * (row + 0.6)
        entries.append(
            f"{_group(place, line)}"
            f'<path class="line" d="M{left:.1f} {middle:.1f}h26"{_dash(place)}/>'
            f'<path class="marker" transform="translate({left + 13:.1f} {middle:.1f})" '
            f'd="{MARKERS[place % len(MARKERS)]}"/>'
            f"{_text(left + 32, middle + 4, line.name, 'legend')}</g>"
        )
    return ['<g class="key">', *entries, "</g>"], room


def _group(place, line):
    proposed = " proposed" if line.proposed else ""
    return f'<g class="series series-{place % COLOURS}{proposed}">'


def _dash(place):
    dash = DASHES[place % len(DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _text(x, y, text, kind="legend"):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
