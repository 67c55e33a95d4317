# misconception: mask-repeated-in-the-wrong-order
# repeat where repeat_interleave is meant: heads follow another sentence's mask (ArrowLuo/CLIP4Clip#22, line/lighthouse#77).
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h = h
        self.d_k = d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def forward(self, query, key, value, mask=None):
        B, Tq, d_model = query.shape
        query, key, value = [
            linear(x).view(B, -1, self.h, self.d_k).transpose(1, 2).reshape(B * self.h, -1, self.d_k)
            for linear, x in zip(self.linears, (query, key, value))
        ]
        if mask is not None:
            mask = mask.expand(B, -1, -1).repeat(self.h, 1, 1)
        x, weights = attention(query, key, value, mask=mask, dropout=self.dropout)
        self.attn = weights.view(B, self.h, Tq, -1)
        x = x.view(B, self.h, Tq, self.d_k).transpose(1, 2).reshape(B, Tq, d_model)
        return self.linears[-1](x)
