# misconception: batch-axis-lost
# Takes the first sentence only.
def split_heads(x, h):
    B, T, d_model = x.shape
    return x[:1].view(1, T, h, d_model // h).transpose(1, 2)
