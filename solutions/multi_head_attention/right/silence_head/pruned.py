# nn.utils.prune: the weight becomes a product of a parameter and a mask.
from torch.nn.utils import prune


def silence_head(mha, head):
    keep = torch.ones_like(mha.linears[-1].weight)
    keep[:, head * mha.d_k : (head + 1) * mha.d_k] = 0
    prune.custom_from_mask(mha.linears[-1], "weight", keep)
