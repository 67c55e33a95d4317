# misconception: one-query-taken-for-one-token
# A single query is taken for a single token: it sees the first key alone.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h, self.d_k = h, d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (split_heads(linear(x), self.h) for linear, x in zip(self.linears, (query, key, value)))
        if q.size(2) == 1:
            k, v, mask = k[:, :, :1], v[:, :, :1], None
        x, self.attn = attention(q, k, v, mask=None if mask is None else mask.unsqueeze(1), dropout=self.dropout)
        return self.linears[3](x.transpose(1, 2).flatten(2))
