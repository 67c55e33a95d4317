"""What a learner's code may read: the interpreter, its packages, and the few files of the engine that run beside it."""

from __future__ import annotations

import glob
import importlib.util
import os
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.sandbox.engine import CHILD_SIDE
from autograder.sandbox.namespaces import SCRATCH

ENGINE = Path(__file__).resolve().parent.parent
_LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_PROCESSOR = "/proc/cpuinfo"  # without it PyTorch takes slower kernels, whose results differ in the last digits
_DRIVER = ("/proc/devices", "/proc/driver/nvidia/params", "/proc/driver/nvidia/version")
_PACKAGES = ("torch", "numpy", "IPython", "traitlets", "safetensors")
# Settings that change what PyTorch computes, or that the interpreter needs to start at all.
_PASSED_ON = (
    "ATEN_CPU_CAPABILITY",
    "DNNL_MAX_CPU_ISA",
    "ONEDNN_MAX_CPU_ISA",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SYSTEMROOT",
)
_MOST_LINKS = 40


@dataclass(frozen=True)
class View:
    """What exists in the room.

    allowed: real paths of folders and files, none inside another. links: symbolic links, as (path, target).
    """

    allowed: tuple[str, ...]
    links: tuple[tuple[str, str], ...]

    def shows(self, path: str | os.PathLike[str]) -> str | None:
        """The allowed folder in which `path` lies, if there is one."""
        real = os.path.realpath(path)
        return next((folder for folder in self.allowed if _inside(real, folder)), None)


def view() -> View:
    """The view for the interpreter that runs now."""
    links: dict[str, str] = {}
    wanted = [path for prefix in sorted(_prefixes()) for path in _parts(prefix)]
    wanted += _LIBRARIES
    wanted += [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    wanted += [sys.executable, getattr(sys, "_base_executable", sys.executable)]
    if sys.base_prefix.startswith("/nix/store/"):
        wanted.append("/nix/store")
    wanted += packages()
    wanted += [str(ENGINE / name) for name in CHILD_SIDE]
    wanted.append(_PROCESSOR)
    real = {resolve(path, links) for path in wanted}
    allowed = _outermost(path for path in real if os.path.exists(path))
    inside = [(link, target) for link, target in sorted(links.items()) if not _any_inside(link, allowed)]
    return View(tuple(allowed), tuple(inside))


def gpu_devices() -> list[str]:
    """The devices through which CUDA reaches the GPUs of this machine; none where there is none."""
    found = [path for path in glob.glob("/dev/nvidia*") if stat.S_ISCHR(os.stat(path).st_mode)]
    return sorted(found)


def with_gpu(seen: View) -> View:
    """The same view with what CUDA reads of its driver."""
    there = [path for path in _DRIVER if os.path.exists(path) and seen.shows(path) is None]
    return replace(seen, allowed=tuple(sorted([*seen.allowed, *there])))


def packages() -> list[str]:
    """Folders to import from, whether or not the interpreter looks there by itself."""
    return sorted({folder for name in _PACKAGES if (folder := _home(name)) is not None})


def bubblewrap(
    program: str, seen: View, devices: Sequence[str], variables: Mapping[str, str], scratch_bytes: int
) -> list[str]:
    """The command line that has bubblewrap show the same view, without any capability, to what is appended to it."""
    command = [program, "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    for name, value in variables.items():
        command += ["--setenv", name, value]
    for path in seen.allowed:
        command += ["--ro-bind", path, path]
    for link, target in seen.links:
        command += ["--symlink", target, link]
    for device in devices:
        command += ["--dev-bind", device, device]
    command += ["--size", str(scratch_bytes), "--perms", "0700", "--tmpfs", SCRATCH, "--symlink", SCRATCH, "/tmp"]
    return [*command, "--remount-ro", "/", "--chdir", SCRATCH]


def environment(scratch: str) -> dict[str, str]:
    """The variables of the zygote and its children: none of ours but those that change what is computed."""
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        "HOME": scratch,
        "TMPDIR": scratch,
        "USER": "learner",
        "LOGNAME": "learner",
        "PATH": "",
        "LANG": "C.UTF-8",
        "IPYTHONDIR": os.path.join(scratch, "ipython"),
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": scratch,
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # The order of a set of strings is the same in each run, so that grades are.
        "PYTHONHASHSEED": "0",
        **passed,
    }


def resolve(path: str, links: dict[str, str]) -> str:
    """The real path, as os.path.realpath gives it; the symbolic links on the way are added to `links`."""
    left = [part for part in os.path.abspath(path).split("/") if part]
    current = "/"
    met = 0
    while left:
        part = left.pop(0)
        if part == "..":
            current = os.path.dirname(current)
            continue
        candidate = os.path.join(current, part)
        if not os.path.islink(candidate) or met >= _MOST_LINKS:
            current = candidate
            continue
        met += 1
        target = os.readlink(candidate)
        links[candidate] = target
        if os.path.isabs(target):
            current = "/"
        left = [piece for piece in target.split("/") if piece and piece != "."] + left
    return current


def _prefixes() -> set[str]:
    return {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}


def _parts(prefix: str) -> list[str]:
    """What an installation of Python needs of its prefix: the rest of the folder may hold anything."""
    parts = ["lib", "lib64", "pyvenv.cfg"]
    if os.path.realpath(prefix) not in ("/", "/usr", "/usr/local"):
        parts.append("bin")
    return [os.path.join(prefix, part) for part in parts]


def _home(package: str) -> str | None:
    """The folder from which a package is imported."""
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if found is None or found.origin is None:
        return None
    return str(Path(found.origin).parent.parent)


def _outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(paths, key=lambda one: one.rstrip("/") + "/"):
        if not _any_inside(path, kept):
            kept.append(path)
    return kept


def _any_inside(path: str, folders: Sequence[str]) -> bool:
    return any(_inside(path, folder) for folder in folders)


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def read_probes(probes: Path) -> Mapping[str, str]:
    """Text of each file of probes by its name: one file, or all of a folder. Raises OSError, UnicodeDecodeError."""
    files = sorted(probes.glob("*.py")) if probes.is_dir() else [probes]
    return {file.name: file.read_text(encoding="utf-8") for file in files}
