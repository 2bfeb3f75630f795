"""The keys that scripts rely on, all of them and in their order."""

import json
from dataclasses import replace

import pytest
from fakes import PAPERS, Asking, FakeReader, answered, passage
from promises import QUESTION, TRUE

from assistant.cli import commands
from assistant.cli.main import main
from assistant.types import answer_json, dumps, ingest_json, lookup_json, search_json
from retrieval.query.lookup import Match
from retrieval.types import IngestReport, Skipped

ZEBRA = PAPERS[0]
QUOTE = "It does not need retraining."


def test_confidence_is_rounded() -> None:
    answer = replace(answered(ZEBRA, QUOTE), confidence=0.123456)
    assert answer_json(answer, None, 0)["confidence"] == 0.1235


def test_an_answer() -> None:
    value = answer_json(answered(ZEBRA, QUOTE), "q1", 2)
    assert json.loads(dumps(value)) == {
        "id": "q1",
        "turn": 2,
        "question": "What is shown?",
        "standalone_question": "What is shown?",
        "outcome": "answered",
        "confidence": None,
        "answer": f"From “{ZEBRA.title}”: “{QUOTE}” [1]",
        "sentences": [{"text": QUOTE, "kind": "quoted", "citations": [1]}],
        "citations": [
            {
                "number": 1,
                "paper_id": "zebra",
                "title": ZEBRA.title,
                "authors": ["Ada Miro", "Ben Okafor"],
                "venue": "ICML",
                "year": 2021,
                "decision": "oral",
                "quote": QUOTE,
            }
        ],
        "passages": [
            {"paper_id": "zebra", "title": ZEBRA.title, "score": 1.0, "text": ZEBRA.abstract}
        ],
        "model": "none",
        "timings": {"retrieval": 0.1, "rerank": 0.0, "first_token": 0.2, "total": 0.3},
        "tokens": {"prompt": 10, "completion": 5, "rerank": 0},
        "searched_for": "",
        "coverage": "",
        "coverage_statement": "",
        "suggestions": [],
    }
    assert list(value) == [
        "id", "turn", "question", "standalone_question", "outcome", "answer", "sentences",
        "citations", "passages", "model", "timings", "tokens", "confidence", "searched_for",
        "coverage", "coverage_statement", "suggestions",
    ]  # fmt: skip


def test_ask_prints_what_was_written_then_its_evidence(
    asking: Asking, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assistant, _ = asking(f"{TRUE} [1]", reader=FakeReader({"zebra": "removes"}))
    monkeypatch.setattr(commands, "_assistant", lambda _settings: assistant)
    assert main(["ask", "--json", QUESTION]) == 0
    value = json.loads(capsys.readouterr().out)
    removes = "We present ZebraPrune, which removes 40% of the weights of a vision model."
    assert value["sentences"] == [
        {"text": TRUE, "kind": "verified", "citations": [1]},
        {"text": removes, "kind": "quoted", "citations": [1]},
    ]
    assert [each["quote"] for each in value["citations"]] == [removes]
    assert value["answer"] == f"{TRUE} [1] Evidence: From “{ZEBRA.title}”: “{removes}” [1]"


def test_a_paper_without_title_venue_or_year() -> None:
    whisper = PAPERS[3]
    [citation] = answer_json(answered(whisper, whisper.abstract), None, 0)["citations"]
    assert citation["title"] == ""
    assert citation["authors"] == []
    assert citation["year"] is None


def test_a_search() -> None:
    value = search_json("q1", 0, "pruning", [passage(ZEBRA, 0.75), passage(PAPERS[3], 0.1234567)])
    assert value == {
        "id": "q1",
        "turn": 0,
        "query": "pruning",
        "hits": [
            {
                "rank": 1,
                "paper_id": "zebra",
                "title": ZEBRA.title,
                "score": 0.75,
                "passage": ZEBRA.abstract,
            },
            {
                "rank": 2,
                "paper_id": "whisper",
                "title": "",
                "score": 0.123457,
                "passage": PAPERS[3].abstract,
            },
        ],
    }


def test_a_lookup() -> None:
    assert lookup_json([Match(ZEBRA, "author Ada Miro", 0.5)]) == [
        {
            "paper_id": "zebra",
            "title": ZEBRA.title,
            "authors": ["Ada Miro", "Ben Okafor"],
            "venue": "ICML",
            "year": 2021,
            "decision": "oral",
            "abstract": ZEBRA.abstract,
            "why": "author Ada Miro",
        }
    ]
    assert lookup_json([]) == []


def test_an_ingest() -> None:
    report = IngestReport(5, 1, 2, 3, 4, 6, 0.5, (Skipped("a.txt", 7, "no abstract"),))
    value = ingest_json(report)
    assert list(value) == [
        "papers", "added", "updated", "unchanged", "merged", "chunks", "seconds", "skipped",
        "notes",
    ]  # fmt: skip
    assert value["skipped"] == [{"source": "a.txt", "line": 7, "reason": "no abstract"}]
    assert (value["papers"], value["added"], value["updated"], value["unchanged"]) == (5, 1, 2, 3)
    assert (value["merged"], value["chunks"], value["seconds"]) == (4, 6, 0.5)


def test_one_line_with_its_letters() -> None:
    assert dumps({"a": "“ü”\n\u2028"}) == '{"a": "“ü”\\n\u2028"}'
