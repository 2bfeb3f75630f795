"""Pinned questions: who is told what when papers come and go, with the real models."""

import json
from pathlib import Path

import pytest
from fakes import PAPERS, jsonl

from assistant.generation.verification.support import Verifier
from assistant.models.chat import LlamaCppChatModel
from assistant.pipeline.assistant import Assistant
from assistant.research.pinned import ask_due, change, named, pin_question, unread
from assistant.research.pinned_store import MOST_PINS, Cited, PinnedAnswer, Pins
from assistant.storage.database import Database
from assistant.types import Outcome
from retrieval.encoders.embedder import LlamaCppEmbedder
from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.types import InputError

SPEECH = "Which papers recognise whispered speech?"
TIDES = "How are tidal currents forecast?"
PLANTED = {
    "id": "murmur",
    "title": "Recognising Whispered Speech with Throat Microphones",
    "abstract": "Whispered speech can be recognised with a throat microphone. A recogniser of "
    "whispered speech that listens to it errs on 9% of the words.",
}


def answer(*cited: str) -> PinnedAnswer:
    """An answer that cites sentences, given as `paper/sentence`."""
    parts = (each.split("/") for each in cited)
    return PinnedAnswer(Outcome.ANSWERED, "", tuple(Cited(p, p.upper(), q) for p, q in parts), 0.0)


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (answer("a/x"), answer("a/x"), None),
        (answer("a/x"), answer("a/x", "a/y"), None),
        (answer("a/x"), answer("a/x", "b/z"), ["+ paper: B", "+ “z” (B)"]),
        (answer("a/x", "b/z"), answer("a/x"), ["- paper: B", "- “z” (B)"]),
        (answer("a/x"), answer("a/y"), ["+ “y” (A)", "- “x” (A)"]),
        (None, answer("a/x"), None),
    ],
)
def test_only_new_papers_and_sentences_that_are_gone_are_changes(
    before: PinnedAnswer | None, after: PinnedAnswer, lines: list[str] | None
) -> None:
    found = change(before, after)
    assert (found.lines if found else None) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("“A” by X. [1] “B” by Y. [2]", ["“A” by X. [1]", "“B” by Y. [2]"]),
        ("They are “A” and “B”. [1][2]", []),
        ("From “A”: “a sentence” [1] From “B”: “another” [2]", []),
        ("No abstract answers that.", []),
    ],
    ids=["records", "written", "quoted", "abstention"],
)
def test_a_list_of_papers_has_a_line_each(text: str, lines: list[str]) -> None:
    cited = (Cited("a", "A", "a sentence"), Cited("b", "B", "another"))
    pinned = PinnedAnswer(Outcome.ANSWERED, text, cited, 0.0)
    assert pinned.listed == list(zip(lines, cited, strict=False))


def test_a_planted_paper_is_told_to_whom_it_concerns_until_seen(
    tmp_path: Path,
    embedder: LlamaCppEmbedder,
    chat_model: LlamaCppChatModel,
    reader: Reader,
    verifier: Verifier,
) -> None:
    file = tmp_path / "papers.jsonl"
    file.write_text(jsonl(PAPERS), "utf-8")
    library = Library(tmp_path / "home", embedder)
    ingest(library, [file])
    assistant = Assistant(library, chat_model, reader, verifier)
    pins = Pins(Database(f"sqlite:///{tmp_path / 'pins.sqlite'}"))
    speech, tides = pin_question(pins, "ann", SPEECH), pin_question(pins, "bob", TIDES)
    assert [changed for _, changed in ask_due(pins, assistant)] == [None, None]
    assert list(ask_due(pins, assistant)) == []  # the library has not changed

    planted = tmp_path / "planted.jsonl"
    planted.write_text(json.dumps(PLANTED), "utf-8")
    ingest(library, [planted])
    told = {pin.id: changed for pin, changed in ask_due(pins, assistant)}
    assert told[tides.id] is None
    assert told[speech.id] is not None
    (kept,) = pins.listed("ann")
    changed = unread(kept)
    assert changed
    assert changed.papers_added == (PLANTED["title"],)
    pins.mark_seen("ann", kept.id)
    assert unread(pins.listed("ann")[0]) is None


def test_everyone_has_pins_of_their_own(tmp_path: Path) -> None:
    pins = Pins(Database(f"sqlite:///{tmp_path / 'pins.sqlite'}"))
    assert pins.listed("ann") == []
    assert not (tmp_path / "pins.sqlite").exists()
    pin = pin_question(pins, "ann", SPEECH)
    assert pin_question(pins, "ann", SPEECH) == pin
    assert pins.listed("bob") == []
    for act in (pins.remove, pins.mark_seen):
        with pytest.raises(InputError, match="no such pinned question"):
            act("bob", pin.id)
    assert named(pins.listed("ann"), SPEECH) == named(pins.listed("ann"), pin.id) == pin
    pins.remove("ann", pin.id)
    pins.keep(pin, answer("a/x"), "r1")  # removed meanwhile
    assert pins.listed("ann") == pins.due("r2") == []
    for at in range(MOST_PINS):
        pins.add("ann", f"question {at}")
    with pytest.raises(InputError, match="100 questions are pinned already"):
        pins.add("ann", "one more")
    pins.add("bob", "one more")
