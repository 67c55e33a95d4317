# misconception: copies-share-weights
# A list that repeats one module (zalandoresearch/pytorch-vq-vae#2, linkedin/Liger-Kernel#269).
def clones(module, N):
    return nn.ModuleList([module] * N)
