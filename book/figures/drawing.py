"""A few words for drawing SVG by hand, and the colours of the two themes.

Drawings are at most 480 wide, so that their letters stay readable on a phone.
"""

from html import escape

# Okabe and Ito's colours, told apart by colour-blind readers too. Every coloured cell also
# carries a label, so colour is never the only sign. (fill, ink) for heads 0 to 7:
HEADS = [
    ("#0072B2", "#FFFFFF"),
    ("#E69F00", "#000000"),
    ("#009E73", "#000000"),
    ("#CC79A7", "#000000"),
    ("#56B4E9", "#000000"),
    ("#D55E00", "#000000"),
    ("#F0E442", "#000000"),
    ("#7F7F7F", "#000000"),
]

THEMES = {
    "light": {
        "ink": "#1b1f24",
        "soft": "#57606a",
        "line": "#8c959f",
        "empty": "#eef1f4",
        "good": "#00664b",
        "bad": "#a33c00",
        "map": "#0072B2",
    },
    "dark": {
        "ink": "#e8eaed",
        "soft": "#b3bac2",
        "line": "#7d868f",
        "empty": "#2b3138",
        "good": "#4fd1ac",
        "bad": "#ff9d5c",
        "map": "#56B4E9",
    },
}


class Drawing:
    """An SVG under construction. Coordinates are pixels at full size."""

    def __init__(self, width, height, theme, alt):
        self.width, self.height, self.theme, self.alt = width, height, theme, alt
        self.parts = []

    def rect(self, x, y, w, h, fill="none", stroke=None, width=1.0, dash=None, rx=0):
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{rx:g}" fill="{fill}" '
            f'stroke="{stroke or self.theme["line"]}" stroke-width="{width:g}"{dash}/>'
        )

    def line(self, x1, y1, x2, y2, stroke=None, width=1.0, dash=None, arrow=False):
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        stroke = stroke or self.theme["line"]
        end = ' marker-end="url(#arrow)"' if arrow else ""
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}" '
            f'stroke-width="{width:g}"{dash}{end}/>'
        )

    def text(self, x, y, words, size=14, anchor="middle", fill=None, bold=False, mono=False):
        weight = ' font-weight="700"' if bold else ""
        family = ' font-family="ui-monospace, Menlo, Consolas, monospace"' if mono else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}" '
            f'fill="{fill or self.theme["ink"]}"{weight}{family}>{escape(str(words))}</text>'
        )

    def cell(self, x, y, w, h, words, fill, ink, size=12, stroke=None, width=1.0):
        """A filled cell with its label in the middle."""
        self.rect(x, y, w, h, fill=fill, stroke=stroke, width=width)
        self.text(x + w / 2, y + h / 2 + size * 0.36, words, size=size, fill=ink)

    def hatch(self, x, y, w, h, stroke):
        """Slanted lines: a cell that is repeated, or closed."""
        step = 6
        for k in range(-int(h // step), int(w // step) + 1):
            x1, x2 = x + k * step, x + k * step + h
            y1, y2 = y + h, y
            if x1 < x:
                y1, x1 = y1 - (x - x1), x
            if x2 > x + w:
                y2, x2 = y2 + (x2 - x - w), x + w
            if x1 < x2:
                self.line(x1, y1, x2, y2, stroke=stroke)

    def svg(self):
        ink = self.theme["ink"]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" '
            'font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif" role="img">'
            f"<title>{escape(self.alt)}</title>"
            '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="{ink}"/></marker></defs>'
            + "".join(self.parts)
            + "</svg>\n"
        )
