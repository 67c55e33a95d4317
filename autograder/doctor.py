"""What this machine offers: isolation, torch, CUDA, nbgrader, a browser."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

import torch

from autograder.sandbox import NoIsolation, SandboxBroken, open_sandbox


def findings() -> Iterator[tuple[str, str]]:
    """(what, how it stands), one at a time."""
    yield "python", f"{platform.python_version()} on {platform.system()} {platform.release()}"
    yield "torch", f"{torch.__version__}, kernels for {torch.backends.cpu.get_cpu_capability()}"
    yield "isolation", _isolation()
    yield (
        "cuda",
        torch.cuda.get_device_name() if torch.cuda.is_available() else "none: parity of CPU and GPU is not tried",
    )
    yield "nbgrader", _version("nbgrader")
    yield "book", _version("jupyter-book")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    yield "browser", browser or "none: the browser tests are skipped"


def _isolation() -> str:
    try:
        with open_sandbox(Path(os.devnull)) as sandbox:
            layers = ", ".join(f"{name} {'in force' if on else 'MISSING'}" for name, on in sandbox.layers.items())
            return f"{sandbox.isolation} ({layers})"
    except (NoIsolation, SandboxBroken) as problem:
        return f"none: {problem} Grading refuses without --unsandboxed."


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
