"""`assistant users`, as it is typed."""

import io
import socket
from pathlib import Path

import pytest

from assistant.cli import commands
from assistant.cli.main import main


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def users(*arguments: str) -> int:
    return main(["users", *arguments])


def test_users_from_first_to_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "auth.json"
    monkeypatch.setenv("ASSISTANT_AUTH_FILE", str(file))
    monkeypatch.setattr("sys.stdin", io.StringIO("a correct horse\r\n"))
    assert users("add", "ann") == 0
    assert capsys.readouterr().out == ""
    assert users("key", "ann") == 0
    key = capsys.readouterr().out.strip()
    assert key.startswith("aa_")
    key_id = key.split("_")[1]
    assert users("list", "--auth-file", str(file)) == 0
    listed = capsys.readouterr().out
    assert listed.startswith(f"ann\n  key {key_id}, made 20")
    assert key not in listed
    assert users("revoke", key_id) == 0
    assert users("remove", "ann") == 0
    assert users("list") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("again", "status"), [("a correct horse", 0), ("a correct house", 1)])
def test_a_password_is_typed_twice(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    again: str,
    status: int,
) -> None:
    typed = iter(["a correct horse", again])
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr(commands.getpass, "getpass", lambda _prompt: next(typed))
    assert users("add", "ann", "--auth-file", str(tmp_path / "auth.json")) == status
    assert ("The two passwords differ" in capsys.readouterr().err) == bool(status)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["list"], "No auth file is named"),
        (["list", "--auth-file", "none.json"], "There is no auth file none.json"),
        (["add", "A b", "--auth-file", "none.json"], "cannot be a user's name"),
        (["add", "ann", "--auth-file", "none.json"], "has 0 characters"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert users(*arguments) == 1
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


def test_serving_with_a_broken_auth_file_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "auth.json"
    file.write_text("{")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    arguments = ["serve", "--home", str(tmp_path), "--port", port, "--auth-file", str(file)]
    assert main(arguments) == 1
    assert "is no auth file" in capsys.readouterr().err
