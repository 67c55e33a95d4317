# misconception: more-than-the-head-changed
# Leaves the module in evaluation.
@torch.no_grad()
def silence_head(mha, head):
    mha.eval()
    mha.linears[-1].weight[:, head * mha.d_k : (head + 1) * mha.d_k] = 0
