# Type hints, helper function, prints and a warning on the way; returns a list.
import warnings
from typing import Callable, Optional


def _scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    print("q", tuple(q.shape), "k", tuple(k.shape))
    return q @ k.transpose(-1, -2) / math.sqrt(k.shape[-1])


def attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: Optional[torch.Tensor] = None,
    dropout: Optional[Callable[[torch.Tensor], torch.Tensor]] = None,
):
    scores = _scores(query, key)
    if mask is None:
        warnings.warn("no mask", stacklevel=2)
        mask = torch.ones((), dtype=torch.bool, device=scores.device)
    weights = scores.masked_fill(torch.logical_not(mask), float("-inf")).softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return [weights @ value, weights]
