"""Library-built pieces for judging an exercise whose needs are broken: PyTorch's own functions, never the reference's.

Of the file, only the definitions that one judgement needs, and those that they call, reach the learner's process.
"""

import pickle

import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value, mask=None, dropout=None):
    """`attention` on `F.scaled_dot_product_attention`: values that form an identity matrix make it return the weights."""
    tokens = key.shape[-2]
    allowed = None if mask is None else (mask != 0).expand(*query.shape[:-1], tokens)
    identity = torch.eye(tokens, dtype=value.dtype, device=value.device).expand(*key.shape[:-2], tokens, tokens)
    weights = F.scaled_dot_product_attention(query, key, identity, attn_mask=allowed)
    if dropout is not None:
        weights = dropout(weights)
    return torch.matmul(weights, value), weights


def clones(module, N):
    """`clones` by writing the module to bytes once and reading it back N times."""
    written = pickle.dumps(module)
    copies = nn.ModuleList()
    for _ in range(N):
        copies.append(pickle.loads(written))
    return copies


def split_heads(x, h):
    """`split_heads` by cutting the last axis into h pieces and stacking them."""
    return torch.stack(torch.chunk(x, h, dim=-1), dim=1)


def merge_heads(x):
    """`merge_heads` by laying the heads side by side."""
    return torch.cat(torch.unbind(x, dim=1), dim=-1)


def padding_mask(tokens, pad):
    """`padding_mask` by comparison."""
    return torch.ne(tokens, pad)[:, None, :]


def causal_mask(size, device=None):
    """`causal_mask` by comparing positions."""
    places = torch.arange(size, device=device)
    return torch.ge(places[None, :, None], places[None, None, :])


def share_across_heads(mask):
    """`share_across_heads` by indexing."""
    return mask[:, None]


class MultiHeadedAttention(nn.Module):
    """`MultiHeadedAttention` on `F.multi_head_attention_forward`, with the attributes that the course names."""

    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        if d_model % h:
            raise ValueError(f"{d_model} is not divisible by {h}")
        self.h, self.d_k, self.attn = h, d_model // h, None
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        w_q, w_k, w_v, w_o = self.linears
        forbidden = None
        if mask is not None:
            forbidden = (mask == 0).expand(query.size(0), query.size(1), key.size(1))
            forbidden = forbidden.repeat_interleave(self.h, dim=0)  # (B * h, Tq, Tk)
        output, self.attn = F.multi_head_attention_forward(
            query.transpose(0, 1),
            key.transpose(0, 1),
            value.transpose(0, 1),
            embed_dim_to_check=self.h * self.d_k,
            num_heads=self.h,
            in_proj_weight=None,
            in_proj_bias=torch.cat([w_q.bias, w_k.bias, w_v.bias]),
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=self.dropout.p,
            out_proj_weight=w_o.weight,
            out_proj_bias=w_o.bias,
            training=self.training,
            need_weights=True,
            attn_mask=forbidden,
            use_separate_proj_weight=True,
            q_proj_weight=w_q.weight,
            k_proj_weight=w_k.weight,
            v_proj_weight=w_v.weight,
            average_attn_weights=False,
        )
        return output.transpose(0, 1)
