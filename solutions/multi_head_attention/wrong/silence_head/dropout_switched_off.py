# misconception: more-than-the-head-changed
# Switches dropout off.
@torch.no_grad()
def silence_head(mha, head):
    mha.dropout.p = 0.0
    mha.linears[-1].weight[:, head * mha.d_k : (head + 1) * mha.d_k] = 0
