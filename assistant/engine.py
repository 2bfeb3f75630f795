"""From a question to a checked, cited answer: the one path behind every way of asking."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assistant.chat_model import ChatModel
from assistant.checking import is_supported
from assistant.citing import Draft, drafts
from assistant.conversation import cited_papers, standalone_question
from assistant.events import Event, Finished, Found, Reranked, Shown
from assistant.evidence import choose_evidence
from assistant.likelihood import question_likelihood
from assistant.making import Making, Page
from assistant.prompting import Message, answer_messages
from assistant.records import record_sentence
from assistant.routing import Entry, Routed, passages_of, route
from assistant.types import Answer, Evidence, Tokens, Turn
from retrieval.errors import InputError
from retrieval.filters import Filters
from retrieval.library import Library
from retrieval.lookup import Lookup
from retrieval.rerank import RerankSettings, rerank
from retrieval.search import search
from retrieval.types import Passage

LONGEST_QUESTION = 2000
"""Characters."""


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
        routed = route(lookup, question, understood, history)
        if routed:
            making = Making(question, question)
            making.found(passages_of(self.library, routed.papers))
        else:
            making = Making(question, standalone_question(question, history))
            making.found(self._searched(making.standalone, understood.filters))
            routed = _from_record(making, history)
        yield Found(making.standalone, making.passages)
        if routed:
            yield from making.from_records(routed)
        elif self._is_near(making.passages):
            yield from self._from_abstracts(making, stopped)
        yield Finished(making.answer(self.model.name, self.settings.passages))

    def _searched(self, question: str, filters: Filters) -> list[Passage]:
        depth = max(self.settings.passages, RerankSettings().depth)
        return search(self.library, question, depth, filters=filters)

    def _from_abstracts(
        self, making: Making, stopped: Callable[[], bool]
    ) -> Iterator[Reranked | Shown]:
        """Papers read again, evidence chosen, sentences written and checked."""
        if making.reranked(self._reranked(making.standalone, making.passages, stopped)):
            yield Reranked(making.passages)
        evidence = choose_evidence(making.standalone, making.passages, self.library.embedder)
        making.has_evidence(evidence)
        messages = self._fitting(making.standalone, evidence)
        writing = _Counted(self.model.write(messages, self.settings.max_tokens, stopped))
        written = _finished(drafts(writing, len(evidence)), writing, self.settings.max_tokens)
        for shown in self._checked(written, making.page):
            making.has_shown()
            yield shown
        making.tokens = Tokens(prompt=self.model.count(messages), completion=writing.count)

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

    def _is_full(self, page: Page) -> bool:
        return len(page.sentences) >= self.settings.most_sentences

    def _checked(self, written: Iterator[Draft], page: Page) -> Iterator[Shown]:
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
            if failures >= self.settings.most_failures or self._is_full(page):
                break
        if not page.sentences:
            for note in range(1, len(page.evidence) + 1):
                if not self._is_full(page):
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


def _from_record(making: Making, history: Sequence[Turn]) -> Routed | None:
    """The record's answer to a follow-up about the paper just cited."""
    cited = cited_papers(history)
    if making.standalone == making.question or not cited:
        return None
    sentence = record_sentence(making.question, cited[0])
    return Routed((Entry(sentence, cited[0]),)) if sentence else None


def _supporting(draft: Draft, evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """The notes that support a draft: those it cites, else one that does by itself."""
    cited = [evidence[number - 1].text for number in draft.notes]
    if cited and is_supported(draft.text, cited):
        return draft.notes
    for number, sentence in enumerate(evidence, start=1):
        if is_supported(draft.text, [sentence.text]):
            return (number,)
    return ()


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
