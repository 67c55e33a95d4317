# F.dropout with training=self.training and self.dropout.p; setattr-style parameters from one call of nn.Linear each.
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super(MultiHeadedAttention, self).__init__()
        if d_model // h * h != d_model:
            raise ValueError("heads of unequal width")
        self.h, self.d_k = h, d_model // h
        W_Q = nn.Linear(d_model, d_model)
        W_K = nn.Linear(d_model, d_model)
        W_V = nn.Linear(d_model, d_model)
        W_O = nn.Linear(d_model, d_model)
        self.linears = nn.ModuleList((W_Q, W_K, W_V, W_O))
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        W_Q, W_K, W_V, W_O = self.linears
        B, Tq = query.shape[:2]
        shape = (B, -1, self.h, self.d_k)
        Q, K, V = W_Q(query).reshape(shape), W_K(key).reshape(shape), W_V(value).reshape(shape)
        scores = Q.transpose(1, 2) @ K.permute(0, 2, 3, 1) / self.d_k**0.5
        if mask is not None:
            scores = scores + torch.where(mask.unsqueeze(1) == 0, -1e9, 0.0).to(scores.dtype)
        self.attn = F.dropout(F.softmax(scores, dim=-1), p=self.dropout.p, training=self.training)
        return W_O((self.attn @ V.transpose(1, 2)).transpose(1, 2).contiguous().view(B, Tq, -1))
