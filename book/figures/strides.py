"""F3. One strip of storage under three tensors, and whether the last two axes can become one."""

from itertools import product
from operator import mul

from figures.drawing import HEADS, Drawing

# (name, axes, sizes, strides, what lies in storage): B = 1, h = 2, T = 3, d_k = 2
STATES = [
    ("heads", "(B, h, T, d_k)", (1, 2, 3, 2), (12, 6, 2, 1), list(range(12))),
    ("transposed", "(B, T, h, d_k)", (1, 3, 2, 2), (12, 2, 6, 1), list(range(12))),
    ("copied", "(B, T, h, d_k)", (1, 3, 2, 2), (12, 4, 2, 1), [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]),
]


def can_join(sizes, strides, axis):
    """True if `axis` and the next one can become one axis without a copy."""
    return strides[axis] == sizes[axis + 1] * strides[axis + 1]


def draw(labels, theme):
    d = Drawing(460, 432, theme, labels["alt"])
    for row, (name, axes, sizes, strides, storage) in enumerate(STATES):
        y = 20 + row * 144
        d.text(14, y, labels[f"state_{name}"], size=14, anchor="start", bold=True)
        facts = labels["facts"].format(axes=axes, shape=sizes, strides=strides)
        d.text(14, y + 20, facts, size=13, anchor="start", fill=theme["soft"])
        for at, n in enumerate(storage):
            fill, ink = HEADS[0 if n < 6 else 1]
            d.cell(14 + at * 36, y + 30, 36, 32, n, fill, ink, size=14)
        if name == "heads":
            d.text(14, y + 84, labels["lamp_heads"], size=13, anchor="start", fill=theme["soft"])
        else:
            on = can_join(sizes, strides, 2)
            mark = ("● " if on else "○ ") + labels["lamp_on" if on else "lamp_off"]
            d.text(14, y + 84, mark, size=13, anchor="start", bold=True, fill=theme["good" if on else "bad"])
        order = [sum(map(mul, at, strides)) for at in product(*map(range, sizes))]
        read = labels["read"].format(numbers=" ".join(str(storage[o]) for o in order))
        d.text(14, y + 104, read, size=13, anchor="start", fill=theme["soft"])
    return d.svg()
