# baddbmm with an additive mask.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        if d_model % h:
            raise ValueError(f"{d_model} % {h} != 0")
        self.h = h
        self.d_k = d_model // h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
        self.dropout = nn.Dropout(p=dropout)
        self.attn = None

    def split(self, x):
        return x.unflatten(-1, (self.h, self.d_k)).transpose(1, 2).flatten(0, 1)

    def forward(self, query, key, value, mask=None):
        B, Tq, Tk = query.size(0), query.size(1), key.size(1)
        q, k, v = [self.split(linear(x)) for linear, x in zip(self.linears, [query, key, value])]
        bias = q.new_zeros(B, self.h, Tq, Tk)
        if mask is not None:
            bias = bias.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        scores = torch.baddbmm(bias.flatten(0, 1), q, k.transpose(1, 2), alpha=self.d_k**-0.5)
        weights = self.dropout(scores.softmax(dim=-1))
        self.attn = weights.unflatten(0, (B, self.h))
        x = torch.bmm(weights, v).unflatten(0, (B, self.h)).transpose(1, 2).flatten(2)
        return self.linears[3](x)
