# misconception: biases-not-copied
# Copies everything but the bias of W_O.
def load_torch_weights(mha, torch_mha):
    with torch.no_grad():
        for linear, weight, bias in zip(mha.linears, torch_mha.in_proj_weight.chunk(3), torch_mha.in_proj_bias.chunk(3)):
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
        mha.linears[3].weight.copy_(torch_mha.out_proj.weight)
