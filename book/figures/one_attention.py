"""One query, three keys: scores, scale, mask, softmax, and the mean of the values."""

from math import exp, inf, sqrt

from figures.drawing import Drawing

QUERY = (2, 0, 2, 0)
KEYS = ((1, 0, 1, 0), (0, 1, 0, 1), (1, 1, 0, 0))
VALUES = ((10, 0), (0, 10), (50, 50))
MASK = (1, 1, 0)


def softmax(scores):
    top = [exp(s - max(scores)) for s in scores]
    return [t / sum(top) for t in top]


SCORES = [sum(a * b for a, b in zip(QUERY, key, strict=True)) for key in KEYS]
SCALED = [s / sqrt(len(QUERY)) for s in SCORES]
MASKED = [s if may else -inf for s, may in zip(SCALED, MASK, strict=True)]
WEIGHTS = softmax(MASKED)
OUTPUT = [sum(w * v[c] for w, v in zip(WEIGHTS, VALUES, strict=True)) for c in range(2)]

FACTS = {
    "scores": ", ".join(f"{s:g}" for s in SCORES),
    "scaled": ", ".join(f"{s:g}" for s in SCALED),
    "weights": ", ".join(f"{w:.2f}" for w in WEIGHTS),
    "output": ", ".join(f"{o:.1f}" for o in OUTPUT),
}


def draw(labels, theme):
    d = Drawing(460, 430, theme, labels["alt"])
    rows = [
        ("keys", [str(k) for k in KEYS], None),
        ("scores", [f"{s:g}" for s in SCORES], "to_scores"),
        ("scaled", [f"{s:g}" for s in SCALED], "to_scaled"),
        ("masked", [f"{s:g}" if s > -inf else "−∞" for s in MASKED], "to_masked"),
        ("weights", [f"{w:.2f}" for w in WEIGHTS], "to_weights"),
    ]
    for r, (name, cells, how) in enumerate(rows):
        y = 14 + r * 72
        if how:
            d.text(275, y - 10, labels[how], size=13, fill=theme["soft"])
        d.text(104, y + 24, labels[name], size=14, anchor="end", bold=True)
        for k, words in enumerate(cells):
            x = 116 + k * 112
            closed = r >= 3 and not MASK[k]
            d.rect(x, y, 104, 36, fill=theme["empty"], stroke=theme["ink"])
            if closed:
                d.hatch(x, y, 104, 36, theme["line"])
                d.rect(x + 26, y + 7, 52, 22, fill=theme["empty"], stroke=theme["empty"])
            d.text(x + 52, y + 24, words, size=15)
    y = 14 + 5 * 72
    d.text(275, y - 10, labels["to_output"], size=13, fill=theme["soft"])
    d.text(104, y + 24, labels["output"], size=14, anchor="end", bold=True)
    d.rect(172, y, 216, 36, fill=theme["empty"], stroke=theme["good"], width=2)
    d.text(280, y + 24, "(" + FACTS["output"] + ")", size=15, bold=True)
    return d.svg()
