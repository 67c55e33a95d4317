"""A Jupyter of one's own, for a browser or for a program that asks it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 180  # seconds; a cold and busy machine starts JupyterLab slowly


@contextmanager
def jupyter(program: str, folder: Path, home: Path, *options: str) -> Iterator[str]:
    """The address of `jupyter PROGRAM` ("lab" or "server") in a folder; it has no settings but those that lie there.

    home: for what it keeps, and for its log.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home.mkdir(exist_ok=True)
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(home / "config"), "HOME": str(home)}
    command = [
        sys.executable, "-m", "jupyter", program, "--no-browser", "--allow-root", f"--port={port}", "--port-retries=0",
        "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}", *options,
    ]  # fmt: skip
    log = home / "server.log"
    with log.open("wb") as file:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=file, stderr=file)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            if server.poll() is not None or time.monotonic() > until:
                raise TimeoutError(f"Jupyter did not start.\n{log.read_text(encoding='utf-8')}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
