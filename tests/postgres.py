"""A PostgreSQL server of the tests' own, from the system's programs; it listens on loopback."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_USER = "postgres"
"""PostgreSQL does not run as root; its package makes this user."""


def _program(name: str) -> str:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    program = str(found[-1]) if found else shutil.which(name)
    if program is None:
        pytest.skip(f"no {name} of PostgreSQL is installed: that database is not tested")
    return program


def _run(*command: str) -> None:
    as_user = ["runuser", "-u", _USER, "--"] if os.geteuid() == 0 else []
    subprocess.run([*as_user, *command], check=True, capture_output=True, cwd="/")


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of a new server, up to its database's name; it is gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if os.geteuid() == 0:
        shutil.chown(folder, _USER)
    data, port = folder / "data", free_port()
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    try:
        _run(_program("initdb"), "-D", str(data), "-U", "ann", "--auth=trust", "-E", "UTF8")
        control = (_program("pg_ctl"), "-D", str(data), "-w")
        _run(*control, "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://ann@127.0.0.1:{port}/"
        finally:
            _run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
