# misconception: dtype-not-kept
# Fills a tensor of zeros, which is float32.
def split_heads(x, h):
    B, T, d_model = x.shape
    d_k = d_model // h
    heads = torch.zeros(B, h, T, d_k, device=x.device)
    for i in range(h):
        heads[:, i] = x[:, :, i * d_k : (i + 1) * d_k]
    return heads
