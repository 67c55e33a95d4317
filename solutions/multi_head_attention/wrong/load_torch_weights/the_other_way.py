# misconception: copied-the-other-way
# Copies mha's weights into torch_mha.
def load_torch_weights(mha, torch_mha):
    with torch.no_grad():
        torch_mha.in_proj_weight.copy_(torch.cat([linear.weight for linear in mha.linears[:3]]))
        torch_mha.in_proj_bias.copy_(torch.cat([linear.bias for linear in mha.linears[:3]]))
        torch_mha.out_proj.weight.copy_(mha.linears[3].weight)
        torch_mha.out_proj.bias.copy_(mha.linears[3].bias)
