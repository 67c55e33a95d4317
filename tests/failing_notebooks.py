"""Twenty notebooks that fail, as people write them late in the evening. `MESSAGE_LOG.md` says what each is told.

    python tests/failing_notebooks.py FOLDER

writes each into FOLDER, runs it in a JupyterLab of its own, and takes pictures of the panel, light and dark, to be
looked at. `test_failing_notebooks.py` holds the messages to what the log says of them.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from book_support import chromium
from jupyter_support import PATIENCE, jupyter

from autograder import solved
from autograder.course import Course

ROOT = Path(__file__).parents[1]
NAME = "multi_head_attention"


@dataclass(frozen=True)
class Failing:
    """One answer. mistake: what is wrong with it. words: what the learner must be told, each in this order."""

    name: str
    exercise: str
    mistake: str
    words: tuple[str, ...]
    code: str


FAILING = (
    Failing(
        "no-scale-wrong-axis",
        "attention",
        "softmax over axis 1, and no division by √d_k",
        ("lies in the softmax",),
        """def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = F.softmax(scores, dim=1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights
""",
    ),
    Failing(
        "printed",
        "attention",
        "the result is printed, not returned",
        ("Expected the pair (output, weights) from attention. Got None.", "`print` only shows"),
        """def attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    weights = scores.softmax(-1)
    output = weights @ value
    print(output, weights)
""",
    ),
    Failing(
        "d_k-nowhere",
        "attention",
        "`d_k` has no value",
        ("no name `d_k`", "Give it a value in this function"),
        """def attention(query, key, value, mask=None, dropout=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights
""",
    ),
    Failing(
        "mask-as-condition",
        "attention",
        "`if mask:` instead of `if mask is not None:`",
        ("`if mask:`", "if mask is not None"),
        """def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(-1)
    if dropout:
        weights = dropout(weights)
    return weights @ value, weights
""",
    ),
    Failing(
        "inverted-and-small",
        "attention",
        "the mask is turned around, and filled with -10",
        ("in what True means", "or in what is filled in"),
        """def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 1, -10)
    weights = scores.softmax(-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights
""",
    ),
    Failing(
        "key-misspelt",
        "predict",
        "one key of the dict is misspelt: `view` for `viewed`",
        ("a value for `viewed`. Got none among", "`view`"),
        """def predict_shapes(batch, tokens, d_model, h):
    d_k = d_model // h
    return {
        "projected": (batch, tokens, d_model),
        "view": (batch, tokens, h, d_k),
        "heads": (batch, h, tokens, d_k),
        "scores": (batch, h, tokens, tokens),
        "context": (batch, h, tokens, d_k),
        "merged": (batch, tokens, d_model),
        "output": (batch, tokens, d_model),
    }


def predict_parameters(d_model, h):
    return 4 * (d_model * d_model + d_model)
""",
    ),
    Failing(
        "true-division",
        "predict",
        "d_k is made with `/`, and the biases are counted per head",
        ("Got (2, 5, 3, 4.0)", "`//` keeps whole numbers"),
        """def predict_shapes(batch, tokens, d_model, h):
    d_k = d_model / h
    return dict(
        projected=(batch, tokens, d_model),
        viewed=(batch, tokens, h, d_k),
        heads=(batch, h, tokens, d_k),
        scores=(batch, h, tokens, tokens),
        context=(batch, h, tokens, d_k),
        merged=(batch, tokens, d_model),
        output=(batch, tokens, d_model),
    )


def predict_parameters(d_model, h):
    return 4 * (d_model * d_model + h)
""",
    ),
    Failing(
        "range-forgotten",
        "clones",
        "`for i in N` instead of `for i in range(N)`",
        ("`for _ in range(N)`",),
        """def clones(module, N):
    return nn.ModuleList(copy.deepcopy(module) for i in N)
""",
    ),
    Failing(
        "return-forgotten",
        "clones",
        "the list is made and not returned",
        ("Expected an nn.ModuleList from clones. Got None.", "is it there"),
        """def clones(module, N):
    layers = nn.ModuleList()
    for _ in range(N):
        layers.append(copy.deepcopy(module))
""",
    ),
    Failing(
        "method-misspelt",
        "split_heads",
        "`tranpose` for `transpose`",
        ("no `tranpose`. Is `transpose` meant?",),
        """def split_heads(x, h):
    B, T, d_model = x.shape
    d_k = d_model // h
    return x.view(B, T, h, d_k).tranpose(1, 2)
""",
    ),
    Failing(
        "list-of-heads",
        "split_heads",
        "a list of heads instead of one tensor",
        ("Expected a tensor from split_heads. Got a list of 3.", "torch.stack"),
        """def split_heads(x, h):
    return list(x.chunk(h, dim=-1))
""",
    ),
    Failing(
        "two-in-a-mask",
        "masks",
        "`==` for `!=`, and no axis for the queries; the causal mask is NumPy's",
        ("Only an axis of size 1 is missing", "(B, T) → (B, 1, T)"),
        """import numpy as np


def padding_mask(tokens, pad):
    return tokens == pad


def causal_mask(size, device=None):
    return np.tril(np.ones((1, size, size))) == 1


def share_across_heads(mask):
    return mask.unsqueeze(1)
""",
    ),
    Failing(
        "not-joined",
        "merge_heads",
        "the tokens are brought in front, and the last two axes are not joined",
        ("Your axes 2 and 3, 3 and 5 long, are to be one axis of 15.",),
        """def merge_heads(x):
    B, h, T, d_k = x.shape
    x = x.permute(0, 2, 1, 3).contiguous()
    return x
""",
    ),
    Failing(
        "wrong-way-and-reversed",
        "merge_heads",
        "the heads are laid side by side from the last to the first",
        ("Your heads stand in reverse order",),
        """def merge_heads(x):
    heads = [x[:, i] for i in range(x.size(1))]
    heads.reverse()
    return torch.cat(heads, dim=-1)
""",
    ),
    Failing(
        "rows-and-biases",
        "mix_heads",
        "rows of `weight` for columns, and the bias in each part",
        ("`parts.append(heads[:, i] @ block + bias)`", "of its columns, not of its rows"),
        """def mix_heads(heads, weight, bias):
    B, h, T, d_k = heads.shape
    parts = []
    for i in range(h):
        block = weight[i * d_k : (i + 1) * d_k]
        parts.append(heads[:, i] @ block + bias)
    parts = torch.stack(parts, dim=1)
    return parts, parts.sum(dim=1)
""",
    ),
    Failing(
        "sizes-swapped",
        "MultiHeadedAttention",
        "`__init__` takes d_model first and h second",
        ("`assert d_model % h == 0`", "in the order of the task"),
        """class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, h, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.d_k = d_model // h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        q, k, v = [split_heads(l(x), self.h) for l, x in zip(self.linears, (query, key, value))]
        x, self.attn = attention(q, k, v, mask, self.dropout)
        return self.linears[-1](merge_heads(x))
""",
    ),
    Failing(
        "constant-on-the-cpu",
        "MultiHeadedAttention",
        "√d_k is a tensor made in `__init__`, and dropout is left out",
        ("Dropout changes nothing in your code.",),
        """class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.d_k = d_model // h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None
        self.dropout = nn.Dropout(dropout)
        self.root = torch.sqrt(torch.tensor([float(self.d_k)]))

    def forward(self, query, key, value, mask=None):
        q, k, v = [split_heads(l(x), self.h) for l, x in zip(self.linears, (query, key, value))]
        scores = q @ k.transpose(-2, -1) / self.root
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        self.attn = scores.softmax(-1)
        return self.linears[-1](merge_heads(self.attn @ v))
""",
    ),
    Failing(
        "super-forgotten",
        "MultiHeadedAttention",
        "`super().__init__()` is missing",
        ("Begin `__init__` with `super().__init__()`",),
        """class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        assert d_model % h == 0
        self.d_k = d_model // h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = [split_heads(l(x), self.h) for l, x in zip(self.linears, (query, key, value))]
        x, self.attn = attention(q, k, v, mask.unsqueeze(1), self.dropout)
        return self.linears[-1](merge_heads(x))
""",
    ),
    Failing(
        "not-a-parameter",
        "load_torch_weights",
        "a plain tensor is assigned to `linear.weight`",
        ("`weight` is a parameter, and a plain tensor cannot take its place", "`.copy_(...)`"),
        """def load_torch_weights(mha, torch_mha):
    q, k, v = torch_mha.in_proj_weight.chunk(3)
    mha.linears[0].weight = q
    mha.linears[1].weight = k
    mha.linears[2].weight = v
    mha.linears[3].weight = torch_mha.out_proj.weight
""",
    ),
    Failing(
        "no-grad-forgotten",
        "silence_head",
        "written into a parameter without `torch.no_grad()`",
        ("Write into it within `with torch.no_grad():`",),
        """def silence_head(mha, head):
    start = head * mha.d_k
    mha.linears[-1].weight[:, start : start + mha.d_k] = 0
""",
    ),
)


def notebook(failing: Failing, course: Course) -> dict[str, Any]:
    """The released cells that the exercise needs, with its answer; those of the exercises before it are solved."""
    source = course.source(NAME)
    whole: dict[str, Any] = json.loads(json.dumps(solved.solved_notebook(source)))
    shown = {f"about-{failing.exercise}", f"check-{failing.exercise}", "imports"}
    shown.update(source.assignment.calls_of(failing.exercise))
    kept = []
    for cell in whole["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        if name == failing.exercise:
            kept.append({**cell, "source": failing.code})
        elif name in shown:
            kept.append(cell)
    return {**whole, "cells": kept}


def choose_theme(page: Any, name: str) -> None:
    """As a learner does, in the menu Settings."""
    page.click("text=Settings >> nth=0")
    page.hover("text=Theme >> nth=0")
    page.click(f"text={name} >> nth=-1")
    page.wait_for_timeout(1000)


def pictures(folder: Path) -> None:
    """Write, run and picture every notebook; the pictures lie in FOLDER/light and FOLDER/dark."""
    course = Course(ROOT)
    served = shutil.copytree(course.released / NAME, folder / "notebooks", dirs_exist_ok=True)
    for failing in FAILING:
        (served / f"{failing.name}.ipynb").write_text(json.dumps(notebook(failing, course)), encoding="utf-8")
    with jupyter("lab", served, folder / "home") as address, chromium() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 2600})
        for failing in FAILING:
            page.goto(f"{address}/lab/tree/{failing.name}.ipynb?reset")
            page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=1000 * PATIENCE)
            page.wait_for_selector("text=Python 3 (ipykernel) | Idle", timeout=1000 * PATIENCE)
            page.evaluate("document.querySelector('.Toastify')?.remove()")  # Jupyter's news would lie on the panel
            page.click("text=Run >> nth=0")
            page.click("text=Run All Cells")
            panel = page.locator(".ag").last
            panel.wait_for(timeout=1000 * PATIENCE)
            for theme in ("light", "dark"):
                choose_theme(page, f"JupyterLab {theme.title()}")
                path = folder / theme / f"{failing.name}.png"
                path.parent.mkdir(exist_ok=True)
                panel.screenshot(path=path)
            choose_theme(page, "JupyterLab Light")
            print(failing.name, flush=True)


if __name__ == "__main__":
    pictures(Path(sys.argv[1]).absolute())
