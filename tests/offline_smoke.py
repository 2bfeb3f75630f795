"""Start, ingest, ask, audit and look at the page, without a route; see `test_no_egress`.

Run inside `unshare --net`: `python tests/offline_smoke.py FOLDER`. Models come from the cache.
"""

import errno
import fcntl
import json
import socket
import struct
import subprocess
import sys
from pathlib import Path

import httpx
from app_process import served

PAPERS = (
    ("Otters at Work", "We study otters. Of 15 otters 12 open mussels with stones."),
    ("Owls in Cities", "Owls hunt at night. In cities they hunt rats near lamps."),
)
QUESTION = "How many otters open mussels with stones?"
_UP, _GET_FLAGS, _SET_FLAGS = 1, 0x8913, 0x8914
"""IFF_UP, SIOCGIFFLAGS, SIOCSIFFLAGS."""


def raise_loopback() -> None:
    """Bring `lo` up, as `ip link set lo up` does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = fcntl.ioctl(sock, _GET_FLAGS, struct.pack("16sh", b"lo", 0) + bytes(14))
        (flags,) = struct.unpack_from("h", request, 16)
        fcntl.ioctl(sock, _SET_FLAGS, struct.pack("16sh", b"lo", flags | _UP) + bytes(14))


def check_no_route() -> None:
    """No other machine can be reached from here."""
    with socket.socket() as sock:
        assert sock.connect_ex(("192.0.2.1", 9)) == errno.ENETUNREACH
    interfaces = Path("/proc/net/dev").read_text("utf-8").splitlines()[2:]
    assert [line.partition(":")[0].strip() for line in interfaces] == ["lo"]


def run(*arguments: object) -> str:
    """What a command of the program prints."""
    command = [sys.executable, "-m", "assistant", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(folder: Path) -> None:
    """The smoke path; any step that needs another machine fails."""
    raise_loopback()
    check_no_route()
    home, file = folder / "home", folder / "papers.jsonl"
    lines = (json.dumps({"id": t, "title": t, "abstract": a, "year": 2021}) for t, a in PAPERS)
    file.write_text("\n".join(lines), "utf-8")
    assert json.loads(run("ingest", file, "--home", home, "--json"))["papers"] == len(PAPERS)
    answer = run("ask", QUESTION, "--home", home)
    assert "12 open mussels" in answer
    assert "Searched 2 abstracts (2021);" in answer
    draft = folder / "draft.md"
    draft.write_text("Of 15 otters 12 open mussels with stones.", "utf-8")
    (judged,) = json.loads(run("audit", draft, "--home", home, "--json"))["sentences"]
    assert judged["verdict"] == "supported"
    with (
        served(home, "--allow-ingest") as app,
        httpx.Client(base_url=app.address, trust_env=False, timeout=120) as client,
    ):
        app.wait_until_ready()
        assert "Abstracts assistant" in client.get("/").text
        more = json.dumps({"title": "Moss on Roofs", "abstract": "Moss keeps roofs cool in July."})
        files = {"files": ("more.jsonl", more.encode())}
        assert client.post("/v1/ingest", files=files).json()["added"] == 1
        body = {"messages": [{"role": "user", "content": QUESTION}]}
        said = client.post("/v1/chat/completions", json=body).json()
        assert said["assistant"]["citations"][0]["title"] == "Otters at Work"
        checked = client.post("/v1/audit", json={"draft": draft.read_text("utf-8")}).json()
        assert checked["counts"]["supported"] == 1
        assert "assistant_outgoing_connections 0.0" in client.get("/metrics").text
    print("ALL DONE WITHOUT A NETWORK")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
