"""What `--help` shows and what a command takes."""

import shlex

import pytest

from assistant.cli import main as command_line
from assistant.cli.main import main

COMMANDS = (
    "serve ingest remove doctor ask chat search lookup evaluate calibrate models cases users "
    "users-add users-list users-remove users-key users-revoke"
).split()
SETTINGS = "library and models:"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> "Shown":
    monkeypatch.setenv("COLUMNS", "80")
    return Shown(capsys)


class Shown:
    """Prints the help of a command."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *command: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*command, "--help"])
        assert ended.value.code == 0
        return self._capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_terminal_and_ends_with_an_example_that_works(
    shown: Shown, command: str
) -> None:
    words = command.split("-")
    lines = shown(*words).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"usage: assistant {' '.join(words)}")
    title, example = lines[-2:]
    assert title == "example:"
    program, *arguments = shlex.split(example.partition(" > ")[0])
    assert program == "assistant"
    options = command_line._parser().parse_args(arguments)
    assert options.command == words[0]


def test_own_options_come_first_with_their_defaults(shown: Shown) -> None:
    for command, own in (
        ("serve", ("--host", "(default: 127.0.0.1)", "--port", "(default: 7860)")),
        ("search", ("--jsonl", "-k N", "(default: 10)", "--no-rerank")),
        ("evaluate", ("--out", "(default: 0)", "--seed", "--retriever", "(default: hybrid)")),
    ):
        before, after = " ".join(shown(command).split()).split(SETTINGS)
        places = [before.index(each) for each in own]
        assert places == sorted(places)
        assert "--home" in after
        assert "--home" not in before


@pytest.mark.parametrize(
    ("command", "listed", "left_out"),
    [
        ("ask", "--model --context --thinking --no-adapter --threads --home", "--host"),
        ("search", "--embedder --threads --home", "--model --context --thinking --no-adapter"),
        ("lookup", "--embedder --home", "--model"),
        ("models", "--model --embedder --cache", "--home --context"),
        ("cases", "--home", "--model --cache --threads"),
        ("users", "", "--home --model"),
    ],
)
def test_settings_are_listed_where_they_act_and_taken_everywhere(
    shown: Shown, command: str, listed: str, left_out: str
) -> None:
    text = shown(command)
    assert all(f"  {flag} " in text or f"  {flag}\n" in text for flag in listed.split())
    assert not any(f"{flag} " in text for flag in left_out.split())
    rest = {"users": ["list"], "ask": ["Why?"], "search": ["strides"]}.get(command, [])
    flags = ["--home", "here", "--model", "a.gguf", "--no-adapter"]
    for arguments in ([*flags, command, *rest], [command, *rest, *flags]):
        options = command_line._parser().parse_args(arguments)
        assert (options.home, options.model, options.adapter) == ("here", "a.gguf", False)
