"""A real Chroma server on a port and a folder of the test's own."""

import contextlib
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

_COMMAND = Path(sys.executable).with_name("chroma")


class ChromaServer:
    """`chroma run` as a process that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, largest_file: int | None = None) -> "ChromaServer":
        """Start it, and wait until it answers; its files may be limited, in kilobytes."""
        where = ["--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        limits = f"trap '' XFSZ; ulimit -f {2 * largest_file};" if largest_file else ""
        self._process = subprocess.Popen(
            ["sh", "-c", f'{limits} exec "$@"', "sh", str(_COMMAND), "run", *where],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder.parent,
        )
        for _ in range(1200):
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/api/v2/heartbeat").is_success:
                    return self
            time.sleep(0.05)
        raise TimeoutError("chroma run does not answer")

    def kill(self) -> None:
        """End it with SIGKILL."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
