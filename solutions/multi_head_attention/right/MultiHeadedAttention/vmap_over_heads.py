# torch.vmap over the heads.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h, self.d_k = h, d_model // h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def forward(self, query, key, value, mask=None):
        q, k, v = (lin(x).unflatten(-1, (self.h, -1)) for lin, x in zip(self.linears, (query, key, value)))

        def scores_of_one_head(q, k):  # (B, Tq, d_k), (B, Tk, d_k)
            scores = q @ k.transpose(1, 2) / math.sqrt(self.d_k)
            return scores if mask is None else torch.where(mask != 0, scores, float("-inf"))

        scores = torch.vmap(scores_of_one_head, in_dims=2, out_dims=1)(q, k)
        self.attn = self.dropout(scores.softmax(-1))
        x = torch.vmap(torch.matmul, in_dims=(1, 2), out_dims=2)(self.attn, v)
        return self.linears[-1](x.flatten(2))
