"""The moving average from PyTorch's own pooling."""

import torch.nn.functional as F


def moving_average(x, window):
    pooled = F.avg_pool1d(x.unsqueeze(1), window, stride=1)
    return pooled.squeeze(1)
