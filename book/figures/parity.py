"""F8. Where the parameters of nn.MultiheadAttention stand in ours, and what True means where."""

from figures.drawing import HEADS, Drawing

D_MODEL = 512
THEIRS = [
    (f"in_proj_weight[0:{D_MODEL}]", "linears[0]", "W_Q"),
    (f"in_proj_weight[{D_MODEL}:{2 * D_MODEL}]", "linears[1]", "W_K"),
    (f"in_proj_weight[{2 * D_MODEL}:{3 * D_MODEL}]", "linears[2]", "W_V"),
    ("out_proj.weight", "linears[3]", "W_O"),
]
MEANINGS = [("ours", "may"), ("sdpa", "may"), ("module", "may_not"), ("padding", "may_not")]


def draw(labels, theme):
    d = Drawing(470, 452, theme, labels["alt"])
    d.text(130, 20, "nn.MultiheadAttention", size=14, bold=True)
    d.text(390, 20, labels["ours_title"], size=14, bold=True)
    for k, (theirs, ours, name) in enumerate(THEIRS):
        y = 34 + k * 46 + (14 if k == 3 else 0)
        fill, ink = HEADS[k]
        d.cell(10, y, 240, 42, theirs, fill, ink, size=14)
        d.line(254, y + 21, 320, y + 21, stroke=theme["ink"], width=1.5, arrow=True)
        d.cell(326, y, 134, 42, f"{ours}  {name}", fill, ink, size=14)
    d.text(10, 252, labels["bias"], size=13, anchor="start", fill=theme["soft"])
    d.text(10, 296, labels["true_title"], size=14, anchor="start", bold=True)
    for k, (name, meaning) in enumerate(MEANINGS):
        y = 308 + k * 34
        mark = "good" if meaning == "may" else "bad"
        d.rect(10, y, 450, 30, fill=theme["empty"])
        d.text(18, y + 20, labels[name], size=13, anchor="start")
        d.text(
            452,
            y + 20,
            ("✓ " if meaning == "may" else "✗ ") + labels[meaning],
            size=13,
            anchor="end",
            bold=True,
            fill=theme[mark],
        )
    return d.svg()
