# misconception: sizes-not-kept
# d_k holds the number of heads; forward takes the width from elsewhere.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.d_k = h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        B = query.size(0)
        query, key, value = [
            x.view(B, -1, self.h, x.size(-1) // self.h).transpose(1, 2)
            for x in (self.linears[0](query), self.linears[1](key), self.linears[2](value))
        ]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        x = x.transpose(1, 2).contiguous().flatten(2)
        return self.linears[-1](x)
