# misconception: weights-exchanged
# Exchanges the weights of the two modules.
def load_torch_weights(mha, torch_mha):
    weights = (*torch_mha.in_proj_weight.chunk(3), torch_mha.out_proj.weight)
    biases = (*torch_mha.in_proj_bias.chunk(3), torch_mha.out_proj.bias)
    with torch.no_grad():
        for linear, weight, bias in zip(mha.linears, weights, biases):
            for mine, theirs in ((linear.weight, weight), (linear.bias, bias)):
                kept = mine.clone()
                mine.copy_(theirs)
                theirs.copy_(kept)
