"""Lines of JSON between the trusted side and the zygote, with open files beside them. The standard library only."""

from __future__ import annotations

import array
import json
import os
import socket
import time
from collections.abc import Sequence
from typing import Any

LONGEST_LINE = 16 << 20


class Lost(Exception):
    """The other end is gone, or does not answer in time, or not in JSON."""


class Control:
    """One end of the line. Whoever asks waits for the answer before asking again."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = bytearray()
        self._handles: list[int] = []

    def fileno(self) -> int:
        return self._connection.fileno()

    def close(self) -> None:
        self._connection.close()

    def send(self, message: dict[str, Any], handles: Sequence[int] = (), *, seconds: float | None = None) -> None:
        """Sends one message; `handles` are open files to share. Raises Lost."""
        data = json.dumps(message).encode() + b"\n"
        try:
            self._connection.settimeout(seconds)
            if handles:
                sent = socket.send_fds(self._connection, [data], list(handles))
                data = data[sent:]
            self._connection.sendall(data)
        except (OSError, ValueError) as problem:
            raise Lost(f"The message could not be sent: {problem}") from problem

    def receive(self, *, seconds: float | None = None) -> tuple[dict[str, Any], list[int]]:
        """The next message and the open files that came with it. Raises Lost."""
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            while b"\n" not in self._buffer:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise Lost("No answer came in time.")
                self._connection.settimeout(left)
                self._read()
            line, _, rest = self._buffer.partition(b"\n")
            self._buffer = rest
            message = json.loads(bytes(line))
        except (OSError, ValueError, RecursionError) as problem:
            raise Lost(f"No answer could be read: {problem}") from problem
        if not isinstance(message, dict):
            raise Lost("The answer is not a message.")
        handles, self._handles = self._handles, []
        return message, handles

    def _read(self) -> None:
        data, ancillary, _, _ = self._connection.recvmsg(1 << 16, socket.CMSG_SPACE(4 * 4))
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                numbers = array.array("i")
                numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
                for number in numbers:
                    os.set_inheritable(number, False)
                self._handles.extend(numbers)
        if not data:
            raise Lost("The other end is gone.")
        self._buffer += data
        if len(self._buffer) > LONGEST_LINE:
            raise Lost("The answer is longer than any message.")
