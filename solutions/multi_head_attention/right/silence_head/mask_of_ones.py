# Multiplies W_O's weight by a row of ones and zeros.
@torch.no_grad()
def silence_head(mha, head):
    keep = torch.ones(mha.h, dtype=mha.linears[3].weight.dtype)
    keep[head] = 0
    mha.linears[3].weight.mul_(keep.repeat_interleave(mha.d_k))
