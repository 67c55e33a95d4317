# misconception: batch-axis-lost
# Joins sentences and tokens too: (B·T, h·d_k).
def merge_heads(x):
    return x.transpose(1, 2).reshape(-1, x.size(1) * x.size(3))
