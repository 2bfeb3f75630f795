"""From a question to a checked, cited answer: the one path behind every way of asking."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from assistant.answer_settings import AnswerSettings
from assistant.answerability import IN_DOUBT, Subject
from assistant.calibration import read_calibration
from assistant.candidates import candidates, lead_of_others
from assistant.chat_model import ChatModel
from assistant.conversation import Resolved, resolve
from assistant.events import Chosen, Event, Finished, Found, Reranked, Shown
from assistant.evidence import choose_evidence, is_broad, is_in_doubt
from assistant.likelihood import question_likelihood
from assistant.making import Making
from assistant.rewriting import reworded
from assistant.routing import parse_question, passages_of, route
from assistant.types import Answer, Turn
from assistant.writing import Writer
from retrieval.embedder import StoppableEmbedder
from retrieval.errors import InputError
from retrieval.filters import Filters
from retrieval.library import Library
from retrieval.markup import visible
from retrieval.query.lookup import Lookup
from retrieval.rerank import RerankSettings, rerank
from retrieval.types import Passage

UNSURE = -1.0
"""The confidence where nothing was found."""
LONGEST_QUESTION = 2000
"""Characters."""


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
        parsed, lists = parse_question(lookup, question)
        resolved = resolve(question, history, partial(lead_of_others, self.library))
        making = Making(question, resolved.standalone)
        routed = route(lookup, resolved, parsed, history, lists=lists)
        if routed:
            making.found(passages_of(self.library, routed.papers))
            yield Found(making.standalone, making.passages)
            yield from making.from_records(routed)
        else:
            if self.settings.writing.asks:
                resolved = reworded(self.model, resolved, history, stopped)
                making.standalone = resolved.standalone
            subject = Subject.of(resolved, lookup)
            making.found(self._searched(resolved, subject, parsed.filters))
            yield Found(making.standalone, making.passages)
            yield from self._from_abstracts(making, subject, stopped)
        yield Finished(making.answer(self.model.name, self.settings.passages))

    def confidence(self, question: str, stopped: Callable[[], bool] = never) -> float | None:
        """How sure the assistant is that the best abstract found answers `question`.

        Nothing for a question that the records answer.

        Raises:
            InputError, LibraryError, Cancelled: see `stream`.
        """
        question = checked_question(question)
        lookup = Lookup.over(self.library)
        resolved = Resolved(question, question)
        parsed, lists = parse_question(lookup, question)
        if route(lookup, resolved, parsed, lists=lists):
            return None
        subject = Subject.of(resolved, lookup)
        found = self._searched(resolved, subject, parsed.filters)
        ranked, _ = self._reranked(question, found, stopped)
        return self._decided(subject, ranked)

    def _searched(self, resolved: Resolved, subject: Subject, filters: Filters) -> list[Passage]:
        depth = max(self.settings.passages, RerankSettings().depth)
        return candidates(
            self.library,
            resolved,
            depth,
            filters,
            also=sorted(subject.known),
            settings=self.settings.search,
        )

    def _from_abstracts(
        self, making: Making, subject: Subject, stopped: Callable[[], bool]
    ) -> Iterator[Reranked | Chosen | Shown]:
        """Papers read again, evidence chosen, sentences written and checked.

        The model is not asked where no paper found is likely to answer.
        """
        least = self._least_confidence()
        making.confidence = self._confidence(subject, making.passages)
        if making.passages and making.confidence >= least:
            if making.reranked(*self._reranked(making.standalone, making.passages, stopped)):
                yield Reranked(making.passages)
            making.confidence = self._decided(subject, making.passages)
        if making.passages and making.confidence >= least:
            yield from self._written(making, subject, stopped)
        else:
            self._abstain(making, subject)

    def _abstain(self, making: Making, subject: Subject) -> None:
        """Say why nothing is answered."""
        index = self.library.lexical
        if subject.is_foreign(index):
            making.is_foreign()
        elif on := subject.among(making.passages):
            making.is_silent(on[0].paper)
        elif unknown := subject.unknown(index):
            making.lacks(unknown)

    def _written(
        self, making: Making, subject: Subject, stopped: Callable[[], bool]
    ) -> Iterator[Chosen | Shown]:
        evidence = choose_evidence(
            subject.text,
            making.passages,
            StoppableEmbedder(self.library.embedder, stopped),
            of=subject.meant(making.passages),
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

    def _decided(self, subject: Subject, ranked: Sequence[Passage]) -> float:
        """How sure it is that the best papers answer, once they are ranked."""
        meant = subject.meant(ranked)
        sure = self._confidence(subject, meant or ranked[: self.settings.judged])
        return sure - IN_DOUBT if is_in_doubt(subject.text, ranked) and not meant else sure

    def _confidence(self, subject: Subject, passages: Sequence[Passage]) -> float:
        """How sure it is that a passage answers."""
        index = self.library.lexical
        beside = [passage.paper for passage in subject.meant(passages)]
        sure = (subject.signs(passage, index, beside).confidence for passage in passages)
        return max(sure, default=UNSURE)

    def _reranked(
        self, question: str, passages: Sequence[Passage], stopped: Callable[[], bool]
    ) -> tuple[list[Passage], int]:
        """The passages ranked again, where one of them may answer better, and the tokens read."""
        likelihood = question_likelihood(self.model) if self.settings.rerank else None
        if likelihood is None or is_broad(question):
            return list(passages), 0
        return rerank(question, passages, likelihood, stopped), likelihood.tokens


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
