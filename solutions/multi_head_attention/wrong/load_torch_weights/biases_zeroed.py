# misconception: biases-not-copied
# Copies the weights and sets the biases to 0.
def load_torch_weights(mha, torch_mha):
    with torch.no_grad():
        for linear, weight in zip(mha.linears, (*torch_mha.in_proj_weight.chunk(3), torch_mha.out_proj.weight)):
            linear.weight.copy_(weight)
            linear.bias.zero_()
