# misconception: view-after-transpose
# view after transpose, without contiguous (facebookresearch/fairseq#2598, NVIDIA/Megatron-LM#875).
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.transpose(1, 2).view(B, T, h * d_k)
