"""From a question to a checked, cited answer: the one path behind every way of asking."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from assistant.answerability import IN_DOUBT, Subject
from assistant.calibration import read_calibration
from assistant.candidates import candidates, lead_of_others
from assistant.chat_model import ChatModel
from assistant.conversation import Resolved, resolve
from assistant.events import Chosen, Event, Finished, Found, Reranked, Shown
from assistant.evidence import choose_evidence, is_in_doubt
from assistant.likelihood import question_likelihood
from assistant.making import Making
from assistant.rewriting import reworded
from assistant.routing import passages_of, route
from assistant.types import Answer, Turn
from assistant.writing import Writer, WritingSettings
from retrieval.errors import InputError
from retrieval.filters import Filters
from retrieval.library import Library
from retrieval.lookup import Lookup
from retrieval.markup import visible
from retrieval.rerank import RerankSettings, rerank
from retrieval.types import Passage

UNSURE = -1.0
"""The confidence where nothing was found."""
LONGEST_QUESTION = 2000
"""Characters."""


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """What an answer may take; see tests/benchmarks/answers.md."""

    passages: int = 10
    """Papers found, and shown as the closest where nothing is answered."""
    judged: int = 3
    """Papers, best first, of which one must be likely to answer."""
    least_confidence: float | None = None
    """Questions that it is less sure of are not answered; by default as the library is
    calibrated."""
    writing: WritingSettings = field(default_factory=WritingSettings)
    """What writing may take."""


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
        self.library.ready_to_search()
        lookup = Lookup.over(self.library)
        understood = lookup.understand(question)
        resolved = resolve(question, history, partial(lead_of_others, self.library))
        making = Making(question, resolved.standalone)
        routed = route(lookup, resolved, understood, history)
        if routed:
            making.found(passages_of(self.library, routed.papers))
            yield Found(making.standalone, making.passages)
            yield from making.from_records(routed)
        else:
            if self.settings.writing.asks:
                resolved = reworded(self.model, resolved, history, stopped)
                making.standalone = resolved.standalone
            making.found(self._searched(resolved, understood.filters))
            yield Found(making.standalone, making.passages)
            yield from self._from_abstracts(making, Subject.of(resolved, lookup), stopped)
        yield Finished(making.answer(self.model.name, self.settings.passages))

    def confidence(self, question: str, stopped: Callable[[], bool] = never) -> float | None:
        """How sure the assistant is that the best abstract found answers `question`.

        Nothing for a question that the records answer.

        Raises:
            InputError, LibraryError, Cancelled: see `stream`.
        """
        question = checked_question(question)
        lookup = Lookup.over(self.library)
        resolved, understood = Resolved(question, question), lookup.understand(question)
        if route(lookup, resolved, understood):
            return None
        found = self._searched(resolved, understood.filters)
        ranked = self._reranked(question, found, stopped)
        return self._decided(Subject.of(resolved, lookup), question, ranked)

    def _searched(self, resolved: Resolved, filters: Filters) -> list[Passage]:
        depth = max(self.settings.passages, RerankSettings().depth)
        return candidates(self.library, resolved, depth, filters)

    def _from_abstracts(
        self, making: Making, subject: Subject, stopped: Callable[[], bool]
    ) -> Iterator[Reranked | Chosen | Shown]:
        """Papers read again, evidence chosen, sentences written and checked.

        The model is not asked where no paper found is likely to answer.
        """
        least = self._least_confidence()
        making.confidence = self._confidence(subject, making.passages)
        if making.passages and making.confidence >= least:
            if making.reranked(self._reranked(making.standalone, making.passages, stopped)):
                yield Reranked(making.passages)
            making.confidence = self._decided(subject, making.standalone, making.passages)
        if making.passages and making.confidence >= least:
            yield from self._written(making, subject, stopped)
        else:
            self._abstain(making, subject)

    def _abstain(self, making: Making, subject: Subject) -> None:
        """Say why nothing is answered."""
        known = next((each.paper for each in making.passages if subject.is_on(each.paper)), None)
        if known:
            making.is_silent(known)
        elif subject.is_foreign(self.library.lexical):
            making.is_foreign()
        elif unknown := subject.unknown(self.library.lexical):
            making.lacks(unknown)

    def _written(
        self, making: Making, subject: Subject, stopped: Callable[[], bool]
    ) -> Iterator[Chosen | Shown]:
        evidence = choose_evidence(
            making.standalone,
            making.passages,
            self.library.embedder,
            of_one=subject.is_on(making.passages[0].paper),
        )
        making.has_evidence(evidence)
        yield Chosen(tuple(evidence))
        writer = Writer(self.model, self.settings.writing)
        for shown in writer.fill(making.page, making.standalone, stopped):
            making.has_shown()
            yield shown
        making.tokens = writer.tokens
        if writer.declined:
            self._abstain(making, subject)

    def _least_confidence(self) -> float:
        if self.settings.least_confidence is not None:
            return self.settings.least_confidence
        return read_calibration(self.library.home).least_confidence

    def _decided(self, subject: Subject, question: str, ranked: Sequence[Passage]) -> float:
        """How sure it is that the best papers answer, once they are ranked."""
        sure = self._confidence(subject, ranked[: self.settings.judged])
        names_the_first = any(subject.is_on(passage.paper) for passage in ranked[:1])
        in_doubt = is_in_doubt(question, ranked) and not names_the_first
        return sure - IN_DOUBT if in_doubt else sure

    def _confidence(self, subject: Subject, passages: Sequence[Passage]) -> float:
        """How sure it is that a passage answers; that of the paper, if it goes on about one."""
        index = self.library.lexical
        if subject.goes_on:
            passages = [each for each in passages if subject.is_on(each.paper)]
        sure = (subject.signs(passage, index).confidence for passage in passages)
        return max(sure, default=UNSURE)

    def _reranked(
        self, question: str, passages: Sequence[Passage], stopped: Callable[[], bool]
    ) -> list[Passage]:
        likelihood = question_likelihood(self.model)
        if likelihood is None:
            return list(passages)
        return rerank(question, passages, likelihood, stopped)


def checked_question(question: str) -> str:
    """The question without surrounding space and without what cannot be seen.

    Raises:
        InputError: it is empty or too long.
    """
    stripped = visible(storable(question)).strip()
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
