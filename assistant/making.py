"""An answer in the making: what is shown of it so far, and when each step was done."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from assistant.events import Shown
from assistant.records import MetadataAnswer, opening
from assistant.types import (
    Answer,
    AnswerSentence,
    Citation,
    Evidence,
    Kind,
    Outcome,
    Timings,
    Tokens,
)
from retrieval.types import Paper, Passage, nested

ABSTENTION = "No abstract in this library answers that."
FOREIGN = (
    f"{ABSTENTION} The question seems to be in another language than the abstracts; ask in theirs."
)
SILENCE = "I did not find that in the abstract of “{title}”; {full_text} may say it."


class Making:
    """The answer to one question while it comes about."""

    def __init__(self, question: str, standalone: str) -> None:
        """The clock starts.

        Args:
            question: as asked.
            standalone: as it can be understood without the conversation.
        """
        self.question = question
        self.standalone = standalone
        self.passages: tuple[Passage, ...] = ()
        self.page = Page([])
        self.tokens = Tokens(prompt=0, completion=0)
        self.confidence: float | None = None
        """How sure it is that the papers found answer."""
        self._outcome: Outcome | None = None
        self._note = ""
        self._start = time.monotonic()
        self._rerank = self._retrieval = self._first = 0.0
        self._rerank_tokens = 0

    def found(self, passages: Sequence[Passage]) -> None:
        """The first stage has found these."""
        self.passages = tuple(passages)
        self._retrieval = self._now()

    def reranked(self, passages: Sequence[Passage], tokens: int) -> bool:
        """The papers have been read, in so many tokens; whether that changed order or scores."""
        self._rerank_tokens = tokens
        before, self.passages = self.passages, tuple(passages)
        self._rerank = self._now() - self._retrieval
        self._retrieval = self._now()
        return self.passages != before

    def has_evidence(self, evidence: list[Evidence]) -> None:
        """What the sentences may stand on."""
        self.page = Page(evidence)
        self._retrieval = self._now()

    def has_shown(self) -> None:
        """A sentence was shown."""
        self._first = self._first or self._now()

    def from_records(self, metadata: MetadataAnswer) -> Iterator[Shown]:
        """Sentences about records, which need no check."""
        self._outcome, self._note = metadata.outcome, metadata.note
        for sentence in metadata.sentences:
            self.has_shown()
            yield self.page.record(sentence.text, sentence.paper)

    def is_silent(self, paper: Paper) -> None:
        """The question is about `paper`, whose abstract does not answer it."""
        self._outcome, self._note = Outcome.ABSTRACT_SILENT, silence(paper)
        first = [each for each in self.passages if each.paper.id == paper.id]
        others = [each for each in self.passages if each.paper.id != paper.id]
        self.passages = (*first, *others)

    def lacks(self, names: Sequence[str]) -> None:
        """Nothing is answered, because no abstract has these names."""
        self._note = f"{ABSTENTION} None mentions {' or '.join(f'“{name}”' for name in names)}."

    def is_foreign(self) -> None:
        """Nothing is answered, and the question is in another language than the abstracts."""
        self._note = FOREIGN

    def answer(self, model: str, most_passages: int) -> Answer:
        """The whole answer, with at most so many of the papers found."""
        total = self._now()
        return Answer(
            question=self.question,
            standalone_question=self.standalone,
            outcome=self._outcome or self._of_sentences(),
            text=self._note or answer_text(self.page.sentences, self.page.citations),
            sentences=tuple(self.page.sentences),
            citations=tuple(self.page.citations),
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

    def _of_sentences(self) -> Outcome:
        return Outcome.ANSWERED if self.page.sentences else Outcome.NOT_IN_LIBRARY

    def _now(self) -> float:
        """Seconds since the question."""
        return round(time.monotonic() - self._start, 4)


@dataclass
class Page:
    """What is shown so far of an answer, and the evidence it is made from."""

    evidence: list[Evidence]
    sentences: list[AnswerSentence] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    _number_of_note: dict[int, int] = field(default_factory=dict)
    copied: list[int] = field(default_factory=list)
    """The notes that a model wrote word for word in a whole answer; they are quoted first."""
    _shown: set[int] = field(default_factory=set)
    """The notes that are shown word for word."""

    @property
    def unquoted(self) -> list[int]:
        """The notes that are not shown word for word yet, those copied before the others."""
        notes = dict.fromkeys((*self.copied, *range(1, len(self.evidence) + 1)))
        return [note for note in notes if note not in self._shown]

    def verified(self, text: str, notes: tuple[int, ...]) -> Shown | None:
        """A sentence of the model; nothing if it repeats one, or copies a note to be quoted."""
        if any(text == sentence.text for sentence in self.sentences):
            return None
        if (note := self._note_of(text)) is not None:
            self.copied.append(note)
            return None
        return self._show(text, Kind.VERIFIED, notes)

    def excerpt(self, text: str, note: int) -> Shown:
        """What was cut out of a note; if it is the whole note, that is not quoted again."""
        if self._note_of(text) == note:
            self._shown.add(note)
        return self._show(text, Kind.VERIFIED, (note,))

    def _note_of(self, text: str) -> int | None:
        """The first note that a text is, word for word."""
        notes = (at for at, each in enumerate(self.evidence, 1) if _same(text, each.text))
        return next(notes, None)

    def quote(self, note: int) -> Shown:
        """A sentence of the evidence, verbatim."""
        self._shown.add(note)
        return self._show(self.evidence[note - 1].text, Kind.QUOTED, (note,))

    def record(self, text: str, paper: Paper) -> Shown:
        """A sentence about a paper's record, cited by the opening of its abstract."""
        quote = opening(paper)
        start = paper.abstract.index(quote)
        self.evidence.append(Evidence(paper, start, start + len(quote), quote, 1.0))
        return self._show(text, Kind.VERIFIED, (len(self.evidence),))

    def _show(self, text: str, kind: Kind, notes: tuple[int, ...]) -> Shown:
        new = [self._cite(note) for note in notes if note not in self._number_of_note]
        sentence = AnswerSentence(text, kind, tuple(self._number_of_note[note] for note in notes))
        self.sentences.append(sentence)
        return Shown(sentence, tuple(new))

    def _cite(self, note: int) -> Citation:
        evidence = self.evidence[note - 1]
        citation = Citation(len(self.citations) + 1, evidence.paper, evidence.text)
        self._number_of_note[note] = citation.number
        self.citations.append(citation)
        return citation


def _same(one: str, other: str) -> bool:
    return one.casefold().split() == other.casefold().split()


def silence(paper: Paper) -> str:
    """That an abstract does not answer, and where else to look."""
    place = paper.url or (f"https://doi.org/{paper.doi}" if paper.doi else "")
    full_text = f"the full text ({place})" if place else "the full text"
    return SILENCE.format(title=paper.shown_title, full_text=full_text)


def answer_text(sentences: Sequence[AnswerSentence], citations: Sequence[Citation]) -> str:
    """What is shown: what is written, then its evidence, led in by the papers that it is from."""
    if not sentences:
        return ABSTENTION
    paper_of = {citation.number: citation.paper for citation in citations}
    parts: list[str] = []
    led_in = ""
    is_written = False
    for sentence in sentences:
        marks = "".join(f"[{number}]" for number in sentence.citations)
        if sentence.kind is Kind.VERIFIED:
            parts.append(f"{sentence.text} {marks}")
            led_in = ""
            is_written = True
            continue
        if is_written:
            parts.append("Evidence:")
            is_written = False
        paper = paper_of[sentence.citations[0]]
        lead = "" if paper.id == led_in else f"From “{paper.shown_title}”: "
        parts.append(f"{lead}“{nested(sentence.text)}” {marks}")
        led_in = paper.id
    return " ".join(parts)
