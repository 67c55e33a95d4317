# bmm on (B·h, T, d_k), the mask repeated with repeat_interleave.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert not d_model % h
        self.h = h
        self.d_k = d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def _fold(self, x):
        B, T, _ = x.shape
        return x.reshape(B, T, self.h, self.d_k).permute(0, 2, 1, 3).reshape(B * self.h, T, self.d_k)

    def forward(self, query, key, value, mask=None):
        B, Tq, d_model = query.shape
        q, k, v = self._fold(self.linears[0](query)), self._fold(self.linears[1](key)), self._fold(self.linears[2](value))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.d_k)
        if mask is not None:
            mask = mask.expand(B, -1, -1).repeat_interleave(self.h, dim=0)
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = self.dropout(F.softmax(scores, dim=-1))
        self.attn = weights.view(B, self.h, Tq, -1)
        x = torch.bmm(weights, v).view(B, self.h, Tq, self.d_k).transpose(1, 2).reshape(B, Tq, d_model)
        return self.linears[-1](x)
