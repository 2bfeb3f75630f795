"""Reranking: reads the best papers of the first stage together with the question.

The reader's logits are added to a paper's fused score; the weights are in `RerankSettings` and come
from questions about papers held out of training, see tests/benchmarks/reading.md. Papers far behind
the best of the first stage are not read. If a few papers stay close after reading, the chat model
decides between them: by the likelihood of the question after each (Ponte and Croft 1998, "A
Language Modeling Approach to Information Retrieval"; with a pretrained model, Sachan et al. 2022,
"Improving Passage Retrieval with Zero-Shot Question Generation").
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.library.library import Library
from retrieval.query.lookup import Lookup
from retrieval.search.reader import READ_ALONE, PaperRead, Reader
from retrieval.search.search import search
from retrieval.types import Paper, Passage, SearchSettings

HOPELESS = -5.0
"""A paper with a lower logit `answerable` does not answer, whatever its sentences say alone."""
NOT_READ = -6.0
"""Stands in for the sentence reader's logit of such a paper."""


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """Which papers are read, and how the result counts; see tests/benchmarks/reading.md."""

    depth: int = 12
    """Papers read at most."""
    margin: float = 0.5
    """A paper whose fused score is this far behind the best is not read."""
    near: float = 0.25
    """The margin if one paper is sought: in five questions of six it is not further behind."""
    sure: float = 1.0
    """The logit of "this abstract answers it" with which the paper sought is found."""
    deeper: int = 20
    """Papers read at most until it is."""
    far: float = 0.3
    """The margin of those."""
    relevance: float = 0.03
    """Weight of the logit "this paper is what the question is about"."""
    answered: float = 0.06
    """Weight of the logit "this abstract answers it"."""
    alone: float = 0.03
    """Weight of the sentence reader's logit of the sentence that answers best."""
    closely: int = 4
    """Papers whose sentences are read alone if one paper is sought: the best ones."""
    close: int = 3
    """Papers whose likelihood is computed, at most."""
    doubt: float = 0.2
    """A paper whose score after reading is this far behind the best is not close to it."""
    likelihood: float = 1.0
    """Weight of a likelihood, see `advantages`."""
    token_limit: float = 2.0
    """Most that one token of the question can count for or against a paper."""
    characters: int = 1500
    """Characters of a paper's text for the likelihood; longer abstracts are cut."""

    @classmethod
    def order_kept(cls) -> "RerankSettings":
        """Settings to read papers but keep the first stage's order; for measurements."""
        return cls(relevance=0.0, answered=0.0, alone=0.0)

    @property
    def reach(self) -> int:
        """Papers that may be read."""
        return max(self.depth, self.deeper)


class QuestionLikelihood(Protocol):
    """A language model that gives the likelihood of a question after a text."""

    def of(
        self, question: str, texts: Sequence[str], stopped: Callable[[], bool]
    ) -> Iterator[NDArray[np.float32]]:
        """For each text the log-probability (natural) of every token of the question."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The papers found for a query."""

    passages: tuple[Passage, ...]
    """Best first."""
    notes: tuple[str, ...] = ()
    """One sentence for each filter of the query that no paper passes."""


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A passage and the reader's result for its paper."""

    passage: Passage
    read: PaperRead

    def plus(self, score: float) -> "ReadPassage":
        """The same with a higher score."""
        return replace(self, passage=replace(self.passage, score=self.passage.score + score))


def ranking(
    library: Library,
    query: str,
    limit: int,
    reader: Reader | None,
    stopped: Callable[[], bool],
    *,
    settings: SearchSettings | None = None,
) -> Ranking:
    """The papers that pass the filters in `query` and fit it best, best first, at most `limit`.

    Without a reader, the first stage alone ranks. For a claim its order stays, too: it is better
    than that of the reader, which was trained on questions; see tests/benchmarks/reading.md. Raises
    `LibraryError` if the library has no papers or cannot be read and `Cancelled` if `stopped()`
    became true.
    """
    library.ready_to_search()
    parsed = Lookup.over(library).parse(query, lookup=False)
    depth = max(limit, RerankSettings().depth)
    passages = search(library, query, depth, settings, filters=parsed.filters)
    unmatched = [each.said for each in parsed.unmatched]
    if parsed.filters and not passages:
        unmatched.append(parsed.said)
    if reader and not reader.is_claim(query):
        passages = reranked(passages, read_papers(query, passages, reader, stopped))
    notes = tuple(f"no paper {said} in this library" for said in unmatched)
    return Ranking(tuple(passages[:limit]), notes)


def read_papers(
    question: str,
    passages: Sequence[Passage],
    reader: Reader,
    stopped: Callable[[], bool],
    settings: RerankSettings | None = None,
    *,
    also: Collection[str] = (),
    seeks_one: bool = False,
) -> list[ReadPassage]:
    """Read the papers of the passages near the best one; return them in the new order.

    The passages are from the first stage, best first; the papers with the ids in `also` are always
    read. If one paper is sought, fewer others are read, and more only if none is named and none of
    these surely answers. The returned `score` is the fused score plus the reader's, which is 0 for
    the paper that the reader finds best and less for the others. Raises `Cancelled` once
    `stopped()` is true.
    """
    settings = settings or RerankSettings()
    margin = settings.near if seeks_one else settings.margin

    def within(depth: int, margin: float) -> list[Passage]:
        return [each for each in passages[:depth] if passages[0].score - each.score < margin]

    near = within(settings.depth, margin)
    near += [each for each in passages if each.paper.id in also and each not in near]
    reads = list(reader.read(question, [each.paper for each in near], stopped))
    if seeks_one and not also and all(read.answered < settings.sure for read in reads):
        more = [each for each in within(settings.deeper, settings.far) if each not in near]
        reads += reader.read(question, [each.paper for each in more], stopped)
        near += more
    values = [settings.relevance * r.relevance + settings.answered * r.answered for r in reads]
    return _ordered(map(ReadPassage, near, reads), values)


def reranked(passages: Sequence[Passage], read: Sequence[ReadPassage]) -> list[Passage]:
    """The passages in their new order; those not read follow in their old order."""
    known = {each.passage.paper.id for each in read}
    lowest = min((each.passage.score for each in read), default=0.0)
    rest = [passage for passage in passages if passage.paper.id not in known]
    behind = lowest - max((passage.score for passage in rest), default=0.0)
    return [
        *(each.passage for each in read),
        *(replace(passage, score=passage.score + min(behind, 0.0)) for passage in rest),
    ]


def read_alone(
    question: str,
    read: Sequence[ReadPassage],
    reader: Reader,
    stopped: Callable[[], bool],
    settings: RerankSettings | None = None,
    *,
    seeks_one: bool = False,
    besides: Collection[str] = (),
    most: int = READ_ALONE,
) -> list[ReadPassage]:
    """The read passages in their new order, the likeliest sentences of each read one by one, too.

    At most `most` of a paper are. Papers that hardly answer are left as they are, and so are those
    with the ids in `besides`, and if one is sought those behind the best few. Raises `Cancelled` as
    `read_papers`.
    """
    settings = settings or RerankSettings()
    closely = settings.closely if seeks_one else len(read)
    known = [
        replace(
            each, read=reader.read_alone(question, each.passage.paper, each.read, stopped, most)
        )
        if each.read.answerable > HOPELESS and at < closely and each.passage.paper.id not in besides
        else each
        for at, each in enumerate(read)
    ]
    logits = [NOT_READ if each.read.alone is None else each.read.alone for each in known]
    return _ordered(known, [settings.alone * logit for logit in logits])


def by_likelihood(
    question: str,
    read: Sequence[ReadPassage],
    likelihood: QuestionLikelihood,
    stopped: Callable[[], bool],
    settings: RerankSettings | None = None,
) -> list[ReadPassage]:
    """The read passages, with those close to the best ordered by the question's likelihood.

    The model is not called if one paper is clearly the best. Raises `Cancelled` as `read_papers`.
    """
    settings = settings or RerankSettings()
    least = read[0].passage.score - settings.doubt if read else 0.0
    close = [each for each in read[: settings.close] if each.passage.score > least]
    if len(close) < 2:  # noqa: PLR2004
        return list(read)
    texts = [text_of(each.passage.paper, settings.characters) for each in close]
    rows = np.array(list(likelihood.of(question, texts, stopped)))
    values = advantages(rows, settings.token_limit).tolist()
    # The other papers get the least likelihood of the close ones.
    values += [min(values)] * (len(read) - len(close))
    return _ordered(read, [settings.likelihood * value for value in values])


def advantages(rows: NDArray[np.float32], limit: float) -> NDArray[np.float32]:
    """How much likelier a token of the question is after each paper than at the median, on average.

    Args:
        rows: log-probabilities of the question's tokens, shape (papers, tokens).
        limit: most that a single token can count; without a limit one word that a paper happens to
            share, or to lack, outweighs the rest of the question.

    Returns:
        Shape (papers,), within -`limit` and `limit`.
    """
    advantage = np.clip(rows - np.median(rows, axis=0), -limit, limit)
    return np.asarray(advantage.mean(axis=1), dtype=np.float32)


def text_of(paper: Paper, characters: int) -> str:
    """A paper's title and abstract, cut between words."""
    text = f"{paper.title}\n{paper.abstract}" if paper.title else paper.abstract
    return text if len(text) <= characters else text[:characters].rsplit(" ", 1)[0]


def _ordered(read: Iterable[ReadPassage], values: Sequence[float]) -> list[ReadPassage]:
    """Best first, once to each score its value is added, less the highest of the values."""
    best = max(values, default=0.0)
    scored = [each.plus(value - best) for each, value in zip(read, values, strict=True)]
    return sorted(scored, key=lambda each: -each.passage.score)
