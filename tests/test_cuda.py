"""The reference gives the same on a GPU; `make test-cuda` prints the table."""

from __future__ import annotations

import cuda_parity
import pytest
import torch

from autograder.course import Source


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_the_reference_agrees_on_a_gpu(source: Source) -> None:
    found = list(cuda_parity.rows(cuda_parity.reference(source), "cuda"))
    assert found and all(row.holds for row in found), [row for row in found if not row.holds]


def test_the_table_holds_on_the_cpu_itself_in_every_dtype(source: Source) -> None:
    found = list(cuda_parity.rows(cuda_parity.reference(source), "cpu"))
    assert {row.dtype for row in found} == {"float32", "float16", "bfloat16"} and len(found) == 27
    assert all(row.holds for row in found), [row for row in found if not row.holds]
    assert any(row.difference > 0 for row in found)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_a_sentence_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert cuda_parity.main() == 0 and "no GPU" in capsys.readouterr().out
