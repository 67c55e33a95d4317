"""F5. W_O cut into blocks of rows, one for each head; the output is the sum of the parts."""

from figures.drawing import HEADS, Drawing

H, D_K = 4, 2
D_MODEL = H * D_K
CONCAT = [1, 2, -1, 3, 0, 2, -2, 1]
W_O = [[(3 * r + 5 * c) % 7 - 3 for c in range(D_MODEL)] for r in range(D_MODEL)]
BIAS = [c % 3 for c in range(D_MODEL)]


def part(i):
    """What head i adds to the output: its D_K numbers times its D_K rows of W_O."""
    rows = range(i * D_K, (i + 1) * D_K)
    return [sum(CONCAT[r] * W_O[r][c] for r in rows) for c in range(D_MODEL)]


OUTPUT = [BIAS[c] + sum(part(i)[c] for i in range(H)) for c in range(D_MODEL)]

FACTS = {"output": ", ".join(map(str, OUTPUT))}


def draw(labels, theme):
    cell, left = 38, 130
    d = Drawing(460, 470, theme, labels["alt"])
    d.text(16, 18, labels["blocks"], size=14, anchor="start")
    for r in range(D_MODEL):
        y = 28 + r * 24
        fill, ink = HEADS[r // D_K]
        if r % D_K == 0:
            d.text(74, y + 29, labels["head"].format(i=r // D_K), size=13, anchor="end")
        d.cell(84, y, 34, 24, CONCAT[r], fill, ink, size=13)
        for c in range(D_MODEL):
            d.cell(left + c * cell, y, cell, 24, W_O[r][c], fill, ink, size=13)
    top = 28 + D_MODEL * 24 + 34
    d.text(16, top - 10, labels["sum"], size=14, anchor="start")
    for i in range(H):
        row(d, theme, labels["head"].format(i=i), part(i), top + i * 30, *HEADS[i])
    row(d, theme, labels["bias"], BIAS, top + H * 30, theme["empty"], theme["ink"])
    row(d, theme, labels["output"], OUTPUT, top + H * 30 + 42, theme["empty"], theme["ink"], bold=2.0)
    d.line(left, top + H * 30 + 33, left + 8 * cell, top + H * 30 + 33, stroke=theme["ink"], width=2)
    return d.svg()


def row(d, theme, name, numbers, y, fill, ink, bold=1.0):
    d.text(118, y + 17, name, size=13, anchor="end", bold=bold > 1)
    for c, n in enumerate(numbers):
        d.cell(130 + c * 38, y, 38, 25, n, fill, ink, size=13, width=bold)
