"""The chat of the terminal: what a reply prints, what Tab completes, what is kept."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import PAPERS, Asking, FakeReader
from promises import QUESTION, TRUE
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from assistant.cli import chat
from assistant.cli.chat import Conversation, TitleCompleter
from retrieval.index.lexical import LexicalIndex
from retrieval.types import InputError

ZEBRA = PAPERS[0]
REMOVES = "We present ZebraPrune, which removes 40% of the weights of a vision model."
STRIDES = "Learning Strides in Convolutional Neural Networks"
STRUCTURED = "Learning Structured Representations by Embedding Class Hierarchy"


@pytest.fixture
def conversation(asking: Asking, capsys: pytest.CaptureFixture[str]) -> Conversation:
    """One with an answer, which cites the first paper."""
    assistant, _ = asking(f"{TRUE} [1]", reader=FakeReader({"zebra": "removes"}))
    conversation = Conversation(assistant)
    conversation.reply(QUESTION)
    assert f"{TRUE} [1]" in capsys.readouterr().out
    return conversation


def test_a_citation_is_opened_with_its_quote(
    conversation: Conversation, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation.reply("/open  1 ")
    title, authors, where, _, abstract = capsys.readouterr().out.splitlines()
    assert (title, authors, where) == (ZEBRA.title, "Ada Miro, Ben Okafor", "ICML 2021, oral")
    assert abstract == ZEBRA.abstract.replace(REMOVES, f"“{REMOVES}” [1]")


@pytest.mark.parametrize(
    ("typed", "opening"),
    [
        ("/cite 1", "@inproceedings{"),
        ("/cite 1 ris", "TY  - CPAPER"),
        ("/cite zebra pruning for vision models apa", "Miro, A., & Okafor, B. (2021). Zebra"),
        ("/open zebra pruning for vision models", ZEBRA.title),
        ("/help", "/open N"),
    ],
)
def test_commands(
    conversation: Conversation, capsys: pytest.CaptureFixture[str], typed: str, opening: str
) -> None:
    conversation.reply(typed)
    assert capsys.readouterr().out.startswith(opening)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("/open 7", "There is no citation 7; the last answer has 1 to 1."),
        ("/open", "Give the number of a citation or a title"),
        ("/open ²", "No paper of this library fits"),
        ("/cite volcanic xylophones", "No paper of this library fits"),
        ("/opne 1", "There is no command /opne; /help lists them."),
        ("/", "There is no command /;"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(
    conversation: Conversation, typed: str, sentence: str
) -> None:
    with pytest.raises(InputError) as raised:
        conversation.reply(typed)
    assert sentence in str(raised.value)


def test_the_closest_papers_of_a_refusal_are_opened_by_their_place(
    asking: Asking, capsys: pytest.CaptureFixture[str]
) -> None:
    assistant, _ = asking(reader=FakeReader())
    assistant.settings = replace(assistant.settings, least_confidence=1.1)
    conversation = Conversation(assistant)
    with pytest.raises(InputError, match="the last answer has none"):
        conversation.reply("/open 1")
    conversation.reply(QUESTION)
    said = capsys.readouterr().out
    assert f"  1. Ada Miro, Ben Okafor. {ZEBRA.title}. ICML 2021, oral\n" in said
    conversation.reply("/open 1")
    assert capsys.readouterr().out.startswith(f"{ZEBRA.title}\n")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("learning str", [STRIDES, STRUCTURED]),
        ("What is the gist of LEARNING STRI", [STRIDES]),
        ("/open strides in conv", [STRIDES]),
        ("/o", ["/open"]),
        ("/", ["/open", "/cite", "/help"]),
        ("volcanic xylo", []),
        ("", []),
        ("… ?", []),
    ],
)
def test_what_tab_offers(library_home: Path, typed: str, offered: list[str]) -> None:
    completer = TitleCompleter(LexicalIndex(library_home / "lexical").titles_with)
    document = Document(typed)
    found = list(completer.get_completions(document, CompleteEvent(completion_requested=True)))
    assert [each.text for each in found] == offered
    if found and not typed.startswith("/"):
        start = typed[len(typed) + found[0].start_position :]
        assert found[0].text.lower().startswith(start.lower())


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what programs keep for the user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    return tmp_path / "state"


def typed(*keys: str) -> list[str]:
    """Lines that are read of what is typed in a new chat."""
    with create_pipe_input() as keyboard, create_app_session(keyboard, DummyOutput()):
        read = chat._reader(lambda _start, _limit: [])
        lines = []
        for each in keys:
            keyboard.send_text(each)
            lines.append(read())
        return lines


UP = "\x1b[A"


def test_what_was_typed_comes_back_in_the_next_chat(state: Path) -> None:
    assert typed("What is DiffStride?\r", "Why?\r") == ["What is DiffStride?", "Why?"]
    file = state / "abstracts-assistant" / "chat_history"
    file.chmod(0o644)
    assert typed(f"{UP}{UP}\r") == ["What is DiffStride?"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_history_that_cannot_be_kept_is_noted(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state.write_text("a file where the folder should be")
    assert isinstance(chat._history(), InMemoryHistory)
    assert "what you type is not kept" in capsys.readouterr().err
