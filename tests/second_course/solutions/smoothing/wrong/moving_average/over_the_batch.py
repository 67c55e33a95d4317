# misconception: over-the-batch
# Averages over the batch first.
def moving_average(x, window):
    runs = x.mean(0, keepdim=True).expand_as(x).unfold(-1, window, 1)
    return runs[..., 0]
