# torch.vmap over the sentences.
def split_heads(x, h):
    return torch.vmap(lambda one: one.reshape(one.size(0), h, -1).transpose(0, 1))(x)
