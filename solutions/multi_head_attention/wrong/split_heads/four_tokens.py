# misconception: width-hard-wired
# T taken for 4: right for one example.
def split_heads(x, h):
    return x.view(x.size(0), 4, h, x.size(-1) // h).transpose(1, 2)
