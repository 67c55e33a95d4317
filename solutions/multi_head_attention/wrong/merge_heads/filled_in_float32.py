# misconception: dtype-not-kept
# Fills a tensor of zeros, which is float32.
def merge_heads(x):
    B, h, T, d_k = x.shape
    merged = torch.zeros(B, T, h * d_k, device=x.device)
    for i in range(h):
        merged[:, :, i * d_k : (i + 1) * d_k] = x[:, i]
    return merged
