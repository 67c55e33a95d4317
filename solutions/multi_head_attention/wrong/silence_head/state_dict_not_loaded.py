# misconception: change-on-a-copy
# Changes cloned numbers and never loads them.
def silence_head(mha, head):
    state = {name: number.clone() for name, number in mha.state_dict().items()}
    state["linears.3.weight"][:, head * mha.d_k : (head + 1) * mha.d_k] = 0
