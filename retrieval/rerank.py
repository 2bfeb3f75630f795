"""Query-likelihood reranking: papers under which the question is likelier come first.

After Sachan et al. 2022, "Improving Passage Retrieval with Zero-Shot Question Generation": a
language model reads a paper and says how likely the question is as one that is asked about it.
That takes time, so papers that the first stage has left far behind are not read. Measured in
tests/benchmarks/ranking.md.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from retrieval.types import Paper, Passage


class QuestionLikelihood(Protocol):
    """A language model that can say how likely a question is about a text."""

    def of(
        self, question: str, texts: Sequence[str], stopped: Callable[[], bool]
    ) -> Iterator[float]:
        """Mean log-probability (natural) of the question's tokens about each of `texts`.

        Raises:
            Cancelled: `stopped()` became true.
        """


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """Which papers are read again, and what their likelihood counts; see ranking.md."""

    depth: int = 10
    """Papers read at most."""
    margin: float = 0.3
    """A paper whose fused score is this far behind the best is not read; with none nearer nothing
    is: the first stage has decided."""
    weight: float = 0.8
    """What a difference of one in mean log-probability counts against one in fused score."""
    characters: int = 2000
    """Of a paper's text; longer abstracts are cut."""


def rerank(
    question: str,
    passages: Sequence[Passage],
    likelihood: QuestionLikelihood,
    stopped: Callable[[], bool],
    settings: RerankSettings | None = None,
) -> list[Passage]:
    """The passages with the likeliest papers first; those not read keep their order behind.

    Args:
        question: what was asked.
        passages: papers as the first stage ranks them, best first.
        likelihood: the model that reads them.
        stopped: looked at between two papers.
        settings: see `RerankSettings`.

    Raises:
        Cancelled: `stopped()` became true.
    """
    settings = settings or RerankSettings()
    read = undecided(passages, settings)
    if not read:
        return list(passages)
    texts = [text_of(passage.paper, settings.characters) for passage in read]
    values = list(likelihood.of(question, texts, stopped))
    # Papers not read count as likely as the least likely one that was.
    values += [min(values)] * (len(passages) - len(read))
    scored = [
        replace(passage, score=passage.score + settings.weight * (value - max(values)))
        for passage, value in zip(passages, values, strict=True)
    ]
    return sorted(scored, key=lambda passage: -passage.score)


def undecided(passages: Sequence[Passage], settings: RerankSettings) -> Sequence[Passage]:
    """The first passages, between which the first stage leaves a doubt; none, or at least two."""
    near = [
        passage
        for passage in passages[: settings.depth]
        if passages[0].score - passage.score < settings.margin
    ]
    return near if len(near) > 1 else []


def text_of(paper: Paper, characters: int) -> str:
    """What is read of a paper: its title and its abstract, cut between words."""
    text = f"{paper.title}\n{paper.abstract}" if paper.title else paper.abstract
    return text if len(text) <= characters else text[:characters].rsplit(" ", 1)[0]
