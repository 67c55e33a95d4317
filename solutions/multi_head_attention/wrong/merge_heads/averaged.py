# misconception: heads-averaged
# The mean over the heads.
def merge_heads(x):
    return x.mean(dim=1)
