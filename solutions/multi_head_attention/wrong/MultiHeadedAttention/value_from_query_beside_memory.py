# misconception: memory-not-used
# Where key and value are one object, values are taken from query.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h, self.d_k = h, d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        if key is value and query is not key:
            value = query
        q, k, v = (split_heads(linear(x), self.h) for linear, x in zip(self.linears, (query, key, value)))
        x, self.attn = attention(q, k, v, mask=mask, dropout=self.dropout)
        return self.linears[3](x.transpose(1, 2).flatten(2))
