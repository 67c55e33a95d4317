# A parametrization of W_O's weight that keeps the other heads' columns.
from torch.nn.utils import parametrize


class Keep(nn.Module):
    def __init__(self, keep):
        super().__init__()
        self.register_buffer("keep", keep)

    def forward(self, weight):
        return weight * self.keep


def silence_head(mha, head):
    keep = torch.ones_like(mha.linears[-1].weight[:1])
    keep[:, head * mha.d_k : (head + 1) * mha.d_k] = 0
    parametrize.register_parametrization(mha.linears[-1], "weight", Keep(keep))
