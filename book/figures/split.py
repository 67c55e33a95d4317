"""F2. The right and the wrong split: one token's numbers coloured by head."""

from figures.drawing import HEADS, Drawing

T, H, D_K = 3, 4, 4
D_MODEL = H * D_K
TOKEN = 1


def right(head, row, col):
    """The number at (head, row, col) after view(1, T, H, D_K).transpose(1, 2) of 0, 1, 2, ..."""
    return row * D_MODEL + head * D_K + col


def wrong(head, row, col):
    """The number at (head, row, col) after view(1, H, T, D_K): storage order, cut anew."""
    return (head * T + row) * D_K + col


def draw(labels, theme):
    cell = 26
    d = Drawing(480, 506, theme, labels["alt"])
    d.text(240, 18, labels["input"], size=14)
    for t in range(T):
        y = 28 + t * cell
        d.text(56, y + 18, labels["token"].format(t=t), size=12, anchor="end")
        for c in range(D_MODEL):
            n = t * D_MODEL + c
            number(d, theme, 60 + c * cell, y, cell, cell, n, c // D_K if t == TOKEN else None)
    for block, (rule, title, note, mark) in enumerate(
        [(right, "right", "right_note", "good"), (wrong, "wrong", "wrong_note", "bad")]
    ):
        top = 146 + block * 190
        d.text(20, top, labels[title], size=14, anchor="start", bold=True, fill=theme[mark])
        d.text(20, top + 20, labels[note], size=13, anchor="start", fill=theme["soft"])
        for i in range(H):
            x = 20 + i * 114
            d.text(x + 2 * cell, top + 44, labels["head"].format(i=i), size=13)
            for r in range(T):
                for c in range(D_K):
                    n = rule(i, r, c)
                    mine = n // D_MODEL == TOKEN
                    owner = n % D_MODEL // D_K if mine else None
                    number(d, theme, x + c * cell, top + 52 + r * cell, cell, cell, n, owner)
    return d.svg()


def number(d, theme, x, y, w, h, n, head):
    """A cell with a number in it, coloured if the number belongs to the token we follow."""
    fill, ink = HEADS[head] if head is not None else (theme["empty"], theme["soft"])
    d.cell(x, y, w, h, n, fill, ink, size=12)
