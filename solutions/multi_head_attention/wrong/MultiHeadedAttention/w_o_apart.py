# misconception: three-linears
# Three in linears; W_O stands beside them.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h, self.d_k = h, d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 3)
        self.out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (split_heads(linear(x), self.h) for linear, x in zip(self.linears, (query, key, value)))
        x, self.attn = attention(q, k, v, mask=None if mask is None else mask.unsqueeze(1), dropout=self.dropout)
        return self.out(merge_heads(x))
