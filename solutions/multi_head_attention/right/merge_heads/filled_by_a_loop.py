# A loop that fills a new tensor of the input's kind.
def merge_heads(x):
    B, h, T, d_k = x.shape
    merged = torch.zeros(B, T, h * d_k, dtype=x.dtype, device=x.device)
    for i in range(h):
        merged[:, :, i * d_k : (i + 1) * d_k] = x[:, i]
    return merged
