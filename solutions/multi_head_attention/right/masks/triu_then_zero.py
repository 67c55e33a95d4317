# triu(1) == 0, as in the Annotated Transformer.
def padding_mask(tokens: torch.Tensor, pad: int) -> torch.Tensor:
    return (tokens != pad).unsqueeze(-2)


def causal_mask(size: int, device=None) -> torch.Tensor:
    return torch.triu(torch.ones((1, size, size), device=device), diagonal=1).type(torch.uint8) == 0


def share_across_heads(mask: torch.Tensor) -> torch.Tensor:
    return mask[:, None, :, :]
