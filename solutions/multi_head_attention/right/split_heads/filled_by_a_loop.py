# A loop that fills a new tensor of the input's kind.
def split_heads(x, h):
    B, T, D = x.shape
    d_k = D // h
    heads = x.new_zeros(B, h, T, d_k)
    for i in range(h):
        heads[:, i] = x[..., i * d_k : (i + 1) * d_k]
    return heads
