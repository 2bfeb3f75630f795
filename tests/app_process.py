"""The real app in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx


class Served:
    """A running app."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        self.host = address.removeprefix("http://")

    def connected(self) -> socket.socket:
        """A connection on which nothing was sent yet."""
        host, port = self.host.split(":")
        return socket.create_connection((host, int(port)), timeout=60)

    def end(self, how: signal.Signals = signal.SIGINT) -> int:
        """Ctrl-C, or another signal; returns the exit status."""
        self.process.send_signal(how)
        return self.process.wait(timeout=60)

    def wait_until_ready(self) -> None:
        """Until questions can be asked."""
        with httpx.Client(trust_env=False, timeout=60) as client:
            while client.get(f"{self.address}/healthz").status_code != httpx.codes.OK:
                assert self.process.poll() is None, "the app ended before it was ready"
                time.sleep(0.1)


@contextmanager
def served(
    home: Path, *flags: str, program: Sequence[str] = ("-m", "assistant")
) -> Iterator[Served]:
    """The app over `home`, from the moment that it says where it is."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, *program, "serve", "--home", str(home), "--port", str(port)]
    with subprocess.Popen(
        [*command, *flags],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    ) as process:
        assert process.stderr is not None
        line = next((line for line in process.stderr if "The assistant is at" in line), "")
        assert line, "the app ended before it was served"
        try:
            yield Served(process, f"http://127.0.0.1:{port}")
        finally:
            if process.poll() is None:
                process.kill()
