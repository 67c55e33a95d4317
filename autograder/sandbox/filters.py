"""What a child may not do even inside its room: system calls, files, privileges, amounts.

The trusted side builds the program of system calls once, with libseccomp; a child loads it with one call.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
import tempfile
import time
from collections.abc import Iterable, Sequence

from autograder.observations import Limits

# Refused with "not permitted". Everything else a Python process may need stays allowed.
_REFUSED = (
    # other programs and processes
    *("execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise"),
    *("kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "setns", "unshare", "tkill", "rt_sigqueueinfo"),
    *("rt_tgsigqueueinfo", "setpriority", "ioprio_set", "sched_setscheduler", "sched_setparam", "sched_setattr"),
    # the network, and sockets of any kind but a pair of them
    *("socket", "connect", "bind", "listen", "accept", "accept4"),
    # file systems
    *("mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("mount_setattr", "name_to_handle_at", "open_by_handle_at", "quotactl", "swapon", "swapoff", "fanotify_init"),
    # memory that no limit counts
    *("memfd_create", "memfd_secret", "shmget", "shmat", "msgget", "semget", "mq_open"),
    # parts of the kernel that a mistake is likeliest to be found in
    *("bpf", "io_uring_setup", "io_uring_enter", "io_uring_register", "perf_event_open", "userfaultfd", "keyctl"),
    *("add_key", "request_key", "personality", "modify_ldt", "vm86", "lookup_dcookie", "migrate_pages", "move_pages"),
    # the machine
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "acct", "syslog"),
    *("settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname", "iopl", "ioperm"),
    *("vhangup", "nfsservctl", "uselib", "ustat", "sysfs"),
)
_CLONE_THREAD = 0x10000
_MYSELF = 0x5EAF00D5  # stands in the program for the number of the process that will load it
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C


@functools.lru_cache(maxsize=1)
def system_call_program() -> bytes | None:
    """The program for this machine's system calls; None where libseccomp is missing.

    The calls of another architecture end the process. Threads may be started, processes not.
    """
    try:
        import pyseccomp as library
    except (ImportError, OSError, RuntimeError):
        return None
    refuse = library.ERRNO(errno.EPERM)
    program = library.SyscallFilter(library.ALLOW)
    for name in _REFUSED:
        try:
            number = library.resolve_syscall(library.system_arch(), name)
        except (OSError, ValueError):
            continue
        if number >= 0:
            program.add_rule(refuse, name)
    # glibc falls back to clone, whose flags a filter can read.
    program.add_rule(library.ERRNO(errno.ENOSYS), "clone3")
    program.add_rule(refuse, "clone", library.Arg(0, library.MASKED_EQ, _CLONE_THREAD, 0))
    # An event loop wakes itself through a pair of local sockets; top-level await needs one.
    program.add_rule(refuse, "socketpair", library.Arg(0, library.NE, 1))
    # A signal may go to oneself, and so may a change of limits or processors (number 0 is the caller).
    for name in ("kill", "tgkill"):
        program.add_rule(refuse, name, library.Arg(0, library.NE, _MYSELF))
    for name in ("prlimit64", "sched_setaffinity"):
        program.add_rule(refuse, name, library.Arg(0, library.NE, 0))
    for request in (_TIOCSTI, _TIOCLINUX):
        program.add_rule(refuse, "ioctl", library.Arg(1, library.MASKED_EQ, 0xFFFFFFFF, request))
    with tempfile.TemporaryFile() as file:
        program.export_bpf(file)
        file.seek(0)
        return file.read()


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


_PR_CAPBSET_DROP, _PR_SET_SECCOMP, _PR_SET_SECUREBITS, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 24, 22, 28, 38, 47
_SECCOMP_MODE_FILTER, _PR_CAP_AMBIENT_CLEAR_ALL = 2, 4
_CAPABILITY_VERSION = 0x20080522
_SECURE = 0x2F  # NOROOT, NO_SETUID_FIXUP and their locks, KEEP_CAPS locked off: being id 0 gives nothing any more
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_CREATE_VERSION, _PATH_BENEATH = 1, 1
_READ_FILE, _READ_FOLDER, _WRITE_FILE, _TRUNCATE, _DEVICE_CALLS = 1 << 2, 1 << 3, 1 << 1, 1 << 14, 1 << 15
_FILE_RIGHTS_BY_VERSION = (0, 13, 14, 15, 15, 16)  # how many of the rights exist, by version of the interface
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6


@functools.lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def refuse_system_calls(program: bytes) -> None:
    """Loads a program of `system_call_program`. For good: what this process starts has it too."""
    program = program.replace(struct.pack("=I", _MYSELF), struct.pack("=I", os.getpid()))
    filter_ = _Program(len(program) // 8, program)
    _check(_libc().prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0), "seccomp")


def drop_capabilities() -> None:
    """Gives up every capability for good, whatever this process is or executes."""
    libc = _libc()
    _check(libc.prctl(_PR_SET_SECUREBITS, _SECURE, 0, 0, 0), "securebits")
    for capability in range(64):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # past the last one that this kernel knows
    _check(libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "ambient capabilities")
    header = _CapabilityHeader(_CAPABILITY_VERSION, 0)
    _check(libc.capset(ctypes.byref(header), (ctypes.c_uint32 * 6)()), "capset")


def forbid_new_privileges() -> None:
    """No program that is executed from here on gains anything."""
    _check(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def landlock_version() -> int:
    """Version of the kernel's Landlock; 0 where it has none."""
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, 0, _CREATE_VERSION)))


def allow_files_only(version: int, readable: Sequence[str], writable: Sequence[str], folder: str) -> None:
    """Landlock: `readable` can be read, `writable` files be written to, `folder` be used in full. Nothing else opens.

    No network connection, and no signal or abstract socket to the outside, where this version knows them.
    """
    libc = _libc()
    files = (1 << _FILE_RIGHTS_BY_VERSION[min(version, len(_FILE_RIGHTS_BY_VERSION) - 1)]) - 1
    rules = _Ruleset(files, 3 if version >= _NETWORK_SINCE else 0, 3 if version >= _SCOPES_SINCE else 0)
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _NETWORK_SINCE else 8
    ruleset = _check(libc.syscall(_CREATE_RULESET, ctypes.byref(rules), size, 0), "landlock")
    try:
        _allow(ruleset, readable, _READ_FILE | _READ_FOLDER, files)
        _allow(ruleset, writable, _READ_FILE | _WRITE_FILE | _TRUNCATE | _DEVICE_CALLS, files)
        _allow(ruleset, [folder], files & ~1, files)  # but no program is executed from there
        _check(libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, paths: Iterable[str], rights: int, known: int) -> None:
    for path in paths:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            wanted = (
                rights if os.path.isdir(path) else rights & (1 | _READ_FILE | _WRITE_FILE | _TRUNCATE | _DEVICE_CALLS)
            )
            rule = _Beneath(wanted & known, place)
            _check(_libc().syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0), f"landlock {path}")
        finally:
            os.close(place)


def limit(limits: Limits, *, processes: bool) -> bool:
    """Sets what the kernel counts for a process. False where this system refused one of them.

    processes: also how many processes and threads. That is counted per user, so it only makes sense in a user
    namespace of one's own.
    """
    try:
        import resource
    except ImportError:
        return False
    # What a process that was not forked has spent on starting does not count.
    seconds = limits.cpu_seconds + int(time.process_time())
    wanted = [
        # The kernel asks at the first number and kills at the second.
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        (resource.RLIMIT_CORE, 0, 0),
    ]
    if limits.memory_bytes:
        wanted.append((resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes))
    if processes:
        wanted.append((resource.RLIMIT_NPROC, limits.processes, limits.processes))
    complete = True
    for what, soft, hard in wanted:
        try:
            resource.setrlimit(what, (soft, hard))
        except (OSError, ValueError):
            complete = False
    return complete
