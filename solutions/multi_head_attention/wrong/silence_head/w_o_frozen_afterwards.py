# misconception: silenced-and-frozen
# W_O no longer asks for a gradient.
def silence_head(mha, head):
    mha.linears[3].weight.requires_grad_(False)
    mha.linears[3].weight[:, head * mha.d_k : (head + 1) * mha.d_k] = 0
