# misconception: width-hard-wired
# 512 for the width, as in the paper.
def merge_heads(x):
    return x.transpose(1, 2).contiguous().view(x.size(0), -1, 512)
