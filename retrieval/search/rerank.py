"""Reranking: the best papers of the first stage are read together with the question.

What the reader says of a paper is added to its fused score; the weights are in `RerankSettings`
and come from questions about papers that training kept out, see tests/benchmarks/reading.md. Papers
that the first stage has left far behind are not read. Between the few that reading leaves close
together, the chat model decides: by how likely it finds the question after each (Ponte and Croft
1998, "A Language Modeling Approach to Information Retrieval"; with a pretrained model, Sachan et
al. 2022, "Improving Passage Retrieval with Zero-Shot Question Generation").
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.search.reader import PaperRead
from retrieval.types import Paper, Passage


class PaperReader(Protocol):
    """What reads a question together with papers; see `Reader`."""

    def read(
        self, question: str, papers: Sequence[Paper], stopped: Callable[[], bool]
    ) -> Iterator[PaperRead]:
        """What each of `papers` says to `question`.

        Raises:
            Cancelled: `stopped()` became true.
        """


class QuestionLikelihood(Protocol):
    """A language model that can say how likely a question is about a text."""

    def of(
        self, question: str, texts: Sequence[str], stopped: Callable[[], bool]
    ) -> Iterator[NDArray[np.float32]]:
        """For each of `texts` the log-probability (natural) of every token of the question.

        Raises:
            Cancelled: `stopped()` became true.
        """


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """Which papers are read, and what of that counts; see tests/benchmarks/reading.md."""

    depth: int = 12
    """Papers read at most."""
    margin: float = 0.5
    """A paper whose fused score is this far behind the best is not read."""
    near: float = 0.25
    """The same where one paper is sought: hardly ever is it one further behind."""
    relevance: float = 0.03
    """What the logit "this paper is what the question is about" counts."""
    answered: float = 0.06
    """What the logit "this abstract answers it" counts."""
    evidence: float = 0.0
    """What the logit of the paper's best sentence counts."""
    close: int = 3
    """Papers whose likelihood is asked for at most."""
    doubt: float = 0.2
    """A paper whose score after reading is this far behind the best is not close to it."""
    likelihood: float = 1.0
    """What a likelihood counts, see `advantages`."""
    token_limit: float = 2.0
    """What one token of the question can count at most for or against a paper."""
    characters: int = 1500
    """Of a paper's text whose likelihood is asked for; longer abstracts are cut."""

    @classmethod
    def order_kept(cls) -> "RerankSettings":
        """Papers are read, but the order of the first stage stays; for measurements."""
        return cls(relevance=0.0, answered=0.0, evidence=0.0)


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A passage and what the reader says of its paper."""

    passage: Passage
    read: PaperRead


def read_papers(
    question: str,
    passages: Sequence[Passage],
    reader: PaperReader,
    stopped: Callable[[], bool],
    settings: RerankSettings | None = None,
    *,
    also: Collection[str] = (),
    seeks_one: bool = False,
) -> list[ReadPassage]:
    """The passages near the best one with what the reader says, those that answer first.

    Args:
        question: what was asked.
        passages: papers as the first stage ranks them, best first.
        reader: reads them.
        stopped: looked at between two papers.
        settings: see `RerankSettings`.
        also: ids of papers that are read however far behind.
        seeks_one: whether one paper is sought, so that fewer are read.

    Returns:
        Read passages, best first; `score` is the fused score plus what reading adds, which is 0 for
        the paper that reads best and less for the others.

    Raises:
        Cancelled: `stopped()` became true.
    """
    settings = settings or RerankSettings()
    margin = settings.near if seeks_one else settings.margin
    near = [
        passage
        for at, passage in enumerate(passages)
        if passage.paper.id in also
        or (at < settings.depth and passages[0].score - passage.score < margin)
    ]
    reads = list(reader.read(question, [passage.paper for passage in near], stopped))
    values = [value_of(read, settings) for read in reads]
    best = max(values, default=0.0)
    scored = [
        _adjusted(ReadPassage(passage, read), value - best)
        for passage, read, value in zip(near, reads, values, strict=True)
    ]
    return sorted(scored, key=lambda each: -each.passage.score)


def value_of(read: PaperRead, settings: RerankSettings) -> float:
    """What reading a paper counts, comparable between the papers of one question."""
    best = max((each.evidence for each in read.sentences), default=0.0)
    return (
        settings.relevance * read.relevance
        + settings.answered * read.answered
        + settings.evidence * best
    )


def by_likelihood(
    question: str,
    read: Sequence[ReadPassage],
    likelihood: QuestionLikelihood,
    stopped: Callable[[], bool],
    settings: RerankSettings | None = None,
) -> list[ReadPassage]:
    """The papers read, those close to the best in the order in which the question is likelier.

    Args:
        question: what was asked.
        read: papers as `read_papers` gives them, best first.
        likelihood: the model that is asked, unless one paper is clearly the best.
        stopped: looked at between two papers.
        settings: see `RerankSettings`.

    Raises:
        Cancelled: `stopped()` became true.
    """
    settings = settings or RerankSettings()
    close = [
        each
        for each in read[: settings.close]
        if read[0].passage.score - each.passage.score < settings.doubt
    ]
    if len(close) < 2:  # noqa: PLR2004
        return list(read)
    texts = [text_of(each.passage.paper, settings.characters) for each in close]
    rows = np.array(list(likelihood.of(question, texts, stopped)))
    values = advantages(rows, settings.token_limit).tolist()
    # Papers that are not close count as likely as the least likely one that is.
    values += [min(values)] * (len(read) - len(close))
    scored = [
        _adjusted(each, settings.likelihood * (value - max(values)))
        for each, value in zip(read, values, strict=True)
    ]
    return sorted(scored, key=lambda each: -each.passage.score)


def advantages(rows: NDArray[np.float32], limit: float) -> NDArray[np.float32]:
    """How much likelier the question is after each paper than after the middling one, a token.

    Args:
        rows: log-probabilities of the question's tokens, shape (papers, tokens).
        limit: what a single token can count at most; without a limit the one word that a paper
            happens to share, or to lack, outweighs the rest of the question.

    Returns:
        Shape (papers,), within -`limit` and `limit`.
    """
    advantage = np.clip(rows - np.median(rows, axis=0), -limit, limit)
    return np.asarray(advantage.mean(axis=1), dtype=np.float32)


def text_of(paper: Paper, characters: int) -> str:
    """What is read of a paper: its title and its abstract, cut between words."""
    text = f"{paper.title}\n{paper.abstract}" if paper.title else paper.abstract
    return text if len(text) <= characters else text[:characters].rsplit(" ", 1)[0]


def _adjusted(read: ReadPassage, value: float) -> ReadPassage:
    passage = read.passage
    return replace(read, passage=replace(passage, score=passage.score + value))


def reranked(passages: Sequence[Passage], read: Sequence[ReadPassage]) -> list[Passage]:
    """The passages in the order of reading; those not read keep their order behind."""
    known = {each.passage.paper.id for each in read}
    lowest = min((each.passage.score for each in read), default=0.0)
    rest = [passage for passage in passages if passage.paper.id not in known]
    behind = lowest - max((passage.score for passage in rest), default=0.0)
    return [
        *(each.passage for each in read),
        *(replace(passage, score=passage.score + min(behind, 0.0)) for passage in rest),
    ]
