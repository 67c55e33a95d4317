# misconception: nothing-loaded
# load_state_dict with strict=False finds no name in common and loads nothing.
def load_torch_weights(mha, torch_mha):
    mha.load_state_dict(torch_mha.state_dict(), strict=False)
