# misconception: linear-per-head
# Counts full-width linears for every head (tensorflow/tensor2tensor#1582).
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
    return (3 * h + 1) * (d_model * d_model + d_model)
