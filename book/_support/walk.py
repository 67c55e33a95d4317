"""One self-attention call with PyTorch's own functions, each intermediate tensor kept."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Step:
    words: str
    axes: str
    tensor: torch.Tensor


@torch.no_grad()
def walk(B, T, d_model, h, seed=0):
    """The tensors of one call, in order, as a list of steps."""
    torch.manual_seed(seed)
    library = nn.MultiheadAttention(d_model, h, batch_first=True)
    x = torch.randn(B, T, d_model)
    q, k, v = F.linear(x, library.in_proj_weight, library.in_proj_bias).chunk(3, dim=-1)
    cut = [torch.unflatten(t, -1, (h, -1)) for t in (q, k, v)]
    qh, kh, vh = (t.movedim(-2, 1) for t in cut)
    context = F.scaled_dot_product_attention(qh, kh, vh)
    merged = context.movedim(1, -2).flatten(-2)
    output = library.out_proj(merged)
    assert torch.allclose(output, library(x, x, x)[0], atol=1e-5)
    return [
        Step("input", "(B, T, d_model)", x),
        Step("queries, after W_Q", "(B, T, d_model)", q),
        Step("each cut into heads", "(B, T, h, d_k)", cut[0]),
        Step("heads in front of the tokens", "(B, h, T, d_k)", qh),
        Step("scores: queries against keys", "(B, h, T, T)", qh @ kh.mT),
        Step("weights times values", "(B, h, T, d_k)", context),
        Step("heads side by side", "(B, T, d_model)", merged),
        Step("output, after W_O", "(B, T, d_model)", output),
    ]
