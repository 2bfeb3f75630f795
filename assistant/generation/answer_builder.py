"""Builds an `Answer` step by step and records timings.

The wording of answers that no model writes stands here, too: abstentions, and sentences that the
record of a paper supports.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from assistant.generation.rendering import PLAIN, parts_of_sentences, write
from assistant.types import (
    Answer,
    AnswerSentence,
    Citation,
    Evidence,
    EvidenceSelected,
    Outcome,
    Reranked,
    Retrieved,
    SentenceKind,
    SentenceVerified,
    Timings,
    Tokens,
)
from retrieval.text.splitting import split_sentences
from retrieval.types import Paper, Passage

ABSTENTION = "No abstract in this library answers that."
FOREIGN = (
    f"{ABSTENTION} The question seems to be in another language than the abstracts; ask in theirs."
)
SILENCE = "I did not find that in the abstract of “{title}”; {full_text} may say it."


@dataclass(frozen=True, slots=True)
class MetadataSentence:
    """A sentence that a paper's record supports."""

    text: str
    paper: Paper


@dataclass(frozen=True, slots=True)
class MetadataAnswer:
    """An answer from the records of papers."""

    sentences: tuple[MetadataSentence, ...] = ()
    outcome: Outcome = Outcome.ANSWERED
    note: str = ""
    """Shown if there are no sentences."""
    papers: tuple[Paper, ...] = ()
    """The papers that the answer is about."""


class AnswerBuilder:
    """Builds an `Answer` step by step and records timings; each step returns its event."""

    def __init__(self, question: str, standalone: str) -> None:
        """Start the clock.

        Args:
            question: as asked.
            standalone: as it can be understood without the conversation.
        """
        self.question = question
        self.standalone = standalone
        self.passages: tuple[Passage, ...] = ()
        self.draft = DraftAnswer([])
        self.tokens = Tokens(prompt=0, completion=0)
        self.confidence: float | None = None
        self._outcome: Outcome | None = None
        self._note = ""
        """Shown in place of sentences."""
        self._start = time.monotonic()
        self._rerank = self._retrieval = self._first = 0.0
        self._rerank_tokens = 0

    def add_passages(self, passages: Sequence[Passage]) -> Retrieved:
        """Add the papers that retrieval returned."""
        self.passages = tuple(passages)
        self._retrieval = self._now()
        return Retrieved(self.standalone, self.passages)

    def add_reranked(self, passages: Sequence[Passage], tokens: int) -> Reranked | None:
        """Replace the papers by the same ones reranked; None if neither order nor score changed.

        Args:
            passages: best first.
            tokens: read for it.
        """
        self._rerank_tokens = tokens
        before, self.passages = self.passages, tuple(passages)
        self._rerank = self._now() - self._retrieval
        self._retrieval = self._now()
        return Reranked(self.passages) if self.passages != before else None

    def add_evidence(self, evidence: list[Evidence]) -> EvidenceSelected:
        """Begin a draft with the evidence chosen for it."""
        self.draft = DraftAnswer(evidence)
        self._retrieval = self._now()
        return EvidenceSelected(tuple(evidence))

    def add_metadata(self, metadata: MetadataAnswer) -> Iterator[SentenceVerified]:
        """Add sentences that records support; they need no check."""
        self._outcome, self._note = metadata.outcome, metadata.note
        for sentence in metadata.sentences:
            self.mark_shown()
            yield self.draft.add_record(sentence.text, sentence.paper)

    def mark_shown(self) -> None:
        """Record the time of the first sentence shown."""
        self._first = self._first or self._now()

    def abstain_silent(self, paper: Paper) -> None:
        """Abstain because the question is about `paper`, whose abstract does not answer it."""
        self._outcome, self._note = Outcome.ABSTRACT_SILENT, _silence(paper)
        first = [each for each in self.passages if each.paper.id == paper.id]
        others = [each for each in self.passages if each.paper.id != paper.id]
        self.passages = (*first, *others)

    def abstain_foreign(self) -> None:
        """Abstain because the question is in another language than the abstracts."""
        self._note = FOREIGN

    def abstain_unknown(self, names: Sequence[str]) -> None:
        """Abstain because no abstract mentions these names."""
        self._note = f"{ABSTENTION} None mentions {' or '.join(f'“{name}”' for name in names)}."

    def build(self, model: str, most_passages: int) -> Answer:
        """The whole answer.

        Args:
            model: name of the chat model.
            most_passages: papers found that the answer names at most.
        """
        total = self._now()
        sentences, citations = self.draft.sentences, self.draft.citations
        return Answer(
            question=self.question,
            standalone_question=self.standalone,
            outcome=self._outcome or (Outcome.ANSWERED if sentences else Outcome.NOT_IN_LIBRARY),
            text=self._note or answer_text(sentences, citations),
            sentences=tuple(sentences),
            citations=tuple(citations),
            passages=self.passages[:most_passages],
            model=model,
            timings=Timings(
                retrieval=self._retrieval,
                rerank=round(self._rerank, 4),
                first_token=self._first or total,
                total=total,
            ),
            tokens=replace(self.tokens, rerank=self._rerank_tokens),
            confidence=self.confidence,
        )

    def _now(self) -> float:
        """Seconds since the question."""
        return round(time.monotonic() - self._start, 4)


@dataclass
class DraftAnswer:
    """The sentences of an answer so far, with their evidence; its pieces are numbered from 1."""

    evidence: list[Evidence]
    sentences: list[AnswerSentence] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    copied: list[int] = field(default_factory=list)
    """The evidence that a model copied word for word in a whole answer; it is quoted first."""
    _quoted: set[int] = field(default_factory=set)
    """The evidence that is shown word for word."""
    _citation_of: dict[int, Citation] = field(default_factory=dict)
    """The citation of each piece of evidence in use, by the number of the evidence."""

    @property
    def unquoted(self) -> list[int]:
        """The evidence that is not shown word for word yet, the copied first.

        Of each paper what the sentences cite comes first, then the rest in reading order.
        """
        places: dict[str, int] = {}
        for each in self.evidence:
            places.setdefault(each.paper.id, len(places))

        def rank(number: int) -> tuple[int, bool, int]:
            paper = self.evidence[number - 1].paper
            return places[paper.id], number not in self._citation_of, number

        ranked = sorted(range(1, len(self.evidence) + 1), key=rank)
        return [each for each in dict.fromkeys((*self.copied, *ranked)) if each not in self._quoted]

    def add_written(self, text: str, evidence: tuple[int, ...]) -> SentenceVerified | None:
        """Add a model's sentence; None if it repeats one or copies evidence, which is quoted."""
        if any(text == sentence.text for sentence in self.sentences):
            return None
        if copied := self._same_as(text):
            self.copied.append(copied)
            return None
        return self._add(text, SentenceKind.VERIFIED, evidence)

    def add_excerpt(self, text: str, evidence: int) -> SentenceVerified:
        """Add an excerpt of a piece of evidence, which is not quoted again if that is all of it."""
        if self._same_as(text) == evidence:
            self._quoted.add(evidence)
        return self._add(text, SentenceKind.VERIFIED, (evidence,))

    def add_quote(self, evidence: int) -> SentenceVerified:
        """Add a piece of evidence verbatim."""
        self._quoted.add(evidence)
        return self._add(self.evidence[evidence - 1].text, SentenceKind.QUOTED, (evidence,))

    def add_record(self, text: str, paper: Paper) -> SentenceVerified:
        """Add a sentence about a paper's record, which cites the opening of its abstract."""
        quote = opening(paper)
        start = paper.abstract.index(quote)
        self.evidence.append(Evidence(paper, start, start + len(quote), quote, 1.0))
        return self._add(text, SentenceKind.VERIFIED, (len(self.evidence),))

    def _same_as(self, text: str) -> int | None:
        """The first piece of evidence that a text repeats word for word, if any."""
        words = text.casefold().split()
        same = (
            number
            for number, each in enumerate(self.evidence, start=1)
            if each.text.casefold().split() == words
        )
        return next(same, None)

    def _add(self, text: str, kind: SentenceKind, evidence: tuple[int, ...]) -> SentenceVerified:
        new = [self._cite(number) for number in evidence if number not in self._citation_of]
        marks = tuple(self._citation_of[number].number for number in evidence)
        self.sentences.append(sentence := AnswerSentence(text, kind, marks))
        return SentenceVerified(sentence, tuple(new))

    def _cite(self, number: int) -> Citation:
        evidence = self.evidence[number - 1]
        citation = Citation(len(self.citations) + 1, evidence.paper, evidence.text)
        self._citation_of[number] = citation
        self.citations.append(citation)
        return citation


def answer_text(sentences: Sequence[AnswerSentence], citations: Sequence[Citation]) -> str:
    """The text of an answer: what is written, then quotations, each paper's led in by its title."""
    parts = parts_of_sentences(sentences, citations)
    return "".join(write(part, PLAIN) for part in parts).rstrip() or ABSTENTION


def record_sentence(paper: Paper) -> str:
    """Who wrote a paper and where it appeared; empty if its record says neither."""
    title = f"“{paper.shown_title}”"
    appeared = f"{paper.venue} {paper.year or ''}".strip()
    decision = f"as {_with_article(paper.decision)}" if paper.decision else ""
    place = f"at {appeared}" if paper.venue else f"in {appeared}" if appeared else ""
    where = " ".join(filter(None, (place, decision)))
    if paper.authors and where:
        return f"{title} is by {_listed(paper.authors)}; it appeared {where}."
    if paper.authors:
        return f"{title} is by {_listed(paper.authors)}."
    return f"{title} appeared {where}." if where else ""


def entry(paper: Paper) -> str:
    """A paper's line in a list: title, authors, where it appeared; without a full stop."""
    appeared = f"{paper.venue} {paper.year or ''}".strip()
    facts = ", ".join(filter(None, (appeared, paper.decision)))
    authors = f" by {_listed(paper.authors)}" if paper.authors else ""
    return f"“{paper.shown_title}”{authors}{f' ({facts})' if facts else ''}"


def opening(paper: Paper) -> str:
    """The first sentence of the abstract, which a citation of the record quotes."""
    sentences = split_sentences(paper.abstract)
    return sentences[0].text if sentences else paper.abstract


def _silence(paper: Paper) -> str:
    """A sentence that an abstract does not answer, and where the full text is."""
    place = paper.url or (f"https://doi.org/{paper.doi}" if paper.doi else "")
    full_text = f"the full text ({place})" if place else "the full text"
    return SILENCE.format(title=paper.shown_title, full_text=full_text)


def _listed(names: tuple[str, ...]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _with_article(decision: str) -> str:
    return f"{'an' if decision.startswith((*'aeiou', 'hono')) else 'a'} {decision}"
