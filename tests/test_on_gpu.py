"""`autograder grade --cuda`: what a GPU gives beside the CPU, told without points; and in words where there is none."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from sandbox_support import NAMESPACE, looked, shared, write_probes

from autograder import cli, probes
from autograder.course import Source
from autograder.grading import class_run, on_gpu
from autograder.grading.finding import Found
from autograder.grading.on_gpu import NoGpu, OnGpu
from autograder.observations import Request
from autograder.sandbox import open_sandbox, view

Notebook = Callable[..., bytes]
without_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
# Makes the probes believe that there is a GPU, so that they ask for one and fail.
PRETENDS = "torch.cuda.is_available = lambda: True\ntorch.cuda.get_device_name = lambda: 'none'\n"


@pytest.fixture
def submitted(tmp_path: Path, notebook_with: Notebook) -> Path:
    path = tmp_path / "ada.ipynb"
    path.write_bytes(notebook_with())
    return path


@without_gpu
def test_without_a_gpu_the_option_says_so_and_grades_as_usual(
    submitted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["grade", str(submitted), "--only", "ada", "--seed", "3", "--cuda"]) == 0
    said = capsys.readouterr()
    assert "100 of 100" in said.out
    assert "no CUDA GPU here" in said.err and "Grades do not depend on it." in said.err


def test_the_help_says_what_the_option_opens(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["grade", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "without points" in said and "reaches the GPU's devices" in said


@pytest.mark.parametrize("asked", [True, False])
def test_a_class_is_reported_on_after_it_is_graded_and_only_where_asked(
    submitted: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    asked: bool,
) -> None:
    order = []

    def found(source: Source, found: Any, **settings: Any) -> Iterator[OnGpu]:
        order.append(("on the GPU", [one.student for one in found], settings))
        yield OnGpu("=ada", "attention", "")
        yield OnGpu("=ada", "clones", "=1+1")

    monkeypatch.setattr(class_run, "grade_class", lambda *_, **__: order.append("graded"))
    monkeypatch.setattr(on_gpu, "on_gpu", found)
    command = ["grade", str(submitted), "--output", str(tmp_path), "--seed", "3", *(["--cuda"] if asked else [])]
    assert cli.main(command) == 0
    if not asked:
        assert order == ["graded"] and not (tmp_path / on_gpu.FILE).exists()
        return
    assert order == ["graded", ("on the GPU", ["ada"], {"seed": 3, "unsandboxed": False})]
    said = capsys.readouterr().out
    assert "1 of 2 answers give what they give on the CPU" in said and "=ada, clones: =1+1" in said
    with (tmp_path / on_gpu.FILE).open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1:] == [["'=ada", "attention", "as on the CPU"], ["'=ada", "clones", "'=1+1"]]


@without_gpu
def test_a_gpu_that_cannot_be_reached_from_inside_is_told_with_the_reason(
    source: Source, submitted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(NoGpu, match=r"cannot be used inside the sandbox.*\(\w+: "):
        list(on_gpu.on_gpu(source, [Found("ada", submitted)], seed=3, unsandboxed=False))


@without_gpu
def test_each_answer_is_told_apart_and_a_failure_costs_its_own_line(
    source: Source, submitted: Path, tmp_path: Path, notebook_with: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails, broken = tmp_path / "bob.ipynb", tmp_path / "cleo.ipynb"
    fails.write_bytes(notebook_with({"attention": "pass"}, first=(PRETENDS,)))
    broken.write_bytes(b"<html>")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(on_gpu, "_TRIAL", "pass")
    found = [Found("ada", submitted), Found("bob", fails), Found("cleo", broken)]
    got = {(one.student, one.exercise): one.finding for one in on_gpu.on_gpu(source, found, seed=3, unsandboxed=False)}
    assert got["ada", "attention"] == got["ada", "MultiHeadedAttention"] == ""
    assert "a function or class named `attention`" in got["bob", "attention"]
    assert "Expected no exception" in got["bob", "MultiHeadedAttention"]
    assert "web page" in got["cleo", ""]
    assert len(got) == 5


OPENS = """
import os
try:
    os.close(os.open("/dev/full", os.O_RDWR))
    seen = "opened"
except OSError as problem:
    seen = type(problem).__name__
there = os.path.exists("/dev/tty")
"""


def test_devices_are_in_reach_with_the_option_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "gpu_devices", lambda: ["/dev/full", "/dev/tty"])
    usual = shared()
    assert looked(usual, OPENS, "there") is False
    if usual.layers["landlock"]:
        assert looked(usual, OPENS) == "PermissionError"
    with open_sandbox(write_probes(tmp_path), namespace_code=NAMESPACE, gpu=True, limits=on_gpu.LIMITS) as opened:
        assert looked(opened, OPENS) == "opened" and looked(opened, OPENS, "there") is True
        assert {name for name, there in opened.layers.items() if there} == {
            name for name, there in usual.layers.items() if there
        }


# -- the probes, with the CPU in the GPU's place -----------------------------------------------------------------------

ANSWER = """
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    weights = scores.masked_fill(mask == 0, float("-inf")).softmax(dim=-1)
    if query.dtype == torch.float16:
        value = value {twist}
    return weights @ value, weights
"""


@pytest.mark.parametrize(("twist", "dtype", "apart"), [("", "float32", False), ("", "bfloat16", False),
                                                      ("", "float16", False), ("+ 0.1", "float16", True),
                                                      ("* float('nan')", "float16", True)])  # fmt: skip
def test_the_probe_measures_how_far_a_device_is_from_the_cpu(
    source: Source, monkeypatch: pytest.MonkeyPatch, twist: str, dtype: str, apart: bool
) -> None:
    functions = probes.load_probes(source.assignment.probes)
    monkeypatch.setitem(functions["attend_on_gpu"].__globals__, "GPU", "cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    names: dict[str, Any] = {"torch": torch}
    exec(ANSWER.format(twist=twist), names)
    generator = torch.Generator().manual_seed(5)
    shapes = {"query": (2, 3, 4), "key": (2, 4, 4), "value": (2, 4, 5), "direction": (2, 3, 5)}
    given: dict[str, Any] = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    given["mask"] = torch.ones(1, 3, 4).tril() == 1
    reply = probes.observe(functions, names, Request("e", "c", "attend_on_gpu", {**given, "dtype": dtype}, 1))
    assert reply.problem is None, reply.problem
    value: Any = reply.value
    allowed = 1e-4 if dtype == "float32" else 16 * torch.finfo(getattr(torch, dtype)).eps
    assert value["gpu"] == "a GPU" and (value["largest difference"] <= allowed) is not apart
    assert dtype == "float32" or value["largest difference"] > 0 or apart


# -- on a machine that has one -----------------------------------------------------------------------------------------


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_a_right_answer_gives_on_the_gpu_what_it_gives_on_the_cpu(source: Source, submitted: Path) -> None:
    got = list(on_gpu.on_gpu(source, [Found("ada", submitted)], seed=3, unsandboxed=False))
    assert len(got) == 2 and not [one for one in got if one.finding]
