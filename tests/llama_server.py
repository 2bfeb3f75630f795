"""llama.cpp's own server in a process of its own, from the package xllamacpp.

python tests/llama_server.py '{"model": "x.gguf", "port": 8080, "slots": 4, …}'
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

READY_SECONDS = 120


class LlamaServer:
    """A running server."""

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self.process = process
        self.url = url

    def busy_slots(self, key: str = "") -> int:
        """Slots that work now."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        slots = httpx.get(f"{self.url}/slots", headers=headers, trust_env=False).json()
        return sum(slot["is_processing"] for slot in slots)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=30)


@contextmanager
def llama_server(model: Path, **options: Any) -> Iterator[LlamaServer]:
    """Serve a GGUF file; options: slots, context (of a slot), lora, embedding, key, threads."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    given = json.dumps({"model": str(model), "port": port, **options}, default=str)
    command = [sys.executable, __file__, given]
    # Idle threads of OpenMP that spin would take the processor from the tests.
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_until_ready(process, url := f"http://127.0.0.1:{port}")
            yield LlamaServer(process, url)
        finally:
            process.kill()


def _wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    end = time.monotonic() + READY_SECONDS
    with httpx.Client(trust_env=False) as client:
        while time.monotonic() < end:
            assert process.poll() is None, "the server ended before it was ready"
            try:
                if client.get(f"{url}/health").status_code == httpx.codes.OK:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
    raise AssertionError("the server was not ready in time")


def main(options: dict[str, Any]) -> None:
    """Serve until the process is ended."""
    import xllamacpp  # noqa: PLC0415 - in the server's own process only

    params = xllamacpp.CommonParams()
    params.model.path = options["model"]
    params.hostnames = ["127.0.0.1"]
    params.port = options["port"]
    params.n_parallel = options.get("slots", 1)
    params.n_ctx = options.get("context", 4096) * params.n_parallel
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.get("threads", 1)
    params.endpoint_slots = True
    params.warmup = False
    for name, value in options.get("params", {}).items():
        setattr(params, name, value)
    if options.get("lora"):
        params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(options["lora"], 1.0)]
    if options.get("key"):
        params.api_keys = [options["key"]]
    if options.get("embedding"):
        params.embedding = True
        params.n_ubatch = params.n_batch = 512
    server = xllamacpp.Server(params)
    while server:
        time.sleep(3600)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
