# misconception: silenced-and-frozen
# Freezes the module to be allowed to write, and leaves it in evaluation.
def silence_head(mha, head):
    mha.requires_grad_(False)
    mha.linears[-1].weight[:, head * mha.d_k : (head + 1) * mha.d_k] = 0
    mha.eval()
