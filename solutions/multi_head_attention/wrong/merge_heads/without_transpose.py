# misconception: merged-without-transpose
# Joins the axes as they are (jsbaan/transformer-from-scratch#6, ajhalthor/Transformer-Neural-Network#4, 649453932/Chinese-Text-Classification-Pytorch#10).
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.contiguous().view(B, T, h * d_k)
