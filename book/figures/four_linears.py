"""F1. Four linears whatever h is: only the cut lines move."""

from figures.drawing import Drawing

D_MODEL = 512
NAMES = ("W_Q", "W_K", "W_V", "W_O")


def parameters(d_model):
    """Four weights of d_model × d_model and four biases of d_model. No h in it."""
    return 4 * (d_model * d_model + d_model)


FACTS = {"n": f"{parameters(D_MODEL):,}"}


def draw(labels, theme):
    side, gap, left = 96, 14, 20
    d = Drawing(460, 456, theme, labels["alt"])
    for row, h in enumerate((1, 2, 8)):
        y = 24 + 148 * row
        d.text(left, y, labels["heads"].format(h=h), size=15, anchor="start", bold=True)
        d.text(440, y, labels["parameters"].format(n=f"{parameters(D_MODEL):,}"), size=14, anchor="end")
        for k, name in enumerate(NAMES):
            x, top = left + k * (side + gap), y + 10
            d.rect(x, top, side, side, fill=theme["empty"], stroke=theme["ink"], width=1.5)
            for i in range(1, h):
                at = side * i / h
                if name == "W_O":  # the paper's W^O: a block of rows for each head
                    d.line(x, top + at, x + side, top + at, stroke=theme["ink"], dash="4 3")
                else:  # the paper's W^Q: a block of columns for each head
                    d.line(x + at, top, x + at, top + side, stroke=theme["ink"], dash="4 3")
            d.text(x + side / 2, top + side + 16, name, size=13)
    return d.svg()
