# misconception: width-hard-wired
# 64 for d_k, as in the paper.
def split_heads(x, h):
    return x.view(x.size(0), -1, h, 64).transpose(1, 2)
