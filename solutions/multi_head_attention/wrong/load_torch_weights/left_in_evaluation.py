# misconception: mode-changed-when-loaded
# Leaves mha in evaluation.
def load_torch_weights(mha, torch_mha):
    mha.eval()
    weights = (*torch_mha.in_proj_weight.chunk(3), torch_mha.out_proj.weight)
    biases = (*torch_mha.in_proj_bias.chunk(3), torch_mha.out_proj.bias)
    with torch.no_grad():
        for linear, weight, bias in zip(mha.linears, weights, biases, strict=True):
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
