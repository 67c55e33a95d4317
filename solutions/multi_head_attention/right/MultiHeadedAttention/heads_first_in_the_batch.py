# heads first (h·B): the mask with repeat, which is right in this order.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h, self.d_k = h, d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def forward(self, query, key, value, mask=None):
        B = query.size(0)
        q, k, v = (torch.cat(lin(x).chunk(self.h, dim=-1), dim=0) for lin, x in zip(self.linears, (query, key, value)))
        if mask is not None:
            mask = mask.expand(B, -1, -1).repeat(self.h, 1, 1)  # (h·B, Tq, Tk)
        x, weights = attention(q, k, v, mask, self.dropout)
        self.attn = weights.unflatten(0, (self.h, B)).transpose(0, 1)
        return self.linears[-1](torch.cat(x.chunk(self.h, dim=0), dim=-1))
