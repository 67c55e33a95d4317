# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "welcome", "locked": true, "schema_version": 3, "solution": false, "task": false}
# # Multi-head attention
#
# {{exercises}} small exercises, {{points}} points, about {{minutes}} minutes in all. At the end you have written multi-head
# attention as one PyTorch module, and you know every shape in it.
#
# **How it works.** Write your answer in the cell below each task, where it says `raise NotImplementedError()`. Then run the
# cell with `check(...)`. It tries your answer on small inputs and says which rule holds, which does not, and what to try.
# Run it as often as you like. Each task names the chapter of the book that explains it.
#
# **Handing in.** Save this notebook and hand in this one file. Grading tries the same rules on new numbers.
#
# **The rules**
#
# - `torch`, `numpy`, `einops` and Python's own library may be used. `nn.MultiheadAttention` and
#   `F.scaled_dot_product_attention` are off limits, and so are modules that hold them: they are what you build.
# - You may add cells and helper functions. If a name is defined more than once, its last definition counts.
# - What takes long, such as timing or training, belongs in a cell of its own, where it costs nothing. An answer's cell that
#   computes for more than {{seconds}} seconds loses its points.
# - Please leave the locked cells as they are.
# - A mask holds only 0 or `False` (may not look) and 1 or `True` (may look). It may be bool, int or float. Every query may look
#   at one key at least. A forbidden key gets a weight of exactly 0.
# - Never change a tensor or a module that you are given, unless the task says so. The output has the dtype and the device
#   of the input.
# - Stay in PyTorch from the input to the output, so that gradients flow back.
#
# **The symbols.** B sentences in a batch, T tokens in a sentence (Tq queries, Tk keys), d_model numbers per token, h heads,
# d_k = d_model / h numbers per token and head. Heads are counted from 0. In the paper: d_model = 512, h = 8, d_k = 64.

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder import check

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1. Predict the shapes
#
# Before any code runs: which shapes appear on the way through multi-head attention? One self-attention call takes x of
# shape (B, T, d_model) and goes like this.
#
# | key | what it is |
# |---|---|
# | `projected` | x after W_Q |
# | `viewed` | the same numbers, the last axis cut into h heads |
# | `heads` | the head axis moved in front of the tokens |
# | `scores` | every query compared with every key, in each head |
# | `context` | in each head, the values added up by their weights |
# | `merged` | the heads side by side again |
# | `output` | after W_O |
#
# `predict_shapes` returns a dict of these seven shapes. `predict_parameters` returns how many numbers the four linears W_Q, W_K,
# W_V, W_O learn together. Each maps d_model to d_model and has a bias.
#
# About 10 minutes · chapter {{chapter:notation}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "predict", "locked": false, "schema_version": 3, "solution": true, "task": false}
def predict_shapes(batch, tokens, d_model, h):
    """Return a dict from each key of the table above to a shape: a tuple (or list) of whole numbers.

    batch, tokens, d_model, h: whole numbers; d_model is divisible by h.
    """
    ### BEGIN SOLUTION
    d_k = d_model // h
    return {
        "projected": (batch, tokens, d_model),
        "viewed": (batch, tokens, h, d_k),
        "heads": (batch, h, tokens, d_k),
        "scores": (batch, h, tokens, tokens),
        "context": (batch, h, tokens, d_k),
        "merged": (batch, tokens, d_model),
        "output": (batch, tokens, d_model),
    }
    ### END SOLUTION


def predict_parameters(d_model, h):
    """Return the number of parameters of W_Q, W_K, W_V and W_O together, biases included."""
    ### BEGIN SOLUTION
    return 4 * (d_model * d_model + d_model)
    ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-predict", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check("predict")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2. One attention
#
# Each query is compared with each key by a dot product, divided by √d_k. A softmax turns each query's scores into weights
# that sum to 1. The output adds up the values by these weights.
#
# - `query` (..., Tq, d_k), `key` (..., Tk, d_k), `value` (..., Tk, d_v). In front may stand any axes: none, (B), (B, h).
# - `mask` broadcasts to (..., Tq, Tk). Where it is 0 or `False`, the weight is exactly 0.
# - Scores may be as large as 10,000, or as low as -10,000. All weights stay finite.
# - `dropout` is a function, or `None`. It takes the weights and returns new ones. The values meet the new ones, and
#   those are returned.
#
# About 20 minutes · chapter {{chapter:attention}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention(query, key, value, mask=None, dropout=None):
    """Scaled dot-product attention.

    query: (..., Tq, d_k). key: (..., Tk, d_k). value: (..., Tk, d_v).
    mask: None, or bool, int or float that broadcasts to (..., Tq, Tk); 0 or False: may not look.
    dropout: None, or a function from weights to weights.
    Returns the pair (output, weights) of shapes (..., Tq, d_v) and (..., Tq, Tk).
    """
    ### BEGIN SOLUTION
    d_k = query.size(-1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)  # (..., Tq, Tk)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)  # (..., Tq, Tk), each row sums to 1
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights  # (..., Tq, d_v), (..., Tq, Tk)
    ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-attention", "locked": true, "points": 15, "schema_version": 3, "solution": false, "task": false}
check("attention")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-clones", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3. Independent copies
#
# A module needs W_Q, W_K, W_V and W_O: four linears of one shape, each with its own weights. `clones` makes them from one.
#
# - The copies hold the same numbers as `module` at first.
# - Training one copy moves neither `module` nor another copy.
# - It works for any module, also for one that holds other modules.
# - A copy is in the same condition as `module`: in training or in evaluation, with the same parameters frozen or tied together.
#
# About 10 minutes · chapter {{chapter:clones}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "clones", "locked": false, "schema_version": 3, "solution": true, "task": false}
def clones(module, N):
    """Return an nn.ModuleList of N copies of module, independent of it and of each other."""
    ### BEGIN SOLUTION
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])
    ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-clones", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check("clones")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-split_heads", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4. Split into heads
#
# After W_Q a token holds d_model numbers. The first d_k belong to head 0, the next d_k to head 1, and so on. Attention
# compares tokens within a head, so the head axis has to stand in front of the tokens.
#
# (B, T, d_model) → (B, h, T, d_k), for example (2, 10, 512) → (2, 8, 10, 64)
#
# About 10 minutes · chapter {{chapter:splitting-heads}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x, h):
    """Cut the last axis into h heads. x: (B, T, d_model). Returns (B, h, T, d_k)."""
    ### BEGIN SOLUTION
    B, T, d_model = x.shape
    return x.view(B, T, h, d_model // h).transpose(1, 2)  # (B, T, h, d_k) -> (B, h, T, d_k)
    ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-split_heads", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
check("split_heads")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-masks", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5. Masks for many heads
#
# Three small functions. `True` means: may look.
#
# - `padding_mask`: short sentences are filled up with the token `pad`. No query may look at it.
# - `causal_mask`: query i may look at the keys 0 to i. It lies on `device`.
# - `share_across_heads`: scores have the shape (B, h, Tq, Tk), a mask has (B, Tq, Tk), where B or Tq may be 1. Give it an axis for the
#   heads, so that all heads share one mask. Shapes are lined up from the right, so it matters where the axis stands.
#
# About 15 minutes · chapter {{chapter:masks}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "masks", "locked": false, "schema_version": 3, "solution": true, "task": false}
def padding_mask(tokens, pad):
    """tokens: (B, T) whole numbers. pad: the number that fills up. Returns a bool mask (B, 1, T)."""
    ### BEGIN SOLUTION
    return (tokens != pad).unsqueeze(1)  # (B, T) -> (B, 1, T)
    ### END SOLUTION


def causal_mask(size, device=None):
    """Return a bool mask (1, size, size) on this device: rows are queries, columns are keys."""
    ### BEGIN SOLUTION
    return torch.ones(1, size, size, dtype=torch.bool, device=device).tril()
    ### END SOLUTION


def share_across_heads(mask):
    """mask: (B or 1, 1 or Tq, Tk). Returns the same mask with an axis of size 1 for the heads."""
    ### BEGIN SOLUTION
    return mask.unsqueeze(1)  # (B, Tq, Tk) -> (B, 1, Tq, Tk)
    ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-masks", "locked": true, "points": 12, "schema_version": 3, "solution": false, "task": false}
check("masks")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-merge_heads", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6. Merge the heads
#
# The way back. The heads of each token are laid side by side again: head 0 first, then head 1, and so on.
#
# (B, h, T, d_k) → (B, T, h·d_k), for example (2, 8, 10, 64) → (2, 10, 512)
#
# About 10 minutes · chapter {{chapter:merging}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "merge_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_heads(x):
    """Lay the heads of each token side by side. x: (B, h, T, d_k). Returns (B, T, h * d_k)."""
    ### BEGIN SOLUTION
    B, h, T, d_k = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, h * d_k)  # (B, T, h, d_k) -> (B, T, h * d_k)
    ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-merge_heads", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
check("merge_heads")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-mix_heads", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7. What each head adds
#
# W_O turns the merged heads into the output. Its `weight` has the shape (d_model, h·d_k), as in `nn.Linear(h * d_k, d_model)`. Each
# head meets its own block of it: d_k columns of `weight`, 64 in the paper. So the output is a sum with one part per
# head, plus the bias once.
#
# - `parts` (B, h, T, d_model): what each head adds.
# - `output` (B, T, d_model): the sum of the parts over the heads, plus the bias.
#
# About 20 minutes · chapter {{chapter:w_o}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "mix_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mix_heads(heads, weight, bias):
    """Apply W_O head by head.

    heads: (B, h, T, d_k). weight: (d_model, h * d_k). bias: (d_model,).
    Returns the pair (parts, output) of shapes (B, h, T, d_model) and (B, T, d_model).
    """
    ### BEGIN SOLUTION
    h, d_k = heads.size(1), heads.size(3)
    blocks = weight.unflatten(1, (h, d_k)).permute(1, 2, 0)  # (d_model, h, d_k) -> (h, d_k, d_model)
    parts = heads @ blocks  # (B, h, T, d_model)
    return parts, parts.sum(dim=1) + bias  # (B, h, T, d_model), (B, T, d_model)
    ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-mix_heads", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
check("mix_heads")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-MultiHeadedAttention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 8. The whole module
#
# Now put it together. You may call your functions from above.
#
# 1. W_Q, W_K and W_V project query, key and value: (B, T, d_model) each.
# 2. Each is split into h heads: (B, h, T, d_k).
# 3. `attention` works in all heads at once. The mask (B or 1, 1 or Tq, Tk) is the same for all heads.
# 4. The heads are merged, and W_O gives the output: (B, Tq, d_model).
#
# The module has these attributes: `linears` (four `nn.Linear(d_model, d_model)` in the order W_Q, W_K, W_V, W_O), `h`, `d_k`, `dropout` (an
# `nn.Dropout`, applied to the weights) and `attn` (the weights of the last call, (B, h, Tq, Tk)). A d_model that h does not divide is
# refused with an `AssertionError` or a `ValueError` when the module is made.
#
# About 25 minutes · chapter {{chapter:whole-module}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "MultiHeadedAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadedAttention(nn.Module):
    """Multi-head attention: h attentions side by side, mixed by W_O."""

    def __init__(self, h, d_model, dropout=0.1):
        """h: number of heads. d_model: width of a token. dropout: probability that a weight is dropped in training."""
        super().__init__()
        ### BEGIN SOLUTION
        assert d_model % h == 0, f"d_model = {d_model} cannot be cut into {h} heads of equal width"
        self.d_k = d_model // h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)  # W_Q, W_K, W_V, W_O
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)
        ### END SOLUTION

    def forward(self, query, key, value, mask=None):
        """query: (B, Tq, d_model). key, value: (B, Tk, d_model). mask: None or (B or 1, 1 or Tq, Tk).

        Returns (B, Tq, d_model) and keeps the weights (B, h, Tq, Tk) in self.attn.
        """
        ### BEGIN SOLUTION
        if mask is not None:
            mask = mask.unsqueeze(1)  # (B, Tq, Tk) -> (B, 1, Tq, Tk): the same mask for all heads
        B = query.size(0)
        query, key, value = [
            linear(x).view(B, -1, self.h, self.d_k).transpose(1, 2)  # (B, h, T, d_k)
            for linear, x in zip(self.linears, (query, key, value))  # zip stops before W_O
        ]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)  # (B, h, Tq, d_k)
        x = x.transpose(1, 2).contiguous().view(B, -1, self.h * self.d_k)  # (B, Tq, d_model)
        return self.linears[-1](x)  # (B, Tq, d_model)
        ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-MultiHeadedAttention", "locked": true, "points": 17, "schema_version": 3, "solution": false, "task": false}
check("MultiHeadedAttention")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-load_torch_weights", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 9. The same weights as PyTorch's
#
# PyTorch has its own module, `nn.MultiheadAttention`. With the same weights it must give the same numbers as yours. It keeps W_Q, W_K and
# W_V in one tensor:
#
# - `in_proj_weight` (3·d_model, d_model): W_Q first, then W_K, then W_V, and `in_proj_bias` (3·d_model) in the same order;
# - `out_proj.weight` and `out_proj.bias`: W_O.
#
# Copy them into the four linears of `mha`, and change nothing else in it: its mode and its dropout stay. Afterwards the two modules
# share no memory: training one leaves the other alone.
#
# About 15 minutes · chapter {{chapter:whole-module}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "load_torch_weights", "locked": false, "schema_version": 3, "solution": true, "task": false}
def load_torch_weights(mha, torch_mha):
    """Copy the weights of torch_mha into mha, so that both compute the same.

    mha: a MultiHeadedAttention, changed in place. torch_mha: an nn.MultiheadAttention of the same width, left as it is.
    """
    ### BEGIN SOLUTION
    weights = (*torch_mha.in_proj_weight.chunk(3), torch_mha.out_proj.weight)  # four (d_model, d_model)
    biases = (*torch_mha.in_proj_bias.chunk(3), torch_mha.out_proj.bias)  # four (d_model,)
    with torch.no_grad():
        for linear, weight, bias in zip(mha.linears, weights, biases, strict=True):
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
    ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-load_torch_weights", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("load_torch_weights")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-silence_head", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 10. Silence one head
#
# What does one head contribute? Take it away and look. After `silence_head(mha, 2)`, head 2 adds nothing to the output. The other
# heads add what they added before, and the weights in `attn` stay as they were.
#
# Change the numbers in `mha` itself, and leave the rest of it as it is: it can still learn afterwards. The chapter on W_O shows
# where a head meets it.
#
# About 10 minutes · chapter {{chapter:w_o}}

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "silence_head", "locked": false, "schema_version": 3, "solution": true, "task": false}
def silence_head(mha, head):
    """Change mha in place so that this head adds nothing to its output. head: 0 to h - 1."""
    ### BEGIN SOLUTION
    first = head * mha.d_k
    with torch.no_grad():
        mha.linears[-1].weight[:, first : first + mha.d_k] = 0  # this head's columns of W_O
    ### END SOLUTION

# %% nbgrader={"cell_type": "code", "grade": true, "grade_id": "check-silence_head", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("silence_head")

# %% [markdown] nbgrader={"cell_type": "markdown", "grade": false, "grade_id": "about-total", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Your total
#
# Run this cell to check all exercises at once. It takes a few seconds.

# %% nbgrader={"cell_type": "code", "grade": false, "grade_id": "total", "locked": true, "schema_version": 3, "solution": false, "task": false}
check()
