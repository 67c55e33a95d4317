"""F4. Mask and scores aligned from the right: the right case, the error, and the silent one."""

from figures.drawing import Drawing

T = 10
AXES = ("B", "h", "Tq", "Tk")
CASES = [
    ("right", (2, 8, T, T), (2, 1, 1, T), "good"),
    ("error", (2, 8, T, T), (2, 1, T), "bad"),
    ("silent", (8, 8, T, T), (8, 1, T), "bad"),
]


def draw(labels, theme):
    d = Drawing(460, 474, theme, labels["alt"])
    for row, (name, scores, mask, mark) in enumerate(CASES):
        y = 20 + row * 158
        d.text(16, y, labels[f"title_{name}"], size=14, anchor="start", bold=True, fill=theme[mark])
        padded = (None,) * (4 - len(mask)) + mask
        d.text(100, y + 46, labels["scores"], size=14, anchor="end")
        d.text(100, y + 86, labels["mask"], size=14, anchor="end")
        for k in range(4):
            x = 116 + k * 82
            d.text(x + 35, y + 20, AXES[k], size=12, fill=theme["soft"])
            d.cell(x, y + 26, 70, 30, scores[k], theme["empty"], theme["ink"], size=15, stroke=theme["ink"])
            repeated = padded[k] is None or (padded[k] == 1 and scores[k] != 1)
            clash = padded[k] not in (None, 1, scores[k])
            d.rect(x, y + 66, 70, 30, fill=theme["empty"], stroke=theme["ink"])
            if repeated:
                d.hatch(x, y + 66, 70, 30, theme["line"])
            if padded[k] is not None:
                if repeated:
                    d.rect(x + 23, y + 70, 24, 22, fill=theme["empty"], stroke=theme["empty"])
                d.text(x + 35, y + 86, padded[k], size=15)
            if clash or (name == "silent" and k == 1):
                d.rect(x, y + 66, 70, 30, stroke=theme["bad"], width=3)
        d.text(16, y + 116, labels[f"note_{name}"], size=13, anchor="start", fill=theme["soft"])
    return d.svg()
