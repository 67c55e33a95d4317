"""System calls of Linux that put a process into a room of its own. The standard library only; nothing here is secret.

Every function raises OSError with the name of the call when the kernel refuses it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import sys
from collections.abc import Iterable
from typing import Any

NEWNS = 0x00020000  # mount
NEWUTS = 0x04000000
NEWIPC = 0x08000000
NEWUSER = 0x10000000
NEWPID = 0x20000000
NEWNET = 0x40000000

_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT = 1, 2, 4, 8, 32
_NOATIME, _NODIRATIME, _RELATIME = 1 << 10, 1 << 11, 1 << 21
_BIND, _RECURSIVE, _PRIVATE = 1 << 12, 1 << 14, 1 << 18
_DETACH = 2

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SCRATCH = "/scratch"  # a folder in memory, the only place that can be written to

_libc: Any = ctypes.CDLL(None, use_errno=True) if sys.platform != "win32" else None


def check(result: int, what: str) -> None:
    """Raises OSError when a call of the C library says that it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leaves the namespaces that `flags` name for new ones."""
    check(_libc.unshare(flags), "unshare")


def enter_pid_namespace(pidfd: int) -> None:
    """Children of this process are born into the pid namespace of the process behind `pidfd`."""
    check(_libc.setns(pidfd, NEWPID), "setns")


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """mount(2)."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    check(_libc.mount(*encoded[:3], ctypes.c_ulong(flags), encoded[3]), f"mount {target}")


def mount_scratch(size: int) -> None:
    """An empty folder in memory over the scratch folder."""
    options = f"size={size},nr_inodes=4096,mode=0700"
    mount("tmpfs", SCRATCH, "tmpfs", _NOSUID | _NODEV, options)


def die_with_parent() -> None:
    """The kernel kills this process when the one that made it ends."""
    check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")


def be_inspectable() -> None:
    """Others with the same id and rights may enter the namespaces of this process, and of those it forks.

    Becoming someone else had taken that away.
    """
    check(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")


def write(path: str, text: str) -> None:
    """Writes to a file that exists already, such as those of /proc."""
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def unowned_id() -> int | None:
    """A user id that this process may become and that owns nothing here; None where there is none.

    Ids are mapped in a container: only those that /proc/self/uid_map lists exist.
    """
    import pwd

    owners = {entry.pw_uid for entry in pwd.getpwall()}
    best = None
    with open("/proc/self/uid_map", encoding="ascii") as lines:
        for line in lines:
            first, _, count = (int(word) for word in line.split())
            last = min(first + count, 1 << 31) - 1
            # Far from both ends of a large range: neither people nor the ranges of containers stand there.
            candidate = first + (last - first) * 7 // 8
            if last - first > 1000 and candidate not in owners:
                best = candidate
    return best


def map_to_self(uid: int, gid: int) -> None:
    """In a new user namespace: id 0 stands for `uid` and `gid` outside, and no other id exists."""
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"0 {uid} 1")
    write("/proc/self/gid_map", f"0 {gid} 1")


def become_unowned(number: int) -> None:
    """From real root into a user namespace whose only id is one that owns nothing, and which is id 0 in there.

    The mapping is written by a helper that stays outside, since only that one still has the right to.
    """
    os.setgroups([])
    me = os.getpid()
    ready, tell_ready = os.pipe()
    done, tell_done = os.pipe()
    helper = os.fork()
    if helper == 0:
        code = 1
        try:
            os.close(tell_ready)
            if os.read(ready, 1):
                write(f"/proc/{me}/uid_map", f"0 {number} 1")
                write(f"/proc/{me}/gid_map", f"0 {number} 1")
                os.write(tell_done, b".")
                code = 0
        finally:
            os._exit(code)
    os.close(tell_done)
    try:
        unshare(NEWUSER)
        os.write(tell_ready, b".")
        if not os.read(done, 1):
            raise PermissionError("the ids of a new user namespace cannot be mapped")
    finally:
        for handle in (ready, tell_ready, done):
            os.close(handle)
        os.waitpid(helper, 0)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def build_view(
    base: str, allowed: Iterable[str], links: Iterable[tuple[str, str]], devices: Iterable[str], *, with_proc: bool
) -> None:
    """Makes `allowed`, readable at their own paths, all that exists.

    base: an empty folder that exists. allowed: folders and files without symbolic links in their paths, none inside
    another; what is mounted inside them does not come along. links: symbolic links to make, as (path, target).
    devices: those of `DEVICES`, and more where more are asked for. with_proc: bring /proc along, for a second view to
    be built inside the first.

    Without it the view is final: read-only, with an empty scratch folder of a megabyte.
    """
    mount(None, "/", None, _RECURSIVE | _PRIVATE)
    mount("tmpfs", base, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=1m")
    for path in allowed:
        _bind(path, base + path, _RDONLY | _NOSUID | _NODEV)
    for device in devices:
        _bind(device, base + device, 0)
    for link, target in links:
        os.makedirs(os.path.dirname(base + link), 0o755, exist_ok=True)
        if not os.path.lexists(base + link):
            os.symlink(target, base + link)
    for folder in ("/proc", SCRATCH, "/old"):
        os.makedirs(base + folder, 0o755, exist_ok=True)
    if with_proc:
        mount("/proc", base + "/proc", None, _BIND | _RECURSIVE)
    else:
        if not os.path.lexists(base + "/tmp"):  # a name inside the view
            os.symlink(SCRATCH, base + "/tmp")
        mount("tmpfs", base + SCRATCH, "tmpfs", _NOSUID | _NODEV, "size=1m,mode=0700")
    os.chdir(base)
    number = _PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise OSError(f"the number of pivot_root is not known on {platform.machine()}")
    check(_libc.syscall(number, b".", b"old"), "pivot_root")
    os.chdir("/")
    check(_libc.umount2(b"/old", _DETACH), "umount2")
    os.rmdir("/old")
    if not with_proc:
        mount(None, "/", None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV)


def _bind(source: str, target: str, flags: int) -> None:
    if os.path.isdir(source):
        os.makedirs(target, 0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
    mount(source, target, None, _BIND)
    if flags:
        mount(None, target, None, _BIND | _REMOUNT | flags | _flags_kept(target))


def _flags_kept(path: str) -> int:
    """Flags that a mount has. A user namespace may not clear them when it mounts again."""
    flags = os.statvfs(path).f_flag
    pairs = (
        (os.ST_NOSUID, _NOSUID),
        (os.ST_NODEV, _NODEV),
        (os.ST_NOEXEC, _NOEXEC),
        (os.ST_NOATIME, _NOATIME),
        (os.ST_NODIRATIME, _NODIRATIME),
        (os.ST_RELATIME, _RELATIME),
    )
    return sum(wanted for seen, wanted in pairs if flags & seen)
