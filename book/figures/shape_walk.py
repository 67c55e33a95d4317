"""The shapes of one call, from input to output."""

from figures.drawing import Drawing

B, T, D_MODEL, H = 2, 10, 512, 8
D_K = D_MODEL // H

STEPS = [
    ("input", (B, T, D_MODEL)),
    ("projected", (B, T, D_MODEL)),
    ("heads", (B, H, T, D_K)),
    ("scores", (B, H, T, T)),
    ("context", (B, H, T, D_K)),
    ("output", (B, T, D_MODEL)),
]


def draw(labels, theme):
    d = Drawing(440, 72 * len(STEPS) + 20, theme, labels["alt"])
    for k, (name, shape) in enumerate(STEPS):
        y = 6 + 72 * k
        d.rect(20, y, 400, 50, fill=theme["empty"], rx=6)
        d.text(220, y + 20, labels[name], size=14)
        d.text(220, y + 40, str(shape), size=15, mono=True, bold=True)
        if k + 1 < len(STEPS):
            d.line(220, y + 50, 220, y + 71, stroke=theme["ink"], width=1.5, arrow=True)
    d.text(220, 72 * len(STEPS) + 10, labels["same"], size=14, fill=theme["good"], bold=True)
    return d.svg()
