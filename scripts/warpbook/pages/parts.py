"""A plot of a chapter's program in parts, each a drawing of its own that fits a screen.

`--plot` draws all charts one below the other. A part is a chart: its times, with what is said at the
top, its requests, its roofline. A chart that is too high is cut between two variants.
"""

import re

HIGHEST = 700  # of a part, where the whole is 408 wide
NAMES = ["times", "requests", "roofline"]
OPENING = re.compile(
    r'<svg class="plot".*?aria-labelledby="(?P<id>[\w-]+)-title.*?width="(?P<width>\d+)".*?>\n'
    r"<title[^>]*>(?P<title>[^<]*)</title>\n<desc[^>]*>(?P<desc>[^<]*)</desc>\n<rect[^>]*/>\n",
    re.DOTALL,
)
ELEMENT = re.compile(r"<text.*?</text>\n|<\w+[^>]*/>\n", re.DOTALL)
PLACE = re.compile(r' (?:y|cy|points)="(?:[\d.]+,)?([\d.]+)')
HEADING = re.compile(r'<text x="10"[^>]*font-size="15[^>]*>\s*([^<]*?)\s*</text>')
# What a variant's bars begin with: its name, or before it that of its launch.
VARIANT = re.compile(r'<text x="10"[^>]*fill="#212121"')
FAINT = re.compile(r'<text x="10"[^>]*fill="#5F5F5F"')
ABOVE, BELOW = 14, 12


def split(svg):
    """The name and the text of each part."""
    opening = OPENING.match(svg)
    elements = [element for element in ELEMENT.findall(svg[opening.end() :])]
    charts = [n for n, element in enumerate(elements) if HEADING.match(element)]
    said = opening["desc"].split("\n")
    for number, first in enumerate(charts):
        last = charts[number + 1] if number + 1 < len(charts) else len(elements)
        heading = HEADING.match(elements[first])[1]
        pieces = cut(elements[first:last])
        for piece, part in enumerate(pieces, 1):
            inside = elements[:first] + part if not number and piece == 1 else part
            name = NAMES[number] + (f"-{piece}" if len(pieces) > 1 else "")
            described = [said[:2], said[2:]][number] if number < 2 else texts(part)
            colon = ": " if heading.isascii() else "："
            title = opening["title"] + colon + heading + (f" {piece}/{len(pieces)}" if len(pieces) > 1 else "")
            yield name, drawing(opening, name, title, "\n".join(described), inside)


def cut(chart):
    """A chart in pieces of HIGHEST at most, as alike as may be, each beginning with a variant."""
    top, bottom = place(chart[0]), max(map(place, chart))
    if bottom - top + ABOVE + BELOW <= HIGHEST:
        return [chart]
    starts = [n for n, element in enumerate(chart) if VARIANT.match(element) and n]
    # The name of the launch stands right before that of its first variant.
    starts = [n - 1 if FAINT.match(chart[n - 1]) else n for n in starts]
    for count in range(2, len(starts) + 2):
        wanted = [top + (bottom - top) * part / count for part in range(1, count)]
        cuts = sorted({min(starts, key=lambda n: abs(place(chart[n]) - want)) for want in wanted})
        pieces = [chart[a:b] for a, b in zip([0, *cuts], [*cuts, len(chart)])]
        if all(place(piece[-1]) - place(piece[0]) + ABOVE + BELOW <= HIGHEST for piece in pieces):
            break
    return pieces


def place(element):
    """How far down an element begins."""
    return float(PLACE.search(element)[1])


def texts(elements):
    """What stands in a part, in its order."""
    found = [re.search(r">\s*([^<]*?)\s*<", element) for element in elements if element.startswith("<text")]
    return [text[1] for text in found if not re.fullmatch(r"[\d.]+ ?\w?", text[1])]


def drawing(opening, name, title, described, elements):
    top = 0 if '"18' in elements[0] else int(min(map(place, elements)) - ABOVE)
    height = int(max(map(place, elements)) + BELOW) - top
    named, width = f"{opening['id']}-{name}", opening["width"]
    return (
        f'<svg class="plot" role="img" aria-labelledby="{named}-title {named}-desc" width="{width}" '
        f'height="{height}" viewBox="0 {top} {width} {height}" xmlns="http://www.w3.org/2000/svg">\n'
        f'<title id="{named}-title">{title}</title>\n<desc id="{named}-desc">{described}</desc>\n'
        f'<rect y="{top}" width="{width}" height="{height}" fill="#FFFFFF"/>\n{"".join(elements)}</svg>\n'
    )
