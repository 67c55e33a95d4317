# misconception: wrong-axes-swapped
# Takes the tensor for (h, B, T, d_k) (gazelle93/Transformer-Various-Positional-Encoding#1, hackiey/QAnet-pytorch#2).
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.reshape(h, B, T, d_k).permute(1, 2, 0, 3).reshape(B, T, h * d_k)
