"""F6. Two values are wanted. One head must average them, two heads hand over both."""

from figures.drawing import HEADS, Drawing

FIRST, SECOND = 2, 10
MEAN = (FIRST + SECOND) / 2

FACTS = {"first": FIRST, "second": SECOND, "mean": f"{MEAN:g}"}


def draw(labels, theme):
    d = Drawing(460, 330, theme, labels["alt"])
    for half, (title, heads) in enumerate([("one", [(0.5, 0.5)]), ("two", [(1, 0), (0, 1)])]):
        left = 8 + half * 232
        d.rect(left, 4, 212, 320, rx=8)
        d.text(left + 106, 28, labels[title], size=15, bold=True)
        for t, value in enumerate((FIRST, SECOND)):
            x = left + 28 + t * 92
            d.cell(x, 44, 64, 34, value, theme["empty"], theme["ink"], size=16, stroke=theme["ink"])
            d.text(x + 32, 94, labels["token"].format(t=t), size=12, fill=theme["soft"])
        for i, weights in enumerate(heads):
            x = left + 74 if len(heads) == 1 else left + 28 + i * 92
            fill, ink = HEADS[i]
            for t, w in enumerate(weights):
                if w:
                    from_x = left + 60 + t * 92
                    d.line(from_x, 100, x + 32, 178, stroke=theme["ink"], width=1 + 2 * w, arrow=True)
                    middle = (from_x + x + 32) / 2
                    d.text(middle + (-16 if t == 0 else 16), 146, f"{w:g}", size=13)
            d.cell(x, 180, 64, 34, labels["head"].format(i=i), fill, ink, size=13)
            result = sum(w * v for w, v in zip(weights, (FIRST, SECOND), strict=True))
            d.line(x + 32, 214, x + 32, 236, stroke=theme["ink"], width=1.5, arrow=True)
            d.cell(x, 238, 64, 34, f"{result:g}", theme["empty"], theme["ink"], size=16, stroke=theme["ink"])
        d.text(left + 106, 302, labels[title + "_note"], size=13, fill=theme["bad" if half == 0 else "good"])
    return d.svg()
