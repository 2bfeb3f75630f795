"""From a question to a checked, cited answer: the one path behind every way of asking."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from assistant.chat_model import ChatModel
from assistant.checking import closest, is_supported
from assistant.citing import Draft, drafts
from assistant.conversation import cited_papers, standalone_question
from assistant.evidence import choose_evidence
from assistant.likelihood import question_likelihood
from assistant.prompting import Message, answer_messages
from assistant.records import opening, record_sentence
from assistant.routing import Routed, passages_of, route
from assistant.types import (
    Answer,
    AnswerSentence,
    Citation,
    Evidence,
    Kind,
    Outcome,
    Timings,
    Tokens,
    Turn,
)
from retrieval.errors import InputError
from retrieval.library import Library
from retrieval.lookup import Lookup
from retrieval.rerank import rerank
from retrieval.search import search
from retrieval.types import Paper, Passage

LONGEST_QUESTION = 2000
"""Characters."""
ABSTENTION = "No abstract in this library answers that."


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """What an answer may take; see tests/benchmarks/answers.md."""

    passages: int = 10
    """Papers found, and shown as the closest where nothing is answered."""
    least_similarity: float = 0.35
    """Cosine of question and best passage below which the library is taken not to know."""
    max_tokens: int = 160
    """Tokens the model may write."""
    most_sentences: int = 6
    """Sentences shown at most."""
    most_failures: int = 2
    """Unsupported sentences after which the model is not asked to go on."""


@dataclass(frozen=True, slots=True)
class Found:
    """The papers are found; what follows is read from them."""

    standalone_question: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Reranked:
    """The papers found, in the order in which the model finds the question likely of them."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A sentence passed the check, with the citations that it is the first to make."""

    sentence: AnswerSentence
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """The whole answer."""

    answer: Answer


Event = Found | Reranked | Shown | Finished


def never() -> bool:
    """For answers that nobody can stop."""
    return False


class Assistant:
    """Answers questions over one library with one model."""

    def __init__(
        self, library: Library, model: ChatModel, settings: AnswerSettings | None = None
    ) -> None:
        """Nothing is loaded here."""
        self.library = library
        self.model = model
        self.settings = settings or AnswerSettings()

    def answer(
        self,
        question: str,
        history: Sequence[Turn] = (),
        stopped: Callable[[], bool] = never,
    ) -> Answer:
        """The whole answer at once; see `stream`."""
        for event in self.stream(question, history, stopped):
            if isinstance(event, Finished):
                return event.answer
        raise AssertionError("a stream of events ends with Finished")

    def stream(
        self,
        question: str,
        history: Sequence[Turn] = (),
        stopped: Callable[[], bool] = never,
    ) -> Iterator[Event]:
        """The answer as it comes about: what was found, each sentence, the whole.

        Raises:
            InputError: the question is empty or too long.
            LibraryError: the library has no papers or cannot be read.
            Cancelled: `stopped()` became true; the model is free.
        """
        question = checked_question(question)
        clock = _Clock()
        standalone = standalone_question(question, history)
        self.library.ready_to_search()
        lookup = Lookup.over(self.library)
        understood = lookup.understand(question)
        routed = route(lookup, question, understood, history)
        if routed:
            standalone = question
            passages = passages_of(self.library, routed.papers)
        else:
            passages = search(
                self.library, standalone, self.settings.passages, filters=understood.filters
            )
        clock.searched = clock.now()
        yield Found(standalone, tuple(passages))
        page, tokens = _Page([]), Tokens(prompt=0, completion=0)
        if routed:
            clock.retrieval = clock.first = clock.now()
            for entry in routed.entries:
                yield page.record(entry.text, entry.paper)
        elif recorded := _from_record(question, standalone, history):
            clock.retrieval = clock.first = clock.now()
            yield page.record(*recorded)
        elif self._is_near(passages):
            found, passages = passages, self._reranked(standalone, passages, stopped)
            clock.reranked = clock.now()
            if passages != found:
                yield Reranked(tuple(passages))
            evidence = choose_evidence(standalone, passages, self.library.embedder)
            clock.retrieval = clock.now()
            page = _Page(evidence)
            messages = self._fitting(standalone, evidence)
            writing = _Counted(self.model.write(messages, self.settings.max_tokens, stopped))
            written = _finished(drafts(writing, len(evidence)), writing, self.settings.max_tokens)
            for shown in self._checked(written, page):
                clock.first = clock.first or clock.now()
                yield shown
            tokens = Tokens(prompt=self.model.count(messages), completion=writing.count)
        total = clock.now()
        yield Finished(
            Answer(
                question=question,
                standalone_question=standalone,
                outcome=_outcome(page, routed),
                text=routed.note
                if routed and routed.note
                else answer_text(page.sentences, page.citations),
                sentences=tuple(page.sentences),
                citations=tuple(page.citations),
                passages=tuple(passages),
                model=self.model.name,
                timings=Timings(
                    retrieval=clock.retrieval or total,
                    rerank=max(0.0, clock.reranked - clock.searched),
                    first_token=clock.first or total,
                    total=total,
                ),
                tokens=tokens,
            )
        )

    def _is_near(self, passages: Sequence[Passage]) -> bool:
        """Whether anything is near the question; if not, the model is not asked."""
        nearest = max((passage.similarity for passage in passages), default=-1.0)
        return nearest >= self.settings.least_similarity

    def _reranked(
        self, question: str, passages: Sequence[Passage], stopped: Callable[[], bool]
    ) -> list[Passage]:
        likelihood = question_likelihood(self.model)
        if likelihood is None:
            return list(passages)
        return rerank(question, passages, likelihood, stopped)

    def _fitting(self, question: str, evidence: list[Evidence]) -> list[Message]:
        """The prompt with as much of the evidence, best papers first, as the context holds."""
        for count in range(len(evidence), 0, -1):
            messages = answer_messages(question, evidence[:count])
            if self.model.count(messages) + self.settings.max_tokens <= self.model.context:
                return messages
        raise InputError(
            f"The question does not fit into the model's context of {self.model.context} tokens; "
            "ask a shorter one or raise --context."
        )

    def _checked(self, written: Iterator[Draft], page: "_Page") -> Iterator[Shown]:
        """Sentences that hold; what does not is replaced by the evidence it stands on.

        Where nothing that the model writes holds, the answer is the evidence in its own order.
        """
        failures = 0
        for draft in written:
            notes = _supporting(draft, page.evidence)
            failures += not notes
            shown = page.verified(draft.text, notes) if notes else page.in_place_of(draft)
            if shown:
                yield shown
            if failures >= self.settings.most_failures or page.is_full(self.settings):
                break
        if not page.sentences:
            for note in range(1, len(page.evidence) + 1):
                if not page.is_full(self.settings):
                    yield page.quote(note)


def checked_question(question: str) -> str:
    """The question without surrounding space.

    Raises:
        InputError: it is empty or too long.
    """
    stripped = storable(question).strip()
    if not stripped:
        raise InputError("The question is empty; type what you want to know.")
    if len(stripped) > LONGEST_QUESTION:
        raise InputError(
            f"The question has {len(stripped):,} characters, at most {LONGEST_QUESTION:,} can be "
            "answered; ask for one thing at a time."
        )
    return stripped


def storable(typed: str) -> str:
    """`typed` with a question mark for what is no letter: half of one, or a byte that is not UTF-8.

    Python lets such through from JSON and from the command line, but no text can hold it.
    """
    return typed.encode("utf-8", "replace").decode("utf-8")


def answer_text(sentences: Sequence[AnswerSentence], citations: Sequence[Citation]) -> str:
    """What is shown: quotations are led in by the paper that they are from."""
    if not sentences:
        return ABSTENTION
    paper_of = {citation.number: citation.paper for citation in citations}
    parts: list[str] = []
    led_in = ""
    for sentence in sentences:
        marks = "".join(f"[{number}]" for number in sentence.citations)
        if sentence.kind is Kind.VERIFIED:
            parts.append(f"{sentence.text} {marks}")
            led_in = ""
            continue
        paper = paper_of[sentence.citations[0]]
        lead = "" if paper.id == led_in else f"From “{paper.shown_title}”: "
        parts.append(f"{lead}“{sentence.text}” {marks}")
        led_in = paper.id
    return " ".join(parts)


def _outcome(page: "_Page", routed: Routed | None) -> Outcome:
    if routed:
        return routed.outcome
    return Outcome.ANSWERED if page.sentences else Outcome.NOT_IN_LIBRARY


def _from_record(
    question: str, standalone: str, history: Sequence[Turn]
) -> tuple[str, Paper] | None:
    """The record's answer to a question about the paper just cited, with the paper."""
    cited = cited_papers(history)
    if standalone == question or not cited:
        return None
    sentence = record_sentence(question, cited[0])
    return (sentence, cited[0]) if sentence else None


def _supporting(draft: Draft, evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """The notes that support a draft: those it cites, else one that does by itself."""
    cited = [evidence[number - 1].text for number in draft.notes]
    if cited and is_supported(draft.text, cited):
        return draft.notes
    for number, sentence in enumerate(evidence, start=1):
        if is_supported(draft.text, [sentence.text]):
            return (number,)
    return ()


@dataclass
class _Page:
    """What is shown so far of an answer, and the evidence it is made from."""

    evidence: list[Evidence]
    sentences: list[AnswerSentence] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    _number_of_note: dict[int, int] = field(default_factory=dict)

    def is_full(self, settings: AnswerSettings) -> bool:
        """Whether no more sentences are to be shown."""
        return len(self.sentences) >= settings.most_sentences

    def verified(self, text: str, notes: tuple[int, ...]) -> Shown | None:
        """A sentence of the model; nothing if it repeats one."""
        if any(text == sentence.text for sentence in self.sentences):
            return None
        if any(text == self.evidence[note - 1].text for note in notes):
            fresh = [note for note in notes if note not in self._number_of_note]
            return self.quote(fresh[0]) if fresh else None
        return self._show(text, Kind.VERIFIED, notes)

    def in_place_of(self, draft: Draft) -> Shown | None:
        """The evidence for a sentence that did not hold; nothing if it is shown already.

        Before any sentence held, nothing either: the model may be failing as a whole.
        """
        notes = draft.notes or (closest(draft.text, [each.text for each in self.evidence]) + 1,)
        fresh = [note for note in notes if note not in self._number_of_note]
        return self.quote(fresh[0]) if fresh and self.sentences else None

    def quote(self, note: int) -> Shown:
        """A sentence of the evidence, verbatim."""
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


class _Counted:
    """The pieces of a stream, counted: llama.cpp gives one piece a token."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        for piece in self._pieces:
            self.count += 1
            yield piece


def _finished(written: Iterator[Draft], writing: _Counted, most: int) -> Iterator[Draft]:
    """The drafts without the sentence in which the model had to stop: half of one may mislead."""
    for draft in written:
        if writing.count < most or draft.text.endswith((".", "!", "?")):
            yield draft


class _Clock:
    """Seconds since the question."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self.searched = 0.0
        self.reranked = 0.0
        self.retrieval = 0.0
        self.first = 0.0

    def now(self) -> float:
        return round(time.monotonic() - self._start, 4)
