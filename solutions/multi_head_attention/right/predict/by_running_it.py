# Runs it on the meta device and reads the shapes off.
def predict_shapes(batch, tokens, d_model, h):
    x = torch.empty(batch, tokens, d_model, device="meta")
    w = nn.Linear(d_model, d_model, device="meta")
    shapes = {"projected": w(x)}
    shapes["viewed"] = shapes["projected"].view(batch, tokens, h, d_model // h)
    shapes["heads"] = shapes["viewed"].transpose(1, 2)
    shapes["scores"] = shapes["heads"] @ shapes["heads"].transpose(-2, -1)
    shapes["context"] = shapes["scores"] @ shapes["heads"]
    shapes["merged"] = shapes["context"].transpose(1, 2).reshape(batch, tokens, d_model)
    shapes["output"] = w(shapes["merged"])
    return {name: tensor.shape for name, tensor in shapes.items()}


def predict_parameters(d_model, h):
    linears = [nn.Linear(d_model, d_model, device="meta") for _ in range(4)]
    return sum(p.numel() for linear in linears for p in linear.parameters())
