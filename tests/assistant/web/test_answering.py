"""How the chat tab's answers end, and what is stored of them."""

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from fakes import ZEBRA, paper, passage

from assistant.server.history import Conversations
from assistant.server.web.answering import Answering
from assistant.storage.database import FILE, Database
from assistant.types import (
    AnswerSentence,
    Citation,
    Event,
    Retrieved,
    SentenceKind,
    SentenceVerified,
)
from retrieval.types import Cancelled, InputError

OWNER = "ann"
QUOTE = AnswerSentence("ZebraPrune removes 40%.", SentenceKind.QUOTED, (1,))
OF = paper(abstract=ZEBRA)
EVENTS = (
    Retrieved("Why?", (passage(OF),)),
    SentenceVerified(QUOTE, (Citation(1, OF, QUOTE.text),)),
)


class EndingService:
    """Gives `EVENTS`, then raises."""

    def __init__(self, folder: Path, error: Exception) -> None:
        self.conversations = Conversations(Database(f"sqlite:///{folder / FILE}"))
        self._error = error

    def ask(self, *_asked: object, **_more: object) -> Iterator[Event]:
        yield from EVENTS
        raise self._error


def stored(service: EndingService, id_: str) -> SimpleNamespace:
    conversation = service.conversations.read(OWNER, id_)
    assert conversation is not None
    (exchange,) = conversation.exchanges
    return SimpleNamespace(notice=exchange.notice, sentences=exchange.sentences)


@pytest.mark.parametrize(
    ("error", "is_stopped", "notice"),
    [
        (Cancelled(), True, "Stopped."),
        (Cancelled(), False, "This answer was not finished."),
        (InputError("It is too long."), False, "It is too long."),
        (ZeroDivisionError(), False, "Something unexpected went wrong; ask again."),
    ],
    ids=["stopped", "the assistant ends", "refused", "failed"],
)
def test_what_was_shown_is_kept_however_it_ends(
    tmp_path: Path, error: Exception, is_stopped: bool, notice: str
) -> None:
    service = EndingService(tmp_path, error)
    answering = Answering(service)  # type: ignore[arg-type]
    pending, flag = answering.ask("Why?", "", None, OWNER), threading.Event()
    if is_stopped:
        flag.set()
    assert len(list(answering.answer(pending, flag))) == 3
    kept = stored(service, pending.before.id)
    assert kept.notice.startswith(notice)
    assert kept.sentences == (QUOTE,)
    assert answering.running == frozenset()


def test_an_answer_that_nobody_reads_on_is_kept_as_stopped(tmp_path: Path) -> None:
    service = EndingService(tmp_path, Cancelled())
    answering = Answering(service)  # type: ignore[arg-type]
    pending, flag = answering.ask("Why?", "", None, OWNER), threading.Event()
    pages = answering.answer(pending, flag)
    for _ in range(3):
        next(pages)
    conversation = service.conversations.read(OWNER, pending.before.id)
    assert conversation is not None
    assert answering.running == {pending.exchange.id}
    assert answering.with_stopped(conversation) == conversation
    flag.set()
    assert answering.with_stopped(conversation).exchanges[0].notice == "Stopped."
    pages.close()  # type: ignore[attr-defined]
    kept = stored(service, pending.before.id)
    assert (kept.notice, kept.sentences) == ("Stopped.", (QUOTE,))
