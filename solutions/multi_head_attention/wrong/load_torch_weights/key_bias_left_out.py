# misconception: key-bias-left-out
# Seven of the eight tensors: a softmax ignores W_K's bias.
def load_torch_weights(mha, torch_mha):
    with torch.no_grad():
        for linear, weight in zip(mha.linears, (*torch_mha.in_proj_weight.chunk(3), torch_mha.out_proj.weight)):
            linear.weight.copy_(weight)
        b_q, _, b_v = torch_mha.in_proj_bias.chunk(3)
        mha.linears[0].bias.copy_(b_q)
        mha.linears[2].bias.copy_(b_v)
        mha.linears[3].bias.copy_(torch_mha.out_proj.bias)
