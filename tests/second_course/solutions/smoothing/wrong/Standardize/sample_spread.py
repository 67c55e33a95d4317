# misconception: sample-spread
# Uses torch's default correction.
class Standardize(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window, self.gain = window, nn.Parameter(torch.ones(()))

    def forward(self, x):
        smooth = moving_average(x, self.window)
        return self.gain * (smooth - smooth.mean(-1, keepdim=True)) / smooth.std(-1, keepdim=True)
