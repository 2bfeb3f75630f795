"""The command as a process among others: signals, pipes, environment, connections, odd bytes."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest

ROOT = Path(__file__).parents[1]
ASSISTANT = [sys.executable, "-W", "ignore", "-m", "assistant"]
PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")

# Says which address is asked for, before anything leaves the machine.
SERVE = """
import sys
def heard(event, details):
    if event == "socket.connect" and isinstance(details[1], tuple):
        if details[1][0] not in ("127.0.0.1", "::1"):
            print("CONNECTS TO", details[1], file=sys.stderr, flush=True)
    if event == "socket.getaddrinfo" and details[0] not in ("127.0.0.1", "localhost", None):
        print("LOOKS UP", details[0], file=sys.stderr, flush=True)
sys.addaudithook(heard)
from assistant.cli.main import main
sys.exit(main(sys.argv[1:]))
"""

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a process in a folder that is not the project's, and ends it with the test."""
    processes: list[subprocess.Popen[str]] = []

    def started(
        command: list[str], *arguments: object, **environment: str
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*command, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield started
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A file of more questions than are answered before someone can act."""
    file = tmp_path / "questions.jsonl"
    lines = [{"id": number, "question": "What is DiffStride?"} for number in range(200)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def first_answer(process: subprocess.Popen[str]) -> dict[str, object]:
    assert process.stdout is not None
    answer: dict[str, object] = json.loads(process.stdout.readline())
    return answer


def test_every_answer_is_written_at_once_and_ctrl_c_ends_it(
    start: Start, library_home: Path, questions: Path
) -> None:
    process = start(ASSISTANT, "ask", "--jsonl", questions, "--home", library_home)
    assert first_answer(process)["id"] == "0"
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate()
    assert len(rest.splitlines()) < 199
    assert errors == "assistant: stopped\n"
    assert process.returncode == 130


def test_a_reader_that_goes_away(start: Start, library_home: Path, questions: Path) -> None:
    process = start(ASSISTANT, "ask", "--jsonl", questions, "--home", library_home)
    first_answer(process)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 0


LOOKUP = ("lookup", "DiffStride", "--format", "json")


def config(folder: Path, text: str) -> dict[str, str]:
    """An environment whose configuration folder holds this file."""
    file = folder / "abstracts-assistant" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    return {"XDG_CONFIG_HOME": str(folder)}


def test_the_configuration_file(start: Start, library_home: Path, tmp_path: Path) -> None:
    good = config(tmp_path / "good", f"home = {json.dumps(str(library_home))}\n")
    output, errors = start(ASSISTANT, *LOOKUP, **good).communicate()
    assert (bool(json.loads(output)), errors) == (True, "")
    process = start(ASSISTANT, *LOOKUP, **config(tmp_path / "key", "hme = 1\n"))
    output, errors = process.communicate()
    assert (output, process.returncode) == ("", 1)
    (line,) = errors.splitlines()
    assert line.startswith("assistant: ")
    assert "config.toml" in line


NO_TEXT = b"strides \xff\xfe \xf0\x9f"


def test_bytes_that_are_no_text(library_home: Path) -> None:
    arguments = [*ASSISTANT, "--home", str(library_home), "lookup", NO_TEXT]
    done = subprocess.run(
        arguments,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode()


def test_the_app_asks_no_other_machine_and_needs_no_proxy(start: Start, library_home: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # A proxy where nobody listens: whoever needs it fails.
    proxies = dict.fromkeys(PROXIES, "http://127.0.0.1:9")
    command = [sys.executable, "-W", "ignore", "-c", SERVE]
    process = start(command, "serve", "--home", library_home, "--port", port, **proxies)
    assert process.stderr is not None
    assert process.stderr.readline() == (
        f"The assistant is at http://127.0.0.1:{port} (Ctrl-C ends it).\n"
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/") as answer:
        assert b"Abstracts assistant" in answer.read()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert "CONNECTS TO" not in errors
    assert "LOOKS UP" not in errors
    assert "Traceback" not in output + errors
    assert process.returncode in (0, 130)


class Terminal:
    """A chat in a terminal of 60 columns, in which someone types."""

    def __init__(self, home: Path, state: Path) -> None:
        self.typed, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 60, 0, 0))
        self.seen = ""
        self.process = subprocess.Popen(
            [*ASSISTANT, "chat", "--home", str(home)],
            stdin=child,
            stdout=child,
            stderr=child,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "XDG_STATE_HOME": str(state),
                "TERM": "xterm",
                "COLUMNS": "60",  # another test may have set it
                "PROMPT_TOOLKIT_NO_CPR": "1",  # nobody says where the cursor is
            },
            start_new_session=True,
        )
        os.close(child)

    def type(self, keys: str, until: str) -> str:
        """What is shown from these keys on, until the pattern `until` is in it."""
        os.write(self.typed, keys.encode())
        shown = ""
        while not re.search(until, shown):
            assert select.select([self.typed], [], [], 60)[0], f"nothing more came after {shown!r}"
            self.seen += os.read(self.typed, 4096).decode("utf-8", "ignore")
            shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.seen).replace("\r", "")
        self.seen = ""
        return shown

    def close(self) -> int:
        """Press Ctrl-D; gives the exit status."""
        os.write(self.typed, b"\x04")
        with suppress(OSError):  # until the other side is closed
            while os.read(self.typed, 4096):
                pass
        return self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.typed)


def test_a_chat_in_a_terminal(library_home: Path, tmp_path: Path) -> None:
    with Terminal(library_home, tmp_path) as first:
        first.type("", "\n>")
        first.type("What is Learning Stri\t", "Learning Strides in Convolutional Neural Networks")
        answer = first.type(" about?\r", r"outstanding paper\s+You can go on with[^>]*>")
        evidence = answer[answer.index("Evidence") :]
        assert "References\n  [1]" in evidence
        assert max(map(len, evidence.splitlines())) <= 60
        paper = first.type("/open 1\r", r"on\s+ImageNet\.[^>]*>")
        assert "Rachid Riad, Olivier Teboul, David Grangier, Neil Zeghidour" in paper
        assert "” [1]" in paper
        assert first.close() == 0
    with Terminal(library_home, tmp_path) as second:
        second.type("", "\n>")
        second.type("\x1b[A\x1b[A\x1b[B\r", r"no citation 1; the last answer has none\.\s+>")
        assert second.close() == 0
