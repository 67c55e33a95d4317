# A loop over the heads with slices.
def merge_heads(x):
    merged = x[:, 0]
    for i in range(1, x.size(1)):
        merged = torch.cat((merged, x[:, i, :, :]), dim=2)
    return merged
