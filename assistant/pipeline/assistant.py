"""From a question to a checked, cited answer: understand, retrieve, read, answer or abstain.

`Assistant.stream` is the one path behind the browser, the command line, the HTTP API and the
evaluation; its private methods stand in the order in which they are called.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from assistant.generation.answer_builder import (
    ABSTENTION,
    FOREIGN,
    NO_EXAMPLE_PAPER,
    AnswerBuilder,
    MetadataAnswer,
)
from assistant.generation.verification.support import Verifier
from assistant.generation.writer import Wanted, Writer
from assistant.models.chat import ChatModel
from assistant.models.llama.decoding import LIKELIEST, Sampling
from assistant.pipeline.abstention import probability, threshold
from assistant.pipeline.evidence import (
    ChatLikelihood,
    by_both_readers,
    candidates,
    choose_evidence,
)
from assistant.pipeline.follow_up import StandaloneQuestion, condense, reworded
from assistant.pipeline.intent import about_papers, fixed_reply, is_fixed, papers_named_in
from assistant.pipeline.metadata import answer_from_metadata, passages_of
from assistant.pipeline.overview import BELONGS, belongs, by_subtopic, features_of
from assistant.pipeline.question import ParsedQuestion, ReadPapers
from assistant.pipeline.remarks import coverage, suggestions
from assistant.pipeline.searching import search_record
from assistant.pipeline.shapes import (
    LOOKED_FOR,
    UNDEFINED,
    begins_with_number,
    each_side,
    fitness,
    gist_of,
    has_number,
    having,
    is_counted,
    shape_of,
    summary,
)
from assistant.pipeline.spelling import corrected
from assistant.settings import AnswerSettings, WritingMode
from assistant.types import (
    Answer,
    Completed,
    Event,
    Evidence,
    Outcome,
    SentenceVerified,
    Turn,
)
from retrieval.library.library import Library
from retrieval.query.lookup import Lookup
from retrieval.search.reader import MOST_ALONE, READ_ALONE, Reader
from retrieval.search.rerank import (
    ReadPassage,
    RerankSettings,
    by_likelihood,
    read_alone,
    read_papers,
    reranked,
)
from retrieval.search.search import search, similar
from retrieval.text.markup import visible
from retrieval.types import InputError, Paper, Passage, never

SURE = 0.9
"""Probability of a message's focus from which the default model need not reword the message."""
LONGEST_QUESTION = 2000
"""Characters."""


@dataclass(frozen=True, slots=True)
class _GroupLimits:
    """Which papers share an answer with the best one; see tests/benchmarks/reading.md."""

    papers: int
    """Papers at most, the best one included."""
    max_gap: float
    """A paper whose score is this far behind the best is left out."""
    min_probability: float
    """A paper that is less likely to answer is left out."""


ONE_SOUGHT = _GroupLimits(papers=4, max_gap=0.4, min_probability=0.995)
SEVERAL_SOUGHT = _GroupLimits(papers=5, max_gap=0.5, min_probability=0.35)
FEW = 3
"""Papers that define a term, or name limits."""
SIMILAR = 5
"""Papers that are listed as most like another."""
_LISTED = ("overview", "limits", "comparison")
"""Shapes whose answers quote each paper under its title."""
_UNDERSTOOD_ALONE = (*_LISTED, "definition", "summary", "similar")
"""Shapes in whose answers a sentence gives way that leans on the one before it."""


class Assistant:
    """Answers questions over one library with a chat model, a reader and a verifier."""

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
        sampling: Sampling = LIKELIEST,
    ) -> Answer:
        """The whole answer at once; see `stream`."""
        events = self.stream(question, history, stopped, sampling)
        return next(event.answer for event in events if isinstance(event, Completed))

    def stream(
        self,
        question: str,
        history: Sequence[Turn] = (),
        stopped: Callable[[], bool] = never,
        sampling: Sampling = LIKELIEST,
    ) -> Iterator[Event]:
        """The steps of an answer as they are done; the last one is `Completed`.

        A model that writes whole answers does so with `sampling`.

        Raises:
            InputError: the question is empty or too long.
            LibraryError: the library has no papers or cannot be read.
            Cancelled: `stopped()` became true; the model is free.
        """
        builder = AnswerBuilder(checked_question(question))
        self.library.ready_to_search()
        history = about_papers(history)
        spelled = corrected(builder.question, self.library, self.model, stopped)
        builder.searched_for = spelled if spelled != builder.question else ""
        parsed = self._understand(spelled, history)
        if metadata := parsed.metadata:
            found = passages_of(self.library, metadata.papers)
            yield builder.add_passages(parsed.standalone.text, found)
            yield from builder.add_metadata(metadata, self.verifier.states)
            builder.search = search_record(self.library, parsed, found)
        elif example_paper := parsed.example_paper(self.library.lexical):
            yield from self._list_similar(builder, parsed, example_paper, stopped)
        else:
            parsed = self._reworded(parsed, history, stopped)
            yield builder.add_passages(parsed.standalone.text, self._retrieve(parsed))
            read = self._read(parsed, builder.passages, stopped)
            if event := builder.add_reranked(reranked(builder.passages, read.papers), read.tokens):
                yield event
            builder.confidence = self._confidence(parsed, read)
            least = self._threshold()
            builder.search = search_record(self.library, parsed, builder.retrieved, read, least)
            summarized = parsed.summarized(read.papers, self.library.lexical)
            if summarized or (read.papers and builder.confidence >= least):
                yield builder.add_evidence(self._choose(parsed, read, summarized, least, stopped))
                if self._is_only_quoted(parsed, builder):
                    yield from builder.quote_all()
                else:
                    yield from self._write(builder, parsed, stopped, sampling)
            if not builder.draft.sentences:
                self._abstain(builder, parsed, read)
            else:
                self._add_remarks(builder, parsed, read)
        answer = builder.build(self.model.name, self.settings.passages)
        yield Completed(replace(answer, search=None) if is_fixed(answer) else answer)

    def confidence(self, question: str) -> float | None:
        """Probability that one of the best abstracts found answers `question`.

        None if metadata answers it.

        Raises:
            InputError, LibraryError: see `stream`.
        """
        parsed = self._understand(checked_question(question), ())
        if parsed.metadata:
            return None
        return self._confidence(parsed, self._read(parsed, self._retrieve(parsed), never))

    def papers_answering(
        self, question: str, most: int, stopped: Callable[[], bool] = never
    ) -> list[Paper]:
        """The papers whose abstracts answer a question on several, best first, at most `most`.

        Empty if none is likely to answer. Raises what `stream` raises.
        """
        question = checked_question(question)
        self.library.ready_to_search()
        wide = Assistant(
            *(self.library, self.model, self.reader, self.verifier),
            replace(self.settings, passages=max(most, self.settings.passages)),
        )
        parsed = wide._understand(corrected(question, self.library, self.model, stopped), ())
        if parsed.metadata:
            return list(parsed.metadata.papers[:most])
        if parsed.shape != "comparison":
            parsed = replace(parsed, shape="overview")
        read = wide._read(parsed, wide._retrieve(parsed), stopped)
        least = self._threshold()
        if not read.papers or self._confidence(parsed, read) < least:
            return []
        about, beside = wide._answering(parsed, read, least)
        return [each.passage.paper for each in (*about, *beside)][:most]

    def _understand(self, question: str, history: Sequence[Turn]) -> ParsedQuestion:
        """Find out what the question asks for, about which papers, and if records answer it."""
        lookup = Lookup.over(self.library)
        message = self.reader.message(question, history[-1].question if history else "")
        query = lookup.parse(question, lookup=message.kind in ("list", "count"))
        if not query.filters and (reply := fixed_reply(message, self.library.lexical.size)):
            fixed = MetadataAnswer(outcome=Outcome.NOT_IN_LIBRARY, note=reply)
            return ParsedQuestion(message, StandaloneQuestion(question, question), (), query, fixed)
        named = lookup.named(question)
        find = partial(search, self.library, limit=self._depth, settings=self.settings.search)
        standalone = condense(question, history, message, find, named, filtered=bool(query.filters))
        named = () if standalone.focus_papers else named
        query = lookup.parse(standalone.question, lookup=message.kind == "list")
        metadata = answer_from_metadata(
            lookup, standalone, message, query, named=named, history=history
        )
        shape = shape_of(question, papers_named_in(question, named), self.reader)
        return ParsedQuestion(message, standalone, named, query, metadata, shape)

    def _reworded(
        self, parsed: ParsedQuestion, history: Sequence[Turn], stopped: Callable[[], bool]
    ) -> ParsedQuestion:
        """A follow-up as a question of its own, worded by the chat model.

        The default model may do so only if the reader is unsure of the message's focus.
        """
        mode = self.settings.writing.mode
        is_sure = max(parsed.message.focuses.values()) >= SURE
        if mode is WritingMode.QUOTE or (mode is WritingMode.BRIEF and is_sure):
            return parsed
        standalone = reworded(self.model, parsed.standalone, history, stopped)
        if standalone is parsed.standalone:
            return parsed
        return replace(parsed, standalone=standalone, wording=standalone.text)

    @property
    def _depth(self) -> int:
        """Papers that retrieval returns."""
        return max(self.settings.passages, RerankSettings().reach)

    def _retrieve(self, parsed: ParsedQuestion) -> list[Passage]:
        return candidates(
            self.library,
            parsed.standalone,
            self._depth,
            parsed.query.filters,
            also=[paper.id for paper in parsed.named],
            settings=self.settings.search,
        )

    def _read(
        self, parsed: ParsedQuestion, passages: Sequence[Passage], stopped: Callable[[], bool]
    ) -> ReadPapers:
        """The best papers read together with the question, best first.

        If one paper is sought and reading leaves several close, the chat model ranks these, too.
        """
        settings = RerankSettings() if self.settings.rerank else RerankSettings.order_kept()
        seeks_one = not (parsed.seeks_several or parsed.shape in LOOKED_FOR)
        is_overview = parsed.shape == "overview"
        known = parsed.entities.known
        depth = settings.deeper if is_overview else settings.depth
        papers = read_papers(
            parsed.text,
            passages,
            self.reader,
            stopped,
            replace(settings, depth=max(self.settings.passages, depth)),
            also=known,
            seeks_one=seeks_one,
        )
        tokens = sum(each.read.tokens for each in papers)
        topical = features_of(self.library, parsed.text, passages, papers) if is_overview else {}
        belonging = {id_: belongs(features) for id_, features in topical.items()}
        one_sought = not (parsed.seeks_several or parsed.standalone.focus_papers)
        if self.settings.rerank and one_sought and self.model.gives_likelihoods:
            likelihood = ChatLikelihood(self.model)
            papers = by_likelihood(parsed.text, papers, likelihood, stopped)
            tokens += likelihood.tokens
        only_best = seeks_one and not known and parsed.shape not in _LISTED
        most = MOST_ALONE if parsed.shape in LOOKED_FOR else READ_ALONE
        papers = read_alone(
            parsed.text,
            papers,
            self.reader,
            stopped,
            settings,
            seeks_one=only_best,
            besides=[id_ for id_, chance in belonging.items() if chance < BELONGS],
            most=most,
        )
        index, entities = self.library.lexical, parsed.entities
        beside = entities.among(papers) if parsed.seeks_several else parsed.meant(papers)
        if parsed.shape == "comparison" and entities.known:
            entities = entities.without_names(index)  # the other side may stand elsewhere
        probabilities = {
            each.passage.paper.id: probability(
                entities.features(each, index, [other.passage.paper for other in beside])
            )
            for each in papers
        }
        return ReadPapers(papers, probabilities, tokens, belonging)

    def _confidence(self, parsed: ParsedQuestion, read: ReadPapers) -> float:
        """Probability that one of the papers meant, or else of the best ones, answers."""
        judged = parsed.meant(read.papers) or read.papers[: self.settings.judged]
        return max(map(read.probability, judged), default=0.0)

    def _threshold(self) -> float:
        """Least confidence with which a question is answered."""
        least = self.settings.least_confidence
        return threshold(self.library.home) if least is None else least

    def _answering(
        self, parsed: ParsedQuestion, read: ReadPapers, least: float
    ) -> tuple[list[ReadPassage], list[ReadPassage]]:
        """The papers that the answer is about, and those that add a sentence beside them.

        The best paper may be about the question without answering it, while the next one answers.
        """
        if meant := parsed.meant(read.papers):
            return meant, []
        fitting = [each for each in read.papers if read.probability(each) >= least]
        if parsed.shape in LOOKED_FOR:
            return [], (having(parsed.shape, fitting, self._covers(parsed)) or fitting)[:FEW]
        first = next(at for at, each in enumerate(read.papers) if read.probability(each) >= least)
        if parsed.shape == "overview":
            on_topic = self._on_topic(read) or [read.papers[first]]
            return ([], on_topic) if len(on_topic) > 1 else (on_topic, [])
        limits = SEVERAL_SOUGHT if parsed.seeks_several else ONE_SOUGHT
        best, *others = read.papers[first : first + limits.papers]
        near = [
            each
            for each in others
            if best.passage.score - each.passage.score < limits.max_gap
            and read.probability(each) >= limits.min_probability
        ]
        return ([], [best, *near]) if parsed.seeks_several else ([best], near)

    def _on_topic(self, read: ReadPapers) -> list[ReadPassage]:
        """The papers that belong to the topic of an overview, the surest first."""
        surest = sorted(read.papers, key=lambda each: -read.belonging[each.passage.paper.id])
        on_topic = [each for each in surest if read.belonging[each.passage.paper.id] >= BELONGS]
        return on_topic[: self.settings.passages]

    def _choose(
        self,
        parsed: ParsedQuestion,
        read: ReadPapers,
        summarized: Sequence[ReadPassage],
        least: float,
        stopped: Callable[[], bool],
    ) -> list[Evidence]:
        """The sentences that the answer is made from, in the shape that the question asks for."""
        shape, covers = parsed.shape, self._covers(parsed)
        states = self.verifier.states
        leans = self.verifier.leans if shape in _UNDERSTOOD_ALONE else (lambda _sentence: False)
        if summarized:
            return [s for each in summarized for s in summary(each, states, leans, covers)]
        about, beside = self._answering(parsed, read, least)
        if shape == "overview" and about:  # one paper is no overview
            shape = "other"
        is_defined = shape != "definition" or having(shape, beside, covers)
        fits = fitness(shape, covers)
        if shape != "summary":  # the sentence reader has not learned what a gist is
            about = [self._read_whole(parsed.text, each, stopped) for each in about]
            about, beside = (list(map(by_both_readers, part)) for part in (about, beside))
        evidence = choose_evidence(about, beside, states, fits=fits, leans=leans)
        if shape == "overview":
            return by_subtopic(evidence, self.library, parsed.text)
        if shape == "comparison" and len(parsed.meant(read.papers)) != 1:
            fitting = [each for each in read.papers if read.probability(each) >= least]
            fitting = list(map(by_both_readers, fitting))
            others = choose_evidence([], fitting, states, fits=fits, leans=leans)
            return each_side(evidence, others, covers)
        if not is_defined:
            return [replace(each, heading=UNDEFINED) for each in evidence]
        return evidence

    def _read_whole(
        self, question: str, of: ReadPassage, stopped: Callable[[], bool]
    ) -> ReadPassage:
        """A paper with all its sentences read alone; the reader hardly likes the first ones."""
        paper = of.passage.paper
        read = self.reader.read_alone(question, paper, of.read, stopped, MOST_ALONE)
        return replace(of, read=read)

    def _covers(self, parsed: ParsedQuestion) -> Callable[[str], float]:
        """A function that gives the share of the question that a text has."""
        return partial(self.library.lexical.share, parsed.text)

    def _is_only_quoted(self, parsed: ParsedQuestion, builder: AnswerBuilder) -> bool:
        """Whether the default model should write nothing.

        Excerpts of papers that are listed or compared do not make a text: each needs its paper's
        title. Nothing of what defines nothing is an answer.
        """
        papers = {each.paper.id for each in builder.draft.evidence}
        is_list = parsed.is_about_several and parsed.shape in _LISTED and len(papers) > 1
        is_list = is_list or any(each.heading for each in builder.draft.evidence)
        return is_list and self.settings.writing.mode is WritingMode.BRIEF

    def _write(
        self,
        builder: AnswerBuilder,
        parsed: ParsedQuestion,
        stopped: Callable[[], bool],
        sampling: Sampling,
    ) -> Iterator[SentenceVerified]:
        """Write sentences and check them; none if the model finds no answer in the evidence."""
        writer = Writer(self.model, self.verifier, self.settings.writing, sampling)
        question = parsed.wording or parsed.text
        is_number = parsed.shape == "number"
        counted = partial(is_counted, covers=self._covers(parsed))
        for sentence in writer.generate(
            builder.draft,
            question,
            stopped,
            each_paper=parsed.is_about_several,
            wanted=Wanted(
                begins=begins_with_number if is_number else None,
                prefers=(counted, has_number) if is_number else (),
                answers=lambda text, paper: self.reader.answers_alone(question, text, paper.title),
            ),
        ):
            builder.mark_shown()
            yield sentence
        builder.tokens = writer.tokens

    def _list_similar(
        self,
        builder: AnswerBuilder,
        parsed: ParsedQuestion,
        paper: Paper,
        stopped: Callable[[], bool],
    ) -> Iterator[Event]:
        """The papers most like one, each with the sentence that says what it does."""
        near = [each.paper for each in similar(self.library, paper.id, SIMILAR)]
        yield builder.add_passages(parsed.standalone.text, passages_of(self.library, near))
        read = [
            ReadPassage(each, result)
            for each in builder.passages
            for result in self.reader.read(gist_of(each.paper), [each.paper], stopped)
        ]
        fits = fitness(parsed.shape)
        states, leans = self.verifier.states, self.verifier.leans
        yield builder.add_evidence(choose_evidence([], read, states, fits=fits, leans=leans))
        yield from builder.quote_all()
        papers = ReadPapers(read, {each.passage.paper.id: 1.0 for each in read}, 0)
        builder.search = search_record(self.library, parsed, builder.retrieved, papers)
        builder.coverage = (
            f"Of {self.library.lexical.size:,} papers these {len(read)} have the abstracts "
            f"most like that of “{paper.shown_title}”."
        )

    def _add_remarks(
        self, builder: AnswerBuilder, parsed: ParsedQuestion, read: ReadPapers
    ) -> None:
        """Say how complete the answer is, and what else the cited abstracts answer."""
        index = self.library.lexical
        builder.coverage = coverage(
            parsed.shape,
            parsed.text,
            builder.draft.evidence,
            read.papers,
            index,
            filters=parsed.query.filters,
            absent=parsed.entities.absent([each.paper for each in builder.draft.evidence], index),
        )
        builder.suggestions = suggestions(read.papers, builder.draft.citations)

    def _abstain(self, builder: AnswerBuilder, parsed: ParsedQuestion, read: ReadPapers) -> None:
        """Give the reason for not answering, if one is known."""
        index = self.library.lexical
        known = parsed.entities.among(read.papers)
        if known and parsed.shape != "similar":
            builder.abstain_silent(known[0].passage.paper)
        elif parsed.entities.is_foreign(index, self.library.embedder.count):
            builder.note = FOREIGN
        elif (unknown := parsed.entities.unknown(index)) or parsed.shape == "similar":
            names = " or ".join(f"“{name}”" for name in unknown)
            reason = NO_EXAMPLE_PAPER if parsed.shape == "similar" else ABSTENTION
            builder.note = f"{reason} None mentions {names}." if names else reason


def checked_question(question: str) -> str:
    """The question without invisible characters and surrounding space.

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
    """`typed` with a question mark in place of each lone surrogate, which UTF-8 cannot encode.

    JSON can contain them, and Python makes them of command-line bytes that are not UTF-8.
    """
    return typed.encode("utf-8", "replace").decode("utf-8")
