# misconception: sum-not-mean
# Adds the neighbours up.
def moving_average(x, window):
    return x.unfold(-1, window, 1).sum(-1)
