"""From a question to a checked, cited answer: the one path behind every way of asking."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assistant.answer_settings import AnswerSettings, WritingMode
from assistant.chat_model import ChatModel
from assistant.events import Chosen, Event, Finished, Found, Reranked, Shown
from assistant.generation.verification.support import Verifier
from assistant.generation.writer import Writer
from assistant.likelihood import question_likelihood
from assistant.making import Making
from assistant.pipeline.abstention import QuestionEntities, probability
from assistant.pipeline.calibration import threshold
from assistant.pipeline.candidates import candidates
from assistant.pipeline.evidence import choose_evidence
from assistant.pipeline.follow_up import StandaloneQuestion, condense
from assistant.pipeline.intent import about_papers, fixed_reply
from assistant.pipeline.metadata import answer_from_metadata, nothing_passes, passages_of
from assistant.pipeline.rewriting import reworded
from assistant.records import MetadataAnswer
from assistant.types import Answer, Outcome, Turn
from retrieval.errors import Cancelled, InputError
from retrieval.filters import Filters
from retrieval.library import Library
from retrieval.markup import visible
from retrieval.progress import never
from retrieval.query.lookup import Lookup
from retrieval.search.reader import MessageRead, Reader
from retrieval.search.rerank import (
    ReadPassage,
    RerankSettings,
    by_likelihood,
    read_papers,
    reranked,
)
from retrieval.search.search import search
from retrieval.types import Paper, Passage

NO_MATCH = 0.0
"""Confidence when retrieval returns nothing."""
PART = 0.5
"""What the threshold is multiplied by where an abstract need answer only a part."""
SURE = 0.9
"""Probability of what a message goes on about, from which on nobody doubts it."""
LONGEST_QUESTION = 2000
"""Characters."""


@dataclass(frozen=True, slots=True)
class _Near:
    """Which papers answer together; see tests/benchmarks/reading.md."""

    most: int
    """Papers at most."""
    reach: float
    """How far behind the best the others may be ranked."""
    likely: float
    """How likely each must be to answer."""


TOGETHER, SEVERAL = _Near(4, 0.4, 0.6), _Near(5, 0.5, 0.2)
"""Of a question on one paper, and on several."""


class Assistant:
    """Answers questions over one library with one chat model, one reader and one check."""

    def __init__(
        self,
        library: Library,
        model: ChatModel,
        reader: Reader,
        verifier: Verifier,
        settings: AnswerSettings | None = None,
    ) -> None:
        """Nothing is loaded here."""
        self.library = library
        self.model = model
        self.reader = reader
        self.verifier = verifier
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
        history = about_papers(history)
        asked = self._understood(question, history, stopped)
        making = Making(question, asked.standalone.text)
        if metadata := self._from_metadata(asked, history):
            making.found(passages_of(self.library, metadata.papers))
            yield Found(making.standalone, making.passages)
            yield from making.from_records(metadata)
        else:
            if self._may_reword(asked):
                asked.reword(reworded(self.model, asked.standalone, history, stopped))
                making.standalone = asked.standalone.text
            making.found(self._searched(asked))
            yield Found(making.standalone, making.passages)
            yield from self._from_abstracts(making, asked, stopped)
        yield Finished(making.answer(self.model.name, self.settings.passages))

    def confidence(self, question: str, stopped: Callable[[], bool] = never) -> float | None:
        """How sure the assistant is that the best abstract found answers `question`.

        None for a question that the records answer.

        Raises:
            InputError, LibraryError, Cancelled: see `stream`.
        """
        asked = self._understood(checked_question(question), (), stopped)
        if self._from_metadata(asked, ()):
            return None
        return self._confidence(asked, self._read(asked, self._searched(asked), stopped))

    def _understood(
        self, question: str, history: Sequence[Turn], stopped: Callable[[], bool]
    ) -> "_Asked":
        """What a question asks for, and of which papers."""
        lookup = Lookup.over(self.library)
        message = self.reader.message(question, history[-1].question if history else "")
        parsed = lookup.parse(question, lookup=message.kind in ("list", "count"))
        if not parsed.filters and (reply := fixed_reply(message, self.library.lexical.size)):
            return _Asked(lookup, message, StandaloneQuestion(question, question), (), reply)
        named = lookup.named(question)

        def find(text: str, papers: Sequence[Paper]) -> list[Passage]:
            if stopped():
                raise Cancelled
            also = [paper.id for paper in (*papers, *named)]
            return search(self.library, text, self._depth, self.settings.search, also=also)

        standalone = condense(
            question, history, message, find, named, filtered=bool(parsed.filters)
        )
        return _Asked(lookup, message, standalone, named)

    def _may_reword(self, asked: "_Asked") -> bool:
        """Whether the chat model is asked for a follow-up as a question of its own.

        The default model only where the reader doubts what the message goes on about.
        """
        mode = self.settings.writing.mode
        is_sure = max(asked.message.focuses.values()) >= SURE
        return mode is WritingMode.FREE or (mode is WritingMode.BRIEF and not is_sure)

    def _from_metadata(self, asked: "_Asked", history: Sequence[Turn]) -> MetadataAnswer | None:
        """The answer that needs no abstract, if there is one."""
        if asked.reply:
            return MetadataAnswer((), Outcome.NOT_IN_LIBRARY, asked.reply)
        lookup, standalone = asked.lookup, asked.standalone
        known = answer_from_metadata(lookup, standalone, asked.message, asked.named, history)
        if known or standalone.focus_papers:
            return known
        return nothing_passes(lookup, standalone.question, asked.parsed)

    @property
    def _depth(self) -> int:
        """Papers found for a question."""
        return max(self.settings.passages, RerankSettings().depth)

    def _searched(self, asked: "_Asked") -> list[Passage]:
        return candidates(
            self.library,
            asked.standalone,
            self._depth,
            asked.filters,
            also=[paper.id for paper in asked.named],
            settings=self.settings.search,
        )

    def _read(
        self, asked: "_Asked", passages: Sequence[Passage], stopped: Callable[[], bool]
    ) -> "_Read":
        """The best papers as the reader sees them, best first, and how likely each answers.

        The chat model is asked where one paper is sought, and reading leaves a doubt which.
        """
        reranks = self.settings.rerank
        settings = RerankSettings() if reranks else RerankSettings.order_kept()
        also = asked.entities.known
        papers = read_papers(
            asked.text,
            passages,
            self.reader,
            stopped,
            settings,
            also=also,
            seeks_one=not asked.seeks_several,
        )
        likelihood = question_likelihood(self.model)
        one = not (asked.seeks_several or asked.standalone.focus_papers)
        if reranks and likelihood and one:
            papers = by_likelihood(asked.text, papers, likelihood, stopped)
        meant = asked.meant(papers)
        index, beside = self.library.lexical, [each.passage.paper for each in meant]
        probabilities = {
            each.passage.paper.id: probability(asked.entities.features(each, index, beside))
            for each in papers
        }
        tokens = sum(each.read.tokens for each in papers)
        return _Read(papers, probabilities, tokens + (likelihood.tokens if likelihood else 0))

    def _from_abstracts(
        self, making: Making, asked: "_Asked", stopped: Callable[[], bool]
    ) -> Iterator[Reranked | Chosen | Shown]:
        """Papers read, evidence chosen, sentences written and checked.

        The chat model writes nothing where no paper found is likely to answer.
        """
        read = self._read(asked, making.passages, stopped)
        if making.reranked(reranked(making.passages, read.papers), read.tokens):
            yield Reranked(making.passages)
        making.confidence = self._confidence(asked, read)
        if read.papers and making.confidence >= self._threshold(asked):
            yield from self._written(making, asked, read, stopped)
        else:
            self._abstain(making, asked, read.papers)

    def _abstain(self, making: Making, asked: "_Asked", read: Sequence[ReadPassage]) -> None:
        """Say why nothing is answered."""
        index = self.library.lexical
        if on := asked.entities.among(read):
            making.is_silent(on[0].passage.paper)
        elif asked.entities.is_foreign(index):
            making.is_foreign()
        elif unknown := asked.entities.unknown(index):
            making.lacks(unknown)

    def _written(
        self, making: Making, asked: "_Asked", read: "_Read", stopped: Callable[[], bool]
    ) -> Iterator[Chosen | Shown]:
        evidence = choose_evidence(*self._answering(asked, read))
        making.has_evidence(evidence)
        yield Chosen(tuple(evidence))
        writer = Writer(self.model, self.verifier, self.settings.writing)
        page, of_each = making.page, asked.is_about_several
        for shown in writer.fill(page, asked.wording, stopped, of_each=of_each):
            making.has_shown()
            yield shown
        making.tokens = writer.tokens
        if writer.declined:
            self._abstain(making, asked, read.papers)

    def _threshold(self, asked: "_Asked") -> float:
        """Lower where several papers are asked for: each abstract answers a part."""
        least = self.settings.least_confidence
        if least is None:
            least = threshold(self.library.home)
        return least * PART if asked.seeks_several else least

    def _answering(
        self, asked: "_Asked", read: "_Read"
    ) -> tuple[list[ReadPassage], list[ReadPassage]]:
        """The papers that the answer is about, and those that give a sentence beside them.

        The best paper may be about the question and not answer it, and the next one does.
        """
        if meant := asked.meant(read.papers):
            return meant, []
        least = self._threshold(asked)
        first = next(at for at, each in enumerate(read.papers) if read.probability(each) >= least)
        if asked.seeks_several:
            return [], read.near(first, SEVERAL)
        best, *others = read.near(first, TOGETHER)
        return [best], others

    def _confidence(self, asked: "_Asked", read: "_Read") -> float:
        """How likely one of the best papers answers, or one of those that the question is about."""
        judged = asked.meant(read.papers) or read.papers[: self.settings.judged]
        return max(map(read.probability, judged), default=NO_MATCH)


@dataclass(frozen=True, slots=True)
class _Read:
    """The papers as they were read, best first."""

    papers: list[ReadPassage]
    probabilities: dict[str, float]
    """How likely each of them answers, by id."""
    tokens: int
    """Read by the reader and the chat model."""

    def probability(self, read: ReadPassage) -> float:
        """How likely a paper answers."""
        return self.probabilities[read.passage.paper.id]

    def near(self, at: int, limits: "_Near") -> list[ReadPassage]:
        """The paper in place `at`, and those ranked close behind it that are likely to answer."""
        best, *others = self.papers[at : at + limits.most]
        return [
            best,
            *(
                each
                for each in others
                if best.passage.score - each.passage.score < limits.reach
                and self.probability(each) >= limits.likely
            ),
        ]


class _Asked:
    """A question as the assistant understands it."""

    def __init__(
        self,
        lookup: Lookup,
        message: MessageRead,
        standalone: StandaloneQuestion,
        named: Sequence[Paper],
        reply: str = "",
    ) -> None:
        self.reply = reply
        """To a message that asks nothing of the papers."""
        self.lookup = lookup
        self.message = message
        self.standalone = standalone
        self.named = () if standalone.focus_papers else tuple(named)
        is_list = message.kind == "list"
        self.parsed = lookup.parse(standalone.question, lookup=is_list)
        self.filters: Filters = self.parsed.filters
        self.entities = QuestionEntities.of(standalone, self.named, [self.parsed.said])

        self.wording = self.text
        """What the model is to answer; the titles of the papers stand beside it."""

    def reword(self, standalone: StandaloneQuestion) -> None:
        """Take a model's wording, if it found one."""
        if standalone is not self.standalone:
            self.standalone, self.wording = standalone, standalone.text

    @property
    def text(self) -> str:
        """What is read with the papers: what it goes on about, or besides, is there to be read."""
        standalone = self.standalone
        leans = standalone.focus_papers or standalone.excluded
        return standalone.question if leans else standalone.text

    @property
    def is_about_several(self) -> bool:
        """Whether every paper is to have its say."""
        return self.seeks_several or len(self.standalone.focus_papers) > 1

    @property
    def seeks_several(self) -> bool:
        """Whether one paper cannot answer it: it compares, or asks what there is."""
        return self.message.kind in ("several", "list")

    def meant(self, read: Sequence[ReadPassage]) -> list[ReadPassage]:
        """Those of the papers it names or goes on about that it asks about, and about no others.

        A paper that it names but that does not read best may only be mentioned. One that seeks
        several is about all that it names; where that is one, others are sought beside it.
        """
        on = self.entities.among(read)
        if self.standalone.focus_papers:
            return on
        if self.seeks_several:
            return on if len(on) > 1 else []
        return [each for each in read[:1] if each in on]


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
