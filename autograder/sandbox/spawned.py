"""A child of its own, for systems that cannot fork: it prepares itself, does one job and ends. Nothing isolates it.

Run as `python spawned.py PORT`, with a word on standard input that tells the trusted side who has connected.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import engine  # type: ignore[import-not-found]

engine.expose()

import socket  # noqa: E402
import warnings  # noqa: E402
from typing import Any  # noqa: E402

import torch  # noqa: E402

from autograder import wire  # noqa: E402
from autograder.observations import Limits  # noqa: E402
from autograder.sandbox import child, filters  # noqa: E402
from autograder.sandbox.fingerprint import fingerprint  # noqa: E402

MESSAGE_BYTES = 1 << 30


def main() -> None:
    """Connects, prepares, serves."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    word = sys.stdin.readline().strip()
    channel = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    channel.sendall(word.encode())
    child.silence()
    settings: Any = wire.decode(wire.receive(channel, limit=MESSAGE_BYTES))
    try:
        worker = child.prepared(settings)
        worker.plan = [wire.as_request(one) for one in settings["plan"]]
        limits = Limits(**settings["limits"])
        layers = {"limits": filters.limit(limits, processes=False)}
    except Exception as problem:
        wire.send(channel, wire.encode({"failed": f"{type(problem).__name__}: {problem}"}))
        return
    wire.send(channel, wire.encode({"prepared": fingerprint(), "probes": sorted(worker.probes)}))
    worker.serve(channel, layers, limits.reply_bytes, limits.step_seconds)


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(0)
