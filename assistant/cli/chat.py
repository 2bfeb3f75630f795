"""`assistant chat`: a conversation in the terminal, with history, titles to complete, citations."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import platformdirs
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from rich.console import Console

from assistant.cli.output import print_answer, print_paper
from assistant.pipeline.assistant import Assistant, checked_question
from assistant.settings import APPLICATION
from assistant.types import Turn
from retrieval.formats.citation_keys import citation_keys
from retrieval.formats.writers import FORMATS
from retrieval.query.lookup import Lookup
from retrieval.types import InputError, LibraryError, Paper

HELP = f"""\
/open N           shows paper N of the last answer, the sentences cited in quotation marks
/open TITLE       shows a paper of the library; Tab completes titles, in questions as well
/cite N [STYLE]   prints a reference; the style is {", ".join(FORMATS)}
/help             shows this
Arrow up recalls what was typed. Ctrl-C stops an answer; an empty line ends the chat."""
_COMMANDS = ("/open", "/cite", "/help")
_TITLES = 50
"""Titles that Tab offers at most."""
_TITLE_WORDS = 12
"""Words before the cursor that may begin a title."""


def chat(assistant: Assistant) -> None:
    """Hold a conversation until an empty line or the end of input; Ctrl-C stops an answer."""
    conversation = Conversation(assistant)
    read = _reader(assistant.library.lexical.titles_with)
    said = "Ask about the papers of the library; /help lists more, and an empty line ends the chat."
    print(said, file=sys.stderr)
    with suppress(EOFError):
        while typed := read().strip():
            try:
                conversation.reply(typed)
            except KeyboardInterrupt:
                print("(stopped)", file=sys.stderr)
            except InputError as error:
                print(f"assistant: {error}", file=sys.stderr)


def ask(assistant: Assistant, question: str, history: Sequence[Turn] = ()) -> Turn:
    """Print the answer to `question` as it comes."""
    question = checked_question(question)
    events = assistant.stream(question, history)
    return Turn(question, print_answer(Console(), question, events))


class Conversation:
    """What was asked so far, and replies to questions and commands."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._turns: list[Turn] = []

    def reply(self, typed: str) -> None:
        """Print what was asked for; `InputError` if it cannot be, as with an unknown command."""
        command, _, named = typed.partition(" ")
        match command:
            case "/open":
                print_paper(Console(), *self._cited(named.strip()))
            case "/cite":
                start, _, style = named.strip().rpartition(" ")
                self._cite(start, style) if style in FORMATS else self._cite(named.strip())
            case "/help":
                print(HELP)
            case _ if command.startswith("/"):
                raise InputError(f"There is no command {command}; /help lists them.")
            case _:
                self._turns.append(ask(self._assistant, typed, self._turns))

    def _cite(self, named: str, style: str = "bibtex") -> None:
        paper, _ = self._cited(named)
        keys = citation_keys([paper], self._assistant.library.lexical.papers_with_key)
        print(FORMATS[style]([paper], keys), end="")

    def _cited(self, named: str) -> tuple[Paper, dict[int, str]]:
        """The paper with a number in the last answer, or with a title; its quotes by number."""
        if not named.isdecimal():
            if not named:
                raise InputError("Give the number of a citation or a title, as in /open 1.")
            listing = Lookup.over(self._assistant.library).find(named, 1)
            if not listing.matches:
                raise InputError(listing.note)
            return listing.matches[0].paper, {}
        answer = self._turns[-1].answer if self._turns else None
        citations = answer.citations if answer else ()
        papers = {each.number: each.paper for each in citations}
        if answer and not papers:
            papers = {at: each.paper for at, each in enumerate(answer.closest, start=1)}
        if not (paper := papers.get(int(named))):
            there = f"has 1 to {len(papers)}" if papers else "has none"
            raise InputError(f"There is no citation {named}; the last answer {there}.")
        return paper, {each.number: each.quote for each in citations if each.paper.id == paper.id}


class TitleCompleter(Completer):
    """Completes the commands of a chat, and titles from any of their words on."""

    def __init__(self, titles: Callable[[str, int], list[str]]) -> None:
        """`titles` gives the titles with words in a row, and at most how many."""
        self._titles = titles

    def get_completions(self, document: Document, _: CompleteEvent) -> Iterator[Completion]:
        """Complete the longest end of what is typed that is in a title."""
        typed = document.text_before_cursor
        if typed.startswith("/") and " " not in typed:
            commands = (each for each in _COMMANDS if each.startswith(typed))
            yield from (Completion(each, -len(typed)) for each in commands)
            return
        for word in list(re.finditer(r"\S+", typed))[-_TITLE_WORDS:]:
            start = typed[word.start() :]
            with suppress(LibraryError):  # another process changes the library
                if titles := self._titles(start, _TITLES):
                    titles.sort(key=lambda title: not title.lower().startswith(start.lower()))
                    yield from (Completion(title, -len(start)) for title in titles)
                    return


def _reader(titles: Callable[[str, int], list[str]]) -> Callable[[], str]:
    """Reads a line; with a line editor, which raises EOFError at the end, in a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return sys.stdin.readline
    session: PromptSession[str] = PromptSession(
        "\n> ", history=_history(), completer=TitleCompleter(titles), complete_while_typing=False
    )
    return session.prompt


class _LastingHistory(FileHistory):
    def store_string(self, string: str) -> None:
        with suppress(OSError):  # a full disk ends no conversation
            super().store_string(string)


def _history() -> History:
    """What was typed in earlier chats, in a file that only its owner can read."""
    file = platformdirs.user_state_path(APPLICATION) / "chat_history"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.chmod(0o600)
        file.read_bytes()
    except OSError as error:
        print(f"note: what you type is not kept ({error})", file=sys.stderr)
        return InMemoryHistory()
    return _LastingHistory(file)
