# misconception: biases-not-copied
# Copies the weights and no biases.
def load_torch_weights(mha, torch_mha):
    with torch.no_grad():
        for linear, weight in zip(mha.linears, torch_mha.in_proj_weight.chunk(3)):
            linear.weight.copy_(weight)
        mha.linears[3].weight.copy_(torch_mha.out_proj.weight)
