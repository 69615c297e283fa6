"""A plot of a chapter's program split into parts, each a drawing that fits a screen.

`--plot` draws all charts one below the other. Each part is one chart: the times with the summary at the top, the
requests, or the roofline. A chart that is too high is split between two variants.
"""

import re

MAX_HEIGHT = 700  # of a part, where the plot is 408 wide
NAMES = ["times", "requests", "roofline"]
OPENING = re.compile(
    r'<svg class="plot".*?aria-labelledby="(?P<id>[\w-]+)-title.*?width="(?P<width>\d+)".*?>\n'
    r"<title[^>]*>(?P<title>[^<]*)</title>\n<desc[^>]*>(?P<desc>[^<]*)</desc>\n<rect[^>]*/>\n",
    re.DOTALL,
)
ELEMENT = re.compile(r"<text.*?</text>\n|<\w+[^>]*/>\n", re.DOTALL)
POSITION = re.compile(r' (?:y|cy|points)="(?:[\d.]+,)?([\d.]+)')
HEADING = re.compile(r'<text x="10"[^>]*font-size="15[^>]*>\s*([^<]*?)\s*</text>')
# The first text of a variant's bars: its name, or before it the name of its launch.
VARIANT = re.compile(r'<text x="10"[^>]*fill="#212121"')
FAINT = re.compile(r'<text x="10"[^>]*fill="#5F5F5F"')
ABOVE, BELOW = 14, 12


def split(svg):
    """Yields the name and the SVG text of each part."""
    opening = OPENING.match(svg)
    elements = [element for element in ELEMENT.findall(svg[opening.end() :])]
    charts = [n for n, element in enumerate(elements) if HEADING.match(element)]
    description = opening["desc"].split("\n")
    for number, first in enumerate(charts):
        last = charts[number + 1] if number + 1 < len(charts) else len(elements)
        heading = HEADING.match(elements[first])[1]
        pieces = cut(elements[first:last])
        for piece, part in enumerate(pieces, 1):
            inside = elements[:first] + part if not number and piece == 1 else part
            name = NAMES[number] + (f"-{piece}" if len(pieces) > 1 else "")
            described = [description[:2], description[2:]][number] if number < 2 else texts(part)
            colon = ": " if heading.isascii() else "："
            title = opening["title"] + colon + heading + (f" {piece}/{len(pieces)}" if len(pieces) > 1 else "")
            yield name, drawing(opening, name, title, "\n".join(described), inside)


def cut(chart):
    """Splits a chart into pieces of at most MAX_HEIGHT and similar size, each beginning with a variant."""
    top, bottom = position(chart[0]), max(map(position, chart))
    if bottom - top + ABOVE + BELOW <= MAX_HEIGHT:
        return [chart]
    starts = [n for n, element in enumerate(chart) if VARIANT.match(element) and n]
    # The name of the launch directly precedes the name of its first variant.
    starts = [n - 1 if FAINT.match(chart[n - 1]) else n for n in starts]
    for count in range(2, len(starts) + 2):
        targets = [top + (bottom - top) * part / count for part in range(1, count)]
        cuts = sorted({min(starts, key=lambda n: abs(position(chart[n]) - target)) for target in targets})
        pieces = [chart[a:b] for a, b in zip([0, *cuts], [*cuts, len(chart)])]
        if all(position(piece[-1]) - position(piece[0]) + ABOVE + BELOW <= MAX_HEIGHT for piece in pieces):
            break
    return pieces


def position(element):
    """Returns the vertical position of an element."""
    return float(POSITION.search(element)[1])


def texts(elements):
    """Returns the texts of a part, in order, without numbers."""
    matches = [re.search(r">\s*([^<]*?)\s*<", element) for element in elements if element.startswith("<text")]
    return [text[1] for text in matches if not re.fullmatch(r"[\d.]+ ?\w?", text[1])]


def drawing(opening, name, title, described, elements):
    top = 0 if '"18' in elements[0] else int(min(map(position, elements)) - ABOVE)
    height = int(max(map(position, elements)) + BELOW) - top
    id, width = f"{opening['id']}-{name}", opening["width"]
    return (
        f'<svg class="plot" role="img" aria-labelledby="{id}-title {id}-desc" width="{width}" '
        f'height="{height}" viewBox="0 {top} {width} {height}" xmlns="http://www.w3.org/2000/svg">\n'
        f'<title id="{id}-title">{title}</title>\n<desc id="{id}-desc">{described}</desc>\n'
        f'<rect y="{top}" width="{width}" height="{height}" fill="#FFFFFF"/>\n{"".join(elements)}</svg>\n'
    )
