# misconception: merged-along-tokens
# Joins heads and tokens: (B, h·T, d_k).
def merge_heads(x):
    return x.flatten(1, 2)
