# misconception: gradient-cut
# The parts are detached.
def mix_heads(heads, weight, bias):
    B, h, T, d_k = heads.shape
    blocks = torch.stack(weight.chunk(h, dim=1))
    parts = heads @ blocks.mT
    return parts.detach(), parts.sum(1) + bias
