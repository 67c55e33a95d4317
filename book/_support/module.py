"""A working module for the pages, built from PyTorch's own functions. The book does not print it."""

import torch
from torch import nn
from torch.nn import functional as F


class Worked(nn.Module):
    """Four linears around `F.scaled_dot_product_attention`; a mask is (B or 1, 1 or Tq, Tk), True = may look."""

    def __init__(self, h, d_model):
        super().__init__()
        self.h = h
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        for linear in self.linears:
            nn.init.normal_(linear.bias)

    def heads(self, linear, x):
        """(B, T, d_model) -> (B, h, T, d_k)."""
        return torch.unflatten(linear(x), -1, (self.h, -1)).movedim(-2, 1)

    def concat(self, query, key, value, mask=None):
        """What W_O is given, (B, Tq, d_model)."""
        parts = [self.heads(*pair) for pair in zip(self.linears, (query, key, value), strict=False)]
        allowed = None if mask is None else mask.bool()[:, None]
        return F.scaled_dot_product_attention(*parts, attn_mask=allowed).movedim(1, -2).flatten(-2)

    def forward(self, query, key, value, mask=None):
        return self.linears[3](self.concat(query, key, value, mask))


@torch.no_grad()
def library_with_the_parameters_of(worked):
    """An `nn.MultiheadAttention` (batch first) that computes the same as `worked`."""
    d_model = worked.linears[0].in_features
    library = nn.MultiheadAttention(d_model, worked.h, batch_first=True)
    library.in_proj_weight.copy_(torch.cat([linear.weight for linear in worked.linears[:3]]))
    library.in_proj_bias.copy_(torch.cat([linear.bias for linear in worked.linears[:3]]))
    library.out_proj.load_state_dict(worked.linears[3].state_dict())
    return library
