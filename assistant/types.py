"""Answers, the events of their stream, and both as JSON; shared by all ways of asking."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from textwrap import shorten
from typing import Any, Literal, Self

from retrieval.query.lookup import Match
from retrieval.types import IngestReport, Paper, Passage


class Outcome(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    ABSTRACT_SILENT = "abstract_silent"
    """The library has the paper, but its abstract does not say."""
    NOT_IN_LIBRARY = "not_in_library"


class SentenceKind(StrEnum):
    """Why a sentence is shown."""

    VERIFIED = "verified"
    """Written by the model, and supported by the quotes that it cites."""
    QUOTED = "quoted"
    """Verbatim from an abstract."""


_QUERY_WIDTH = 200
"""Characters of a query in a statement."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of an abstract: `paper.abstract[start:end] == text`."""

    paper: Paper
    start: int
    end: int
    text: str
    score: float
    """How well it answers; comparable within one question only."""
    heading: str = ""
    """What it stands under, such as the subtopic of an overview, if it is quoted; or empty."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered citation of an answer."""

    number: int
    """From 1, in the order of the answer."""
    paper: Paper
    quote: str
    """The cited sentence, verbatim from the paper's abstract."""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer with the numbers of its citations."""

    text: str
    kind: SentenceKind
    citations: tuple[int, ...]
    heading: str = ""
    """What it stands under together with its neighbours, such as a subtopic; or empty."""


@dataclass(frozen=True, slots=True)
class Check:
    """Why a sentence may be shown with one of its citations."""

    rule: Literal["verbatim", "excerpt", "support model", "record", "unchecked"]
    """Copied from the abstract, an excerpt that the cutter allows, judged by the support model, a
    sentence about the paper's record, or not checked, which only measurements do."""
    logit: float | None = None
    """The support model's; None if it was not asked."""
    least: float | None = None
    """The least logit that it needed."""
    guards: tuple[str, ...] = ()
    """The exact guards that it passed, see `verification.guards`."""


@dataclass(frozen=True, slots=True)
class FoundPaper:
    """A paper that retrieval returned, with its scores; the last four only if it was read."""

    paper_id: str
    title: str
    retrieval: float
    """Fused score of the first stage."""
    similarity: float
    """Cosine of the question and the paper's best passage."""
    score: float | None = None
    """Score that ranks it after reading."""
    relevance: float | None = None
    """The reader's logit that the question is about this paper."""
    answered: float | None = None
    """The reader's logit that its abstract answers."""
    probability: float | None = None
    """Probability that its abstract answers."""

    @property
    def is_read(self) -> bool:
        """Whether the reader read it."""
        return self.answered is not None


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """What was searched, found, read and checked for an answer."""

    query: str
    """The question as it was searched for."""
    papers: int
    """Papers of the library."""
    years: tuple[int, ...]
    """Their first and last year; empty if no paper has one."""
    matched: int
    """Papers that share a rare word with the query, one that at most one paper in twenty has, and
    those that retrieval returned. If records answered: the papers that they found."""
    found: tuple[FoundPaper, ...]
    """The papers that retrieval returned; those that were read come first, best first."""
    revision: str
    """Of the library's store."""
    embedder: str
    threshold: float | None = None
    """Least confidence with which the question is answered; None if records answered."""
    checks: tuple[tuple[Check, ...], ...] = ()
    """For each sentence of the answer, one check for each of its citations."""

    def statement(self, cited: int) -> str:
        """What was searched, in one sentence; `cited` papers are cited."""
        query = shorten(self.query, _QUERY_WIDTH, placeholder="…")
        return f"Searched {self.counts(cited)}; query: “{query}”."

    def counts(self, cited: int) -> str:
        """The counts of the statement: `1,643 abstracts (2022-2023); 37 matched, …`."""
        first, last = (self.years[0], self.years[-1]) if self.years else (0, 0)
        years = f" ({first}-{last})" if first != last else f" ({first})" if first else ""
        read = sum(each.is_read for each in self.found)
        what = "records" if self.threshold is None and not read else "abstracts"
        counts = [f"{self.matched:,} matched", *([f"{read:,} read"] if what == "abstracts" else [])]
        return f"{self.papers:,} {what}{years}; {', '.join(counts)}, {cited:,} cited"


@dataclass(frozen=True, slots=True)
class Timings:
    """Times of an answer, in seconds."""

    retrieval: float
    """From the question until papers and evidence were found, reranking included."""
    rerank: float
    """The part of `retrieval` that reranking took."""
    first_token: float
    """From the question to the first sentence."""
    total: float
    """From the question to the whole answer."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens read and written for an answer."""

    prompt: int
    """Read by the chat model to write the answer."""
    completion: int
    """Written by the chat model."""
    rerank: int = 0
    """Read to rerank the papers found."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, how it came about, and what it took."""

    question: str
    standalone_question: str
    """The question as it can be understood without the conversation."""
    outcome: Outcome
    text: str
    """The text shown: the sentences with their citation numbers, or why there are none."""
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]
    """The papers found, best first; the closest ones if the assistant abstained."""
    model: str
    timings: Timings
    tokens: Tokens
    confidence: float | None = None
    """Probability that the papers found answer; None if metadata answers."""
    searched_for: str = ""
    """The question with its misspelled words corrected; empty if none was."""
    coverage: str = ""
    """A sentence on how many papers were found for a topic and how complete that is; or empty."""
    suggestions: tuple[str, ...] = ()
    """Further questions that the cited abstracts answer."""
    search: SearchRecord | None = None
    """What was searched; None for a fixed reply, and for answers of earlier versions."""

    @property
    def coverage_statement(self) -> str:
        """What was searched, found, read and cited, in one sentence; empty if nothing was."""
        cited = len({each.paper.id for each in self.citations})
        return self.search.statement(cited) if self.search else ""

    @property
    def understood(self) -> str:
        """The standalone question if the conversation adds to it, or else empty."""
        typed = (self.question, self.searched_for)
        return "" if self.standalone_question in typed else self.standalone_question

    @property
    def closest(self) -> tuple[Passage, ...]:
        """The papers found that an abstention shows."""
        return self.passages[:3]


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation with its answer."""

    question: str
    answer: Answer


def by_paper(citations: Iterable[Citation]) -> list[list[Citation]]:
    """Citations grouped by paper, in the order of each paper's first."""
    groups: dict[str, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(citation.paper.id, []).append(citation)
    return list(groups.values())


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The papers are found."""

    standalone_question: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Reranked:
    """The papers found are read and ranked again."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class EvidenceSelected:
    """The sentences that the answer is made from."""

    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class SentenceVerified:
    """A sentence is verified; `citations` are those that no earlier sentence has."""

    sentence: AnswerSentence
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Completed:
    """The answer is complete."""

    answer: Answer


Event = Retrieved | Reranked | EvidenceSelected | SentenceVerified | Completed


@dataclass(slots=True)
class PartialAnswer:
    """What the events of a stream have brought so far; page, API and terminal show it."""

    question: str
    standalone_question: str = ""
    """Empty until papers are found."""
    passages: tuple[Passage, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    sentences: tuple[AnswerSentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    answer: Answer | None = None
    """The whole answer, once it is complete."""

    def add(self, event: Event) -> Self:
        """Add what `event` brings."""
        match event:
            case Retrieved():
                self.standalone_question = event.standalone_question
                self.passages = event.passages
            case Reranked():
                self.passages = event.passages
            case EvidenceSelected():
                self.evidence = event.evidence
            case SentenceVerified():
                self.sentences += (event.sentence,)
                self.citations += event.citations
            case Completed(answer):
                self.answer = answer
                self.standalone_question = answer.standalone_question
                self.passages = answer.passages
                self.sentences, self.citations = answer.sentences, answer.citations
        return self

    @property
    def understood(self) -> str:
        """The standalone question if it differs from the one asked, or else empty."""
        return "" if self.standalone_question == self.question else self.standalone_question


Json = dict[str, Any]


def dumps(value: object) -> str:
    """One line of JSON, not escaped to ASCII."""
    return json.dumps(value, ensure_ascii=False)


def rounded(value: Any, places: int) -> Any:
    """JSON with its numbers rounded, and lists in place of tuples."""
    if isinstance(value, dict):
        return {name: rounded(each, places) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each, places) for each in value]
    return round(value, places) if isinstance(value, float) else value


def answer_json(answer: Answer, id_: str | None, turn: int) -> Json:
    """An answer as JSON, with the id of its conversation and the number of its turn there."""
    return {
        "id": id_,
        "turn": turn,
        "question": answer.question,
        "standalone_question": answer.standalone_question,
        "outcome": answer.outcome.value,
        "answer": answer.text,
        "sentences": [
            {
                "text": each.text,
                "kind": each.kind.value,
                "citations": list(each.citations),
                **({"heading": each.heading} if each.heading else {}),
            }
            for each in answer.sentences
        ],
        "citations": [_citation_json(citation) for citation in answer.citations],
        "passages": [
            {**_passage_json(passage), "text": passage.chunk.text} for passage in answer.passages
        ],
        "model": answer.model,
        "timings": asdict(answer.timings),
        "tokens": asdict(answer.tokens),
        "confidence": None if answer.confidence is None else round(answer.confidence, 4),
        "searched_for": answer.searched_for,
        "coverage": answer.coverage,
        "coverage_statement": answer.coverage_statement,
        "suggestions": list(answer.suggestions),
    }


def search_json(id_: str | None, turn: int, query: str, passages: Sequence[Passage]) -> Json:
    """The papers found for a query as JSON, best first."""
    return {
        "id": id_,
        "turn": turn,
        "query": query,
        "hits": [
            {"rank": rank, **_passage_json(passage), "passage": passage.chunk.text}
            for rank, passage in enumerate(passages, start=1)
        ],
    }


def lookup_json(matches: Sequence[Match]) -> list[Json]:
    """The papers looked up as JSON, each with the reason why it matches."""
    return [
        {**_paper_json(match.paper), "abstract": match.paper.abstract, "why": match.why}
        for match in matches
    ]


def paper_json(paper: Paper, key: str) -> Json:
    """A paper as JSON, with all its fields and its citation key."""
    return {
        **_paper_json(paper),
        "abstract": paper.abstract,
        "url": paper.url,
        "doi": paper.doi,
        "citation_key": key,
        "sources": [asdict(source) for source in paper.sources],
    }


def ingest_json(report: IngestReport) -> Json:
    """The report of an ingest as JSON."""
    fields = asdict(report)
    for name in ("skipped", "notes"):
        fields[name] = [asdict(each) for each in getattr(report, name)]
    return fields


def _citation_json(citation: Citation) -> Json:
    return {"number": citation.number, **_paper_json(citation.paper), "quote": citation.quote}


def _passage_json(passage: Passage) -> Json:
    paper = passage.paper
    return {"paper_id": paper.id, "title": paper.title, "score": round(passage.score, 6)}


def _paper_json(paper: Paper) -> Json:
    return {
        "paper_id": paper.id,
        "title": paper.title,
        "authors": list(paper.authors),
        "venue": paper.venue,
        "year": paper.year,
        "decision": paper.decision,
    }
