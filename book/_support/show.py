"""How the pages show what they compute: tables, values in the text, tensors coloured by head."""

from html import escape

import torch
from figures.drawing import HEADS
from myst_nb import glue

# The theme scrolls such a box, _ext/course_book/tables.py names it.
BOX = '<div class="pst-scrollable-table-container table-box">'


class Html:
    """Something that shows itself as HTML in the book and as plain text elsewhere."""

    def __init__(self, html, text):
        self.html, self.text = html, text

    def _repr_html_(self):
        return self.html

    def __repr__(self):
        return self.text


def value(name, words):
    """Make a computed value available to the text of the page under `name`."""
    glue(name, str(words), display=False)


def cell(content):
    """A cell of a table; shapes and strides stay on one line."""
    kind = ' class="shape"' if isinstance(content, tuple) else ""
    return f"<td{kind}>{escape(str(content))}</td>"


def table(head, *rows):
    """A table: `head` a list of words, each row a list of cells."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(cell(c) for c in row) + "</tr>" for row in rows)
    text = "\n".join(" | ".join(str(c) for c in row) for row in [head, *rows])
    return Html(
        f'{BOX}<table class="table"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>',
        text,
    )


def shape(tensor):
    """`tensor.shape` as a plain tuple: (2, 10, 512) rather than torch.Size([2, 10, 512])."""
    return tuple(tensor.shape)


def grid(rows, head_of, row_names=None, col_names=None, caption="", digits=None):
    """Numbers in cells, each coloured by the head that `head_of(row, column)` says (None: no colour)."""
    rows = rows.tolist() if isinstance(rows, torch.Tensor) else rows
    show = (lambda v: f"{v:.{digits}f}") if digits is not None else (lambda v: f"{v:g}")
    out = []
    if col_names:
        out.append("<tr><td></td>" + "".join(f'<th scope="col">{escape(str(c))}</th>' for c in col_names) + "</tr>")
    for r, row in enumerate(rows):
        name = f'<th scope="row">{escape(str(row_names[r]))}</th>' if row_names else ""
        cells = ""
        for c, v in enumerate(row):
            head = head_of(r, c) if head_of else None
            style = "" if head is None else f' style="background:{HEADS[head][0]};color:{HEADS[head][1]}"'
            cells += f"<td{style}>{show(v)}</td>"
        out.append(f"<tr>{name}{cells}</tr>")
    cap = f"<caption>{escape(caption)}</caption>" if caption else ""
    text = "\n".join(" ".join(show(v) for v in row) for row in rows)
    return Html(
        f'{BOX}<table class="numbers">{cap}{"".join(out)}</table></div>',
        (caption + "\n" if caption else "") + text,
    )


def side_by_side(*shown):
    """Several grids in a row; on a phone, below each other."""
    return Html(
        '<div class="side-by-side">' + "".join(s.html for s in shown) + "</div>",
        "\n\n".join(s.text for s in shown),
    )


def maps(alt, **weights):
    """Attention maps side by side: `head_0=tensor of (Tq, Tk)`, and so on."""
    from figures.heat_maps import inline

    drawn = [(name.replace("_", " "), w.tolist()) for name, w in weights.items()]
    return Html(inline(drawn, alt), alt)
