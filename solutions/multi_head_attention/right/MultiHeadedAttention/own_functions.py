# Calls the learner's own split_heads, merge_heads and share_across_heads; attn kept detached; extra attributes.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0, (d_model, h)
        self.h = h
        self.d_model = d_model
        self.d_k = self.d_v = d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("scale", torch.tensor(1.0), persistent=False)
        self.attn = None

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = share_across_heads(mask)
        q = split_heads(self.linears[0](query), self.h)
        k = split_heads(self.linears[1](key), self.h)
        v = split_heads(self.linears[2](value), self.h)
        x, weights = attention(q, k, v, mask=mask, dropout=self.dropout)
        self.attn = weights.detach()
        del q, k, v
        return self.linears[3](merge_heads(x))
