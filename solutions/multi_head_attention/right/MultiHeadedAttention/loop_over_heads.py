# A loop over the heads, slices of the projections, cat; raise instead of assert.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h: int, d_model: int, dropout: float = 0.1) -> None:
        super().__init__()
        if d_model % h != 0:
            raise ValueError("d_model must be divisible by h")
        self.h, self.d_k = h, d_model // h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def forward(self, query, key, value, mask=None):
        w_q, w_k, w_v, w_o = self.linears
        q, k, v = w_q(query), w_k(key), w_v(value)
        outputs, weights = [], []
        for i in range(self.h):
            part = slice(i * self.d_k, (i + 1) * self.d_k)
            scores = q[..., part] @ k[..., part].transpose(1, 2) / math.sqrt(self.d_k)
            if mask is not None:
                scores = scores.masked_fill(mask == 0, -1e9)
            p = self.dropout(scores.softmax(-1))
            outputs.append(p @ v[..., part])
            weights.append(p)
        self.attn = torch.stack(weights, dim=1)
        return w_o(torch.cat(outputs, dim=-1))
