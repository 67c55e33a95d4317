# einsum over blocks.
def mix_heads(heads, weight, bias):
    h, d_k = heads.shape[1], heads.shape[3]
    blocks = weight.reshape(-1, h, d_k)  # (d_model, h, d_k)
    parts = torch.einsum("bhtd,mhd->bhtm", heads, blocks)
    return parts, torch.einsum("bhtd,mhd->btm", heads, blocks) + bias
