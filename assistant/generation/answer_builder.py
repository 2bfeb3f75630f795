"""Builds an `Answer` step by step and records timings.

The wording of answers that no model writes stands here, too: abstentions, and sentences that the
record of a paper supports.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from assistant.generation.rendering import PLAIN, parts_of_sentences, write
from assistant.types import (
    Answer,
    AnswerSentence,
    Check,
    Citation,
    Evidence,
    EvidenceSelected,
    Outcome,
    Reranked,
    Retrieved,
    SearchRecord,
    SentenceKind,
    SentenceVerified,
    Timings,
    Tokens,
)
from retrieval.formats.writers import where
from retrieval.text.splitting import split_sentences
from retrieval.types import Paper, Passage

ABSTENTION = "No abstract in this library answers that."
FOREIGN = (
    f"{ABSTENTION} The question seems to be in another language than the abstracts; ask in theirs."
)
NO_EXAMPLE_PAPER = "No paper in this library is the one that you want others like."

Checks = Mapping[int, Check]
"""Checks of a sentence by the numbers of its evidence."""
_UNCHECKED = Check("unchecked")
NO_CHECKS: Checks = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MetadataAnswer:
    """An answer from the records of papers."""

    sentences: tuple[tuple[str, Paper], ...] = ()
    """Each with the paper whose record supports it."""
    outcome: Outcome = Outcome.ANSWERED
    note: str = ""
    """Shown if there are no sentences."""
    papers: tuple[Paper, ...] = ()
    """The papers that the answer is about."""
    total: int = 0
    """The papers that fit, if these are the first of them."""
    coverage: str = ""
    """Whether a list is complete, and by which rule."""


class AnswerBuilder:
    """Builds an `Answer` step by step and records timings; each step returns its event."""

    def __init__(self, question: str) -> None:
        """Start the clock."""
        self.question = question
        self.passages: tuple[Passage, ...] = ()
        self.retrieved: tuple[Passage, ...] = ()
        """The papers as retrieval returned them."""
        self.search: SearchRecord | None = None
        self.draft = DraftAnswer([])
        self.tokens = Tokens(prompt=0, completion=0)
        self.confidence: float | None = None
        self._standalone = question
        self._outcome: Outcome | None = None
        self.note = ""
        """Shown in place of sentences."""
        self.searched_for = self.coverage = ""
        self.suggestions: tuple[str, ...] = ()
        self._start = time.monotonic()
        self._rerank = self._retrieval = self._first = 0.0
        self._rerank_tokens = 0

    def add_passages(self, standalone: str, passages: Sequence[Passage]) -> Retrieved:
        """Add the papers that retrieval returned for the standalone question."""
        self._standalone = standalone
        self.passages = self.retrieved = tuple(passages)
        self._retrieval = self._now()
        return Retrieved(standalone, self.passages)

    def add_reranked(self, passages: Sequence[Passage], tokens: int) -> Reranked | None:
        """Replace the papers by the same ones reranked; None if neither order nor score changed."""
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

    def add_metadata(
        self, metadata: MetadataAnswer, states: Callable[[str], bool]
    ) -> Iterator[SentenceVerified]:
        """Add sentences that records support; they need no check.

        `states` says whether a sentence of an abstract states something, so that it may be quoted.
        """
        self._outcome, self.note = metadata.outcome, metadata.note
        self.coverage = metadata.coverage
        for text, paper in metadata.sentences:
            self.mark_shown()
            yield self.draft.add_record(text, paper, states)

    def quote_all(self) -> Iterator[SentenceVerified]:
        """Quote the evidence that is not quoted yet."""
        for number in self.draft.unquoted:
            self.mark_shown()
            yield self.draft.add_quote(number)

    def mark_shown(self) -> None:
        """Record the time of the first sentence shown."""
        self._first = self._first or self._now()

    def abstain_silent(self, paper: Paper) -> None:
        """Abstain because the question is about `paper`, whose abstract does not answer it."""
        place = paper.url or (f"https://doi.org/{paper.doi}" if paper.doi else "")
        full_text = f"the full text ({place})" if place else "the full text"
        self._outcome = Outcome.ABSTRACT_SILENT
        self.note = (
            f"I did not find that in the abstract of “{paper.shown_title}”; {full_text} may say it."
        )
        self.passages = tuple(sorted(self.passages, key=lambda each: each.paper.id != paper.id))

    def build(self, model: str, most_passages: int) -> Answer:
        """The whole answer, with the name of the chat model and at most this many papers found."""
        total = self._now()
        sentences, citations = self.draft.sentences, self.draft.citations
        return Answer(
            question=self.question,
            standalone_question=self._standalone,
            outcome=self._outcome or (Outcome.ANSWERED if sentences else Outcome.NOT_IN_LIBRARY),
            text=self.note or answer_text(sentences, citations),
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
            searched_for=self.searched_for,
            coverage=self.coverage,
            suggestions=self.suggestions,
            search=self.search and replace(self.search, checks=tuple(self.draft.checks)),
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
    checks: list[tuple[Check, ...]] = field(default_factory=list)
    """Of each sentence, one for each of its citations."""
    _quoted: set[int] = field(default_factory=set)
    """The evidence that is shown word for word."""
    _citation_of: dict[int, Citation] = field(default_factory=dict)
    """The citation of each piece of evidence in use, by the number of the evidence."""

    @property
    def unquoted(self) -> list[int]:
        """The evidence that is not shown word for word yet, the copied first.

        Of each paper what the sentences cite comes first, then the rest in reading order.
        """
        papers = list(dict.fromkeys(each.paper.id for each in self.evidence))

        def rank(number: int) -> tuple[int, bool, int]:
            paper = self.evidence[number - 1].paper
            return papers.index(paper.id), number not in self._citation_of, number

        ranked = sorted(range(1, len(self.evidence) + 1), key=rank)
        return [each for each in dict.fromkeys((*self.copied, *ranked)) if each not in self._quoted]

    def add_written(
        self, text: str, evidence: tuple[int, ...], checks: Checks = NO_CHECKS
    ) -> SentenceVerified | None:
        """Add a model's sentence; None if it copies evidence, which is quoted instead."""
        if copied := self._same_as(text):
            self.copied.append(copied)
            return None
        return self._add(text, SentenceKind.VERIFIED, evidence, checks)

    def add_excerpt(self, text: str, evidence: int, checks: Checks = NO_CHECKS) -> SentenceVerified:
        """Add an excerpt of a piece of evidence, which is not quoted again if that is all of it."""
        if self._same_as(text) == evidence:
            self._quoted.add(evidence)
        return self._add(text, SentenceKind.VERIFIED, (evidence,), checks)

    def add_quote(self, evidence: int) -> SentenceVerified:
        """Add a piece of evidence verbatim."""
        self._quoted.add(evidence)
        quoted, checks = self.evidence[evidence - 1], {evidence: Check("verbatim")}
        return self._add(
            quoted.text, SentenceKind.QUOTED, (evidence,), checks, heading=quoted.heading
        )

    def add_record(
        self, text: str, paper: Paper, states: Callable[[str], bool]
    ) -> SentenceVerified:
        """Add a sentence about a paper's record, which cites the opening of its abstract."""
        quote = opening(paper, states)
        start = paper.abstract.index(quote)
        self.evidence.append(Evidence(paper, start, start + len(quote), quote, 1.0))
        number = len(self.evidence)
        return self._add(text, SentenceKind.VERIFIED, (number,), {number: Check("record")})

    def _same_as(self, text: str) -> int | None:
        """The first piece of evidence that a text repeats word for word, if any."""
        words = text.casefold().split()
        same = (
            number
            for number, each in enumerate(self.evidence, start=1)
            if each.text.casefold().split() == words
        )
        return next(same, None)

    def _add(
        self,
        text: str,
        kind: SentenceKind,
        evidence: tuple[int, ...],
        checks: Checks,
        *,
        heading: str = "",
    ) -> SentenceVerified:
        new = [self._cite(number) for number in evidence if number not in self._citation_of]
        marks = tuple(self._citation_of[number].number for number in evidence)
        self.sentences.append(sentence := AnswerSentence(text, kind, marks, heading))
        self.checks.append(tuple(checks.get(number, _UNCHECKED) for number in evidence))
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
    venue = f"{paper.venue} {paper.year or ''}".strip()
    place = f"at {venue}" if paper.venue else f"in {venue}" if venue else ""
    article = "an" if paper.decision.startswith((*"aeiou", "hono")) else "a"
    decision = f"as {article} {paper.decision}" if paper.decision else ""
    how = " ".join(filter(None, (place, decision)))
    by = f"is by {_listed(paper.authors)}" if paper.authors else ""
    appeared = f"{'it ' if by else ''}appeared {how}" if how else ""
    said = "; ".join(filter(None, (by, appeared)))
    return f"“{paper.shown_title}” {said}." if said else ""


def entry(paper: Paper) -> str:
    """A paper's line in a list: title, authors, where it appeared; without a full stop."""
    authors, facts = f" by {_listed(paper.authors)}" if paper.authors else "", where(paper)
    return f"“{paper.shown_title}”{authors}{f' ({facts})' if facts else ''}"


def opening(paper: Paper, states: Callable[[str], bool]) -> str:
    """The first sentence of the abstract that states something, or else its first one."""
    texts = [sentence.text for sentence in split_sentences(paper.abstract)]
    return next(filter(states, texts), texts[0] if texts else paper.abstract)


def _listed(names: tuple[str, ...]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
