"""The reader's own module, taken from the notebook they solved.

It stands in for `_support.module` where a page is read as a notebook.
"""

import json
from pathlib import Path

import torch
from torch import nn

NOTEBOOK = "multi_head_attention.ipynb"
NEEDED = ("attention", "split_heads", "share_across_heads", "merge_heads", "MultiHeadedAttention")


def own_answers(path=NOTEBOOK):
    """Run the answer cells of the solved notebook; the names they define."""
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"Put your solved notebook, {path}, into the folder of this one, and run this cell again."
        )
    names = {}
    exec("import copy, math\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F", names)
    for cell in json.loads(Path(path).read_text(encoding="utf-8"))["cells"]:
        about = cell.get("metadata", {}).get("nbgrader", {})
        if cell["cell_type"] == "code" and not about.get("locked"):
            try:
                exec("".join(cell["source"]), names)
            except Exception as problem:  # a cell that tries something out costs nothing
                print(f"A cell of {path} was left out: {type(problem).__name__}: {problem}")
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise LookupError(f"{path} does not define {', '.join(missing)} yet.")
    return names


own = own_answers()


class Worked(own["MultiHeadedAttention"]):
    """Your module, in the form in which the book's pages call it."""

    def __init__(self, h, d_model):
        super().__init__(h, d_model, dropout=0.0)
        for linear in self.linears:
            nn.init.normal_(linear.weight, std=d_model**-0.5)
            nn.init.normal_(linear.bias)

    def heads(self, linear, x):
        """(B, T, d_model) -> (B, h, T, d_k), by your `split_heads`."""
        return own["split_heads"](linear(x), self.h)

    def concat(self, query, key, value, mask=None):
        """What W_O is given, (B, Tq, d_model), by your `attention` and `merge_heads`."""
        parts = [self.heads(*pair) for pair in zip(self.linears, (query, key, value), strict=False)]
        mixed, _ = own["attention"](*parts, mask=None if mask is None else own["share_across_heads"](mask))
        return own["merge_heads"](mixed)


@torch.no_grad()
def library_with_the_parameters_of(worked):
    """An `nn.MultiheadAttention` (batch first) that computes the same as `worked`."""
    d_model = worked.linears[0].in_features
    library = nn.MultiheadAttention(d_model, worked.h, batch_first=True)
    library.in_proj_weight.copy_(torch.cat([linear.weight for linear in worked.linears[:3]]))
    library.in_proj_bias.copy_(torch.cat([linear.bias for linear in worked.linears[:3]]))
    library.out_proj.load_state_dict(worked.linears[3].state_dict())
    return library
