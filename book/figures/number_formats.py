"""How the bits of a number are spent, and how far it reaches."""

from figures.drawing import HEADS, Drawing

FORMATS = [("float32", 8, 23), ("TF32", 8, 10), ("bfloat16", 8, 7), ("float16", 5, 10)]


def largest(exponent, fraction):
    """The largest finite number of a format with these bits."""
    return (2 - 2.0**-fraction) * 2.0 ** (2 ** (exponent - 1) - 1)


def step(fraction):
    """The distance from 1 to the next number."""
    return 2.0**-fraction


FACTS = {
    "half": f"{largest(5, 10):,.0f}",
    "single": f"{largest(8, 23):.1e}",
    "brain": f"{largest(8, 7):.1e}",
}


def draw(labels, theme):
    d = Drawing(460, 372, theme, labels["alt"])
    for k, (name, exponent, fraction) in enumerate(FORMATS):
        y = 22 + k * 88
        d.text(10, y, name, size=15, anchor="start", bold=True)
        top = largest(exponent, fraction)
        reach = f"{top:,.0f}" if top < 1e6 else f"{top:.1e}"
        d.text(450, y, labels["reach"].format(largest=reach, step=f"{step(fraction):.0e}"), size=13, anchor="end")
        x = 10
        for count, (fill, ink), mark in ((1, HEADS[3], "±"), (exponent, HEADS[1], "e"), (fraction, HEADS[4], "f")):
            for _ in range(count):
                d.cell(x, y + 8, 13, 26, mark, fill, ink, size=10)
                x += 13
        words = labels["bits"].format(exponent=exponent, fraction=fraction)
        d.text(10, y + 52, words, size=13, anchor="start", fill=theme["soft"])
    return d.svg()
