"""The JSON that scripts read: answers, cases, search results, lookups, ingest reports."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from assistant.conversations import Case
from assistant.types import Answer, Citation
from retrieval.query.lookup import Match
from retrieval.types import IngestReport, Paper, Passage

Json = dict[str, Any]


def dumps(value: object) -> str:
    """One line of JSON with its letters as they are."""
    return json.dumps(value, ensure_ascii=False)


def answer_json(answer: Answer, id_: str | None, turn: int) -> Json:
    """An answer with everything that is known about it."""
    return {
        "id": id_,
        "turn": turn,
        "question": answer.question,
        "standalone_question": answer.standalone_question,
        "outcome": answer.outcome.value,
        "answer": answer.text,
        "sentences": [
            {"text": each.text, "kind": each.kind.value, "citations": list(each.citations)}
            for each in answer.sentences
        ],
        "citations": [_citation_json(citation) for citation in answer.citations],
        "passages": [
            {
                "paper_id": passage.paper.id,
                "title": passage.paper.title,
                "score": round(passage.score, 6),
                "text": passage.chunk.text,
            }
            for passage in answer.passages
        ],
        "model": answer.model,
        "timings": asdict(answer.timings),
        "tokens": asdict(answer.tokens),
        "confidence": None if answer.confidence is None else round(answer.confidence, 4),
    }


def case_json(case: Case) -> Json:
    """A rated answer; its questions are the turns of a conversation, the last one answered."""
    return {
        "id": case.id,
        "turns": [{"question": question} for question in case.questions],
        "reason": case.rating.reason.value,
        "comment": case.rating.comment,
        "rated": datetime.fromtimestamp(case.rated, UTC).isoformat(timespec="seconds"),
        "answer": answer_json(case.answer, case.id, len(case.questions) - 1),
    }


def search_json(id_: str | None, turn: int, query: str, passages: Sequence[Passage]) -> Json:
    """The papers found for a query, best first."""
    return {
        "id": id_,
        "turn": turn,
        "query": query,
        "hits": [
            {
                "rank": rank,
                "paper_id": passage.paper.id,
                "title": passage.paper.title,
                "score": round(passage.score, 6),
                "passage": passage.chunk.text,
            }
            for rank, passage in enumerate(passages, start=1)
        ],
    }


def lookup_json(matches: Sequence[Match]) -> list[Json]:
    """The papers looked up, each with the reason."""
    return [
        {**_paper_json(match.paper), "abstract": match.paper.abstract, "why": match.why}
        for match in matches
    ]


def paper_json(paper: Paper, key: str) -> Json:
    """A paper with everything that is known about it.

    Args:
        paper: the paper.
        key: its citation key.
    """
    return {
        **_paper_json(paper),
        "abstract": paper.abstract,
        "url": paper.url,
        "doi": paper.doi,
        "citation_key": key,
        "sources": [asdict(source) for source in paper.sources],
    }


def ingest_json(report: IngestReport) -> Json:
    """What an ingest did."""
    fields = asdict(report)
    fields["skipped"] = [asdict(skipped) for skipped in report.skipped]
    return fields


def _citation_json(citation: Citation) -> Json:
    return {"number": citation.number, **_paper_json(citation.paper), "quote": citation.quote}


def _paper_json(paper: Paper) -> Json:
    return {
        "paper_id": paper.id,
        "title": paper.title,
        "authors": list(paper.authors),
        "venue": paper.venue,
        "year": paper.year,
        "decision": paper.decision,
    }
