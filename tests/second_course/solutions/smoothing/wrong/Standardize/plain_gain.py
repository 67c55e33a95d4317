# misconception: gain-is-no-parameter
# The gain is a plain attribute.
class Standardize(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window, self.gain = window, 1.0

    def forward(self, x):
        smooth = moving_average(x, self.window)
        centred = smooth - smooth.mean(-1, keepdim=True)
        return self.gain * centred / smooth.std(-1, keepdim=True, correction=0)
