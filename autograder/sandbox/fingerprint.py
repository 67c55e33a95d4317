"""Shows whether two processes compute alike: PyTorch picks its kernels by what it can learn about the processor."""

from __future__ import annotations

import torch


def fingerprint() -> dict[str, str]:
    """PyTorch's version, the instructions its kernels use, and the bits of a few small results."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(24, 24, generator=generator)
    y = torch.nn.functional.gelu(torch.softmax(x @ x.T, dim=-1) @ x).exp().sum(dim=0)
    return {
        "torch": torch.__version__,
        "kernels": torch.backends.cpu.get_cpu_capability(),
        "numbers": bytes(y.view(torch.uint8).tolist()).hex(),
    }
