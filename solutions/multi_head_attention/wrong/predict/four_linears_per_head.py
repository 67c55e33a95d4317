# misconception: linear-per-head
# Four full-width linears for every head.
def predict_shapes(batch, tokens, d_model, h):
    d_k = d_model // h
    return {
        "projected": (batch, tokens, d_model),
        "viewed": (batch, tokens, h, d_k),
        "heads": (batch, h, tokens, d_k),
        "scores": (batch, h, tokens, tokens),
        "context": (batch, h, tokens, d_k),
        "merged": (batch, tokens, d_model),
        "output": (batch, tokens, d_model),
    }


def predict_parameters(d_model, h):
    return 4 * h * (d_model * d_model + d_model)
