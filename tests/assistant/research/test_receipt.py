"""Receipts: what they have, what a replay names first, and files that are no receipts."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from fakes import ZEBRA, Asking, FakeReader, answered, paper

from assistant.models.llama.decoding import Sampling
from assistant.pipeline.assistant import Assistant
from assistant.research.methods import methods_paragraph
from assistant.research.receipt import (
    change_since,
    methods_of,
    provenance_json,
    read_receipts,
    receipt_of,
    receipt_text,
    statement_of,
)
from assistant.settings import load_settings
from assistant.types import Check, FoundPaper, SearchRecord, Turn
from retrieval.library.library import Library
from retrieval.types import InputError

QUESTION = "How many weights does ZebraPrune remove?"
REPLY = "ZebraPrune removes 40% of the weights. [1]"
READ = FoundPaper("zebra", "Zebra", 0.9, 0.7, 1.0, 3.0, 2.0, 0.95)
FOUND = FoundPaper("tidal", "Tidal", 0.2, 0.1)
SEARCH = SearchRecord(
    "weights removed",
    1643,
    (2022, 2023),
    37,
    (READ, FOUND),
    "r1",
    "MiniLM",
    threshold=0.2,
    checks=((Check("verbatim"),),),
)
QUERY = "; query: “weights removed”."
MADE: dict[str, Any] = {
    "library": {"papers": 4, "sha256": "p1", "revision": "r1"},
    "models": {"chat": {"sha256": "m1", "file": "/a"}, "writer": {"sha256": "w1"}},
    "prompts": {"brief.user": "x1"},
    "settings": {"context": 4096, "home": "/a"},
    "packages": {"numpy": "2"},
    "code": {"version": "0.1", "commit": "c", "dirty": False, "sources_sha256": "s1"},
    "times": {"made": "2026-11-23T10:00:00+00:00"},
}


def receipt() -> dict[str, Any]:
    answer = replace(answered(paper(), ZEBRA.split(". ")[0] + "."), search=SEARCH)
    return json.loads(receipt_text(receipt_of(answer, (), MADE)))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("search", "cited", "said"),
    [
        (SEARCH, 1, "Searched 1,643 abstracts (2022-2023); 37 matched, 1 read, 1 cited" + QUERY),
        (
            replace(SEARCH, years=(2023, 2023), matched=1200),
            0,
            "Searched 1,643 abstracts (2023); 1,200 matched, 1 read, 0 cited" + QUERY,
        ),
        (
            replace(SEARCH, years=(), papers=4, found=()),
            0,
            "Searched 4 abstracts; 37 matched, 0 read, 0 cited" + QUERY,
        ),
        (
            replace(SEARCH, threshold=None, found=(FOUND,)),
            1,
            "Searched 1,643 records (2022-2023); 37 matched, 1 cited" + QUERY,
        ),
    ],
)
def test_the_statement_says_what_was_searched(search: SearchRecord, cited: int, said: str) -> None:
    assert search.statement(cited) == said


def test_the_paragraph_has_the_date_of_the_receipt_only() -> None:
    without = methods_paragraph(SEARCH, 1, "Smol", version="0.1")
    assert methods_of(receipt()) == without.replace(
        "We searched", "We searched on 2026-11-23"
    ).replace("Smol", "none")
    for said in ("“weights removed”", "MiniLM", "Smol", "at least 0.20", "37 matched"):
        assert said in without


def test_a_receipt_says_what_was_found_read_and_cited_and_how_sentences_were_checked(
    asking: Asking, library: Library
) -> None:
    reader = FakeReader({"zebra": "removes"})
    assistant, _ = asking(REPLY, reader=reader)
    settings = load_settings({"home": library.home})
    answer = assistant.answer(QUESTION)
    made = receipt_of(answer, (), provenance_json(assistant, settings))
    found = {each["paper_id"]: each for each in made["search"]["found"]}
    assert set(found) == {"zebra", "tidal", "lichen", "whisper"}
    assert {id_ for id_, each in found.items() if each["answered"]} == set(reader.papers)
    assert {id_ for id_, each in found.items() if each["cited"]} == {"zebra"}
    assert found["zebra"]["answered"] == 9.0
    written, quoted = made["answer"]["sentences"]
    (check,) = written["checks"]
    assert check["rule"] == "support model"
    assert check["logit"] >= check["least"]
    assert check["guards"] == ["length", "letters", "number", "name"]
    assert [each["rule"] for each in quoted["checks"]] == ["verbatim"]
    assert made["statement"] == answer.coverage_statement == statement_of(made)
    again, _ = asking(REPLY, reader=FakeReader({"zebra": "removes"}))
    assert change_since(json.loads(receipt_text(made)), again, settings) == ""
    other, _ = asking("ZebraPrune does not need retraining. [1]", reader=reader)
    assert change_since(made, other, settings).startswith("sentence 1 of the answer was “ZebraP")


def test_what_the_conversation_was_about_stands_in_the_receipt(
    asking: Asking, library: Library
) -> None:
    replies = ("No question.", "It does not need retraining. [1]")

    def follow_up() -> Assistant:
        return asking(*replies, reader=FakeReader({"zebra": "retraining"}, focus="last"))[0]

    assistant, _ = asking(REPLY, reader=FakeReader({"zebra": "removes"}))
    history = [Turn(QUESTION, assistant.answer(QUESTION))]
    assistant, settings = follow_up(), load_settings({"home": library.home})
    answer = assistant.answer("Does it need retraining?", history)
    assert "Zebra Pruning" in answer.standalone_question
    made = receipt_of(answer, history, provenance_json(assistant, settings))
    assert change_since(json.loads(receipt_text(made)), follow_up(), settings) == ""
    alone = {**made, "history": []}
    assert "Does it need" in change_since(alone, follow_up(), settings)


def damaged(part: str, key: str, value: object) -> dict[str, Any]:
    made = json.loads(json.dumps(MADE))
    made[part][key] = value
    return made  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (damaged("library", "sha256", "p2"), "the papers of the library (p1 there, p2 now)"),
        (damaged("models", "chat", {"sha256": "m2"}), "the chat model's file (m1 there, m2 now)"),
        (damaged("models", "writer", {"sha256": "w2"}), "the adapter's file (w1 there, w2 now)"),
        (damaged("prompts", "brief.user", "x2"), "prompts.brief.user (x1 there, x2 now)"),
        (damaged("settings", "context", 8192), "settings.context (4096 there, 8192 now)"),
        (damaged("code", "sources_sha256", "s2"), "the program (version 0.1, commit c"),
        (damaged("settings", "home", "/b"), ""),
        (damaged("times", "made", "later"), ""),
    ],
)
def test_a_replay_names_what_changed_before_the_answer(
    now: dict[str, Any], said: str, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    assistant, _ = asking(REPLY, reader=FakeReader({"zebra": "removes"}))
    answer = assistant.answer(QUESTION)
    made = {**MADE, "library": {**MADE["library"], "revision": assistant.library.store.revision}}
    kept = receipt_of(answer, (), made)
    now["library"]["revision"] = assistant.library.store.revision
    monkeypatch.setattr("assistant.research.receipt.provenance_json", lambda *_: now)
    again, _ = asking(REPLY, reader=FakeReader({"zebra": "removes"}))
    change = change_since(kept, again, load_settings({}))
    assert change.startswith(said) if said else change == ""
    assert change.endswith("; the answer is still the same") == bool(said)


def edited(made: dict[str, Any]) -> str:
    made["answer"]["sentences"][0]["text"] = "Something else."
    return json.dumps(made)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda made: json.dumps(made)[:-40], "is no whole receipt"),
        (lambda _: "", "is no whole receipt"),
        (lambda _: '{"a": 1}', "is no whole receipt"),
        (lambda made: json.dumps({**made, "receipt": 2}), "is a receipt of version 2"),
        (edited, "was changed after it was made"),
        (lambda made: f"{json.dumps(made)}\n{edited(made)}\n", "line 2, was changed after"),
    ],
)
def test_what_is_no_receipt_is_refused(
    change: Callable[[dict[str, Any]], str], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(change(receipt()), "utf-8")
    with pytest.raises(InputError, match=said):
        read_receipts(file)


def test_receipts_are_read_from_one_file_or_from_its_lines(tmp_path: Path) -> None:
    made, file = receipt(), tmp_path / "receipts"
    file.write_text(receipt_text(made), "utf-8")
    assert read_receipts(file) == [made]
    file.write_text(receipt_text(made, in_one_line=True) * 3, "utf-8")
    assert read_receipts(file) == [made] * 3


def test_a_library_that_changed_meanwhile_gives_no_receipt() -> None:
    answer = replace(answered(paper(), "We present it."), search=replace(SEARCH, revision="r0"))
    with pytest.raises(InputError, match="changed while the question was answered"):
        receipt_of(answer, (), MADE)


def test_what_was_drawn_without_a_seed_is_not_replayed(asking: Asking) -> None:
    kept = {**receipt(), "sampling": asdict(Sampling(0.7))}
    with pytest.raises(InputError, match="without a seed"):
        change_since(kept, asking()[0], load_settings({}))
