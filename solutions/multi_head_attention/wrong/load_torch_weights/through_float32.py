# misconception: digits-lost
# Through float32: half of the digits of a float64 weight are lost.
def load_torch_weights(mha, torch_mha):
    weights = (*torch_mha.in_proj_weight.chunk(3), torch_mha.out_proj.weight)
    biases = (*torch_mha.in_proj_bias.chunk(3), torch_mha.out_proj.bias)
    with torch.no_grad():
        for linear, weight, bias in zip(mha.linears, weights, biases, strict=True):
            linear.weight.copy_(weight.float())
            linear.bias.copy_(bias.float())
