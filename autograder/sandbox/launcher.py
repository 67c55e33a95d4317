"""Builds the room in which learners' code runs, and starts the zygote in it.

Run as `python -I -S launcher.py SETTINGS CONTROL`: JSON, and the number of the socket to the trusted side. It uses the
standard library alone and is small, so that the processes it forks are cheap:

- the launcher itself stays outside and waits, so that the trusted side has one process to wait for;
- the keeper, process 1 of the room, makes a chamber for each child: a pid namespace held open by an idle process.
  Killing that process kills all that the chamber holds;
- the zygote is executed by a child of the keeper.

Trouble is told on the control socket, as the zygote would: one line of JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import namespaces  # type: ignore[import-not-found]  # beside this file: the package cannot be imported here


def main() -> None:
    """Reads the settings, leaves every namespace it was born into, and starts the keeper."""
    settings: dict[str, Any] = json.loads(sys.argv[1])
    control = int(sys.argv[2])
    # When memory runs out, what runs in here is to go first. Not every kernel has this file.
    with contextlib.suppress(OSError):
        namespaces.write("/proc/self/oom_score_adj", "1000")
    try:
        base = _leave(settings)
        keeper = os.fork()
    except Exception as problem:
        _tell(control, problem)
        os._exit(1)
    if keeper == 0:
        try:
            namespaces.die_with_parent()
            namespaces.build_view(base, settings["allowed"], settings["links"], settings["devices"], with_proc=False)
            namespaces.be_inspectable()
            _keep(settings, control)
        except Exception as problem:
            _tell(control, problem)
        os._exit(1)
    os.close(control)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: os.kill(keeper, signal.SIGKILL))
    os.waitpid(keeper, 0)
    os._exit(0)


def _leave(settings: dict[str, Any]) -> str:
    """Leaves all namespaces. Returns the folder in which the final view is to be built."""
    rooms: int = namespaces.NEWNS | namespaces.NEWPID | namespaces.NEWNET | namespaces.NEWIPC | namespaces.NEWUTS
    base: str = settings["base"]
    unowned = namespaces.unowned_id() if os.getuid() == 0 else None
    if unowned is None:
        uid, gid = os.getuid(), os.getgid()
        namespaces.unshare(namespaces.NEWUSER | rooms)
        namespaces.map_to_self(uid, gid)
        return base
    # Root can reach what lies under private folders, such as an interpreter below root's home. Afterwards it is nobody.
    namespaces.unshare(namespaces.NEWNS)
    namespaces.build_view(base, settings["allowed"], settings["links"], settings["devices"], with_proc=True)
    namespaces.become_unowned(unowned)
    namespaces.unshare(rooms)
    return str(namespaces.SCRATCH)


def _tell(control: int, problem: Exception) -> None:
    with contextlib.suppress(OSError):
        os.write(control, json.dumps({"refused": str(problem)}).encode() + b"\n")


def _keep(settings: dict[str, Any], control: int) -> None:
    """Starts the zygote, then makes and unmakes chambers as it asks. When the zygote ends, everything does.

    It sends the number of a process that holds a new chamber, or 0 when there is none to be had. The zygote sends that
    number back to be rid of the chamber, and is told when all in it has ended.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    zygote = os.fork()
    if zygote == 0:
        for handle in (control, theirs.fileno()):
            os.set_inheritable(handle, True)
        command = [*settings["command"], str(control), str(theirs.fileno())]
        os.execve(command[0], command, settings["environment"])  # the interpreter that we were given
    os.close(control)
    theirs.close()
    myself = os.pidfd_open(os.getpid())
    while True:
        try:
            holder = _chamber(myself, ours)
        except OSError:
            holder = 0
        ours.send(b"%d" % holder)
        if not ours.recv(32):
            return
        if holder:
            os.kill(holder, signal.SIGKILL)
            os.waitpid(holder, 0)
        ours.send(b"ended")


def _chamber(myself: int, connection: socket.socket) -> int:
    """A process that is alone in a new pid namespace and waits for ever."""
    namespaces.enter_pid_namespace(myself)
    namespaces.unshare(namespaces.NEWPID)
    holder = os.fork()
    if holder == 0:
        connection.close()
        while True:
            signal.pause()
    namespaces.enter_pid_namespace(myself)
    return holder


if __name__ == "__main__":
    main()
