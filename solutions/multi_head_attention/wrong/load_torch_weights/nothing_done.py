# misconception: nothing-loaded
# Does nothing.
def load_torch_weights(mha, torch_mha):
    pass
