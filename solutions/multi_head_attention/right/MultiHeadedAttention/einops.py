# einops for split and merge; the mask with None as an index.
from einops import rearrange


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0, "d_model must be divisible by h"
        self.h = h
        self.d_k = d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            rearrange(linear(x), "b t (h d) -> b h t d", h=self.h)
            for linear, x in zip(self.linears, (query, key, value))
        )
        mask = mask[:, None] if mask is not None else None
        x, self.attn = attention(q, k, v, mask, self.dropout)
        return self.linears[3](rearrange(x, "b h t d -> b t (h d)"))
