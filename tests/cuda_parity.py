"""The reference on the CPU and on a GPU: how far apart are they? Prints a small table; without a GPU, a sentence.

    python tests/cuda_parity.py

float32 is compared with the CPU's float32, TF32 switched off. float16 and bfloat16 are compared with float64, each
within a tolerance of its own: so many times the distance between 1 and the next number of that dtype.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from autograder import solved
from autograder.course import Course, Source

ROOT = Path(__file__).parents[1]
SHAPE = {"batch": 3, "queries": 17, "keys": 23, "h": 4, "d_model": 64}
FLOAT32 = 1e-5  # sums of 64 terms of size 1 in another order; the rules' own tolerance
ROUNDINGS = 16  # how many roundings in a row a short dtype is allowed


@dataclass(frozen=True)
class Row:
    """One line of the table: the largest difference, and how large it may be."""

    what: str
    dtype: str
    difference: float
    allowed: float

    @property
    def holds(self) -> bool:
        """The difference is a number, and small enough."""
        return self.difference <= self.allowed


def reference(source: Source) -> dict[str, Any]:
    """The names that the solved notebook defines."""
    names: dict[str, Any] = {}
    exec(source.assignment.namespace, names)
    for cell in solved.read_solved(source).cells:
        if cell.exercises:
            exec(compile(cell.source, f"<{cell.grade_id}>", "exec"), names)
    return names


def run(names: dict[str, Any], device: str, dtype: torch.dtype, causal: bool) -> dict[str, torch.Tensor]:
    """Output, weights and gradients of the module with the same numbers every time, brought back as float64."""
    generator = torch.Generator().manual_seed(2017)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    mha = names["MultiHeadedAttention"](SHAPE["h"], SHAPE["d_model"], dropout=0.0).eval()
    with torch.no_grad():
        for parameter in mha.parameters():
            parameter.copy_(draw(*parameter.shape) / SHAPE["d_model"] ** 0.5)
    mha.to(device=device, dtype=dtype)
    tokens = {"query": SHAPE["queries"], "key": SHAPE["keys"], "value": SHAPE["keys"]}
    inputs = {
        name: draw(SHAPE["batch"], count, SHAPE["d_model"]).to(device=device, dtype=dtype).requires_grad_()
        for name, count in tokens.items()
    }
    mask = torch.ones(1, SHAPE["queries"], SHAPE["keys"], dtype=torch.bool, device=device)
    output = mha(*inputs.values(), mask=mask.tril(3) if causal else mask)
    direction = draw(*output.shape).to(device=device, dtype=dtype)
    (output * direction).sum().backward()
    found = {"output": output, "weights": mha.attn}
    found.update({f"gradient at {name}": tensor.grad for name, tensor in inputs.items()})
    found.update(
        {
            f"gradient at W_{name}": mha.linears[i].weight.grad for i, name in enumerate("QKVO")
        }  # not b_K: rounding noise
    )
    return {name: tensor.detach().double().cpu() for name, tensor in found.items()}


def rows(names: dict[str, Any], device: str) -> Iterator[Row]:
    """The table for a device."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    cpu = run(names, "cpu", torch.float32, causal=True)
    exact = run(names, "cpu", torch.float64, causal=True)
    for dtype, wanted in ((torch.float32, cpu), (torch.float16, exact), (torch.bfloat16, exact)):
        got = run(names, device, dtype, causal=True)
        for name, expected in wanted.items():
            largest = max(1.0, float(expected.abs().max()))
            tolerance = FLOAT32 if dtype is torch.float32 else ROUNDINGS * torch.finfo(dtype).eps
            difference = float((got[name] - expected).abs().max())
            yield Row(name, str(dtype).removeprefix("torch."), difference, tolerance * largest)


def main() -> int:
    """Print the table. Exit code 1 where a difference is too large."""
    if not torch.cuda.is_available():
        print("There is no GPU here, so parity of CPU and GPU was not tried.")
        return 0
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, TF32 off")
    found = list(rows(reference(Course(ROOT).source("multi_head_attention")), "cuda"))
    for row in found:
        mark = "" if row.holds else "  TOO LARGE"
        print(f"{row.dtype:9} {row.what:18} {row.difference:9.2e}  allowed {row.allowed:8.2e}{mark}")
    return 0 if all(row.holds for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
