"""F7. Attention maps of two heads beside their average; also draws the maps a page has measured."""

from html import escape

from figures.drawing import Drawing

T = 8
COPY = [[float(q == k) for k in range(T)] for q in range(T)]
REVERSE = [[float(q + k == T - 1) for k in range(T)] for q in range(T)]
AVERAGE = [[(a + b) / 2 for a, b in zip(*rows, strict=True)] for rows in zip(COPY, REVERSE, strict=True)]

FACTS = {"one": f"{COPY[0][0]:g}", "half": f"{AVERAGE[0][0]:g}"}


def draw(labels, theme):
    d = Drawing(464, 196, theme, labels["alt"])
    for k, (name, weights) in enumerate([("copy", COPY), ("reverse", REVERSE), ("average", AVERAGE)]):
        x = 8 + k * 154
        d.text(x + 68, 18, labels[name], size=14, bold=True)
        for q, row in enumerate(weights):
            for c, w in enumerate(row):
                d.rect(x + c * 17, 28 + q * 17, 17, 17, fill=theme["empty"])
                if w:
                    d.parts.append(
                        f'<rect x="{x + c * 17:g}" y="{28 + q * 17:g}" width="17" height="17" '
                        f'fill="{theme["map"]}" fill-opacity="{w:g}"/>'
                    )
    d.text(232, 186, labels["axes"], size=13, fill=theme["soft"])
    return d.svg()


def inline(maps, alt):
    """The SVG of measured maps, [(title, rows of weights)], in the colours of the page's theme."""
    cell, size = 17, len(maps[0][1]) * 17
    parts = []
    for k, (title, rows) in enumerate(maps):
        x = 4 + k * (size + 18)
        parts.append(f'<text x="{x + size / 2:g}" y="16" class="figure-label">{escape(title)}</text>')
        for q, row in enumerate(rows):
            for c, w in enumerate(row):
                parts.append(
                    f'<rect x="{x + c * cell:g}" y="{26 + q * cell:g}" width="{cell}" height="{cell}" '
                    f'class="map-cell" fill-opacity="{w:.2f}"><title>{w:.2f}</title></rect>'
                )
    width = 8 + len(maps) * (size + 18) - 18
    return (
        f'<svg class="figure-svg map" viewBox="0 0 {width} {30 + size}" style="max-width:{width}px" '
        f'role="img" aria-label="{escape(alt)}">{"".join(parts)}</svg>'
    )
