# Counts head by head: h blocks of every linear.
def predict_shapes(batch, tokens, d_model, h):
    d_k, left = divmod(d_model, h)
    assert left == 0
    return {
        "projected": (batch, tokens, h * d_k),
        "viewed": (batch, tokens, h, d_k),
        "heads": (batch, h, tokens, d_k),
        "scores": (batch, h, tokens, tokens),
        "context": (batch, h, tokens, d_k),
        "merged": (batch, tokens, h * d_k),
        "output": (batch, tokens, h * d_k),
    }


def predict_parameters(d_model, h):
    d_k = d_model // h
    per_head = 3 * (d_model * d_k + d_k) + d_k * d_model  # three blocks with biases, one block of W_O
    return float(h * per_head + d_model)
