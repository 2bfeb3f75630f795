"""Query-likelihood reranking: papers under which the question is likelier come first.

After Sachan et al. 2022, "Improving Passage Retrieval with Zero-Shot Question Generation": a
language model reads a paper and says how likely the question is as one that is asked about it.
That takes time, so papers that the first stage has left far behind are not read. Only questions
are ranked again: on claims the default model does worse than the first stage, whichever way it is
asked. Measured in tests/benchmarks/ranking.md.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.types import Paper, Passage

_ASKS = re.compile(
    r"[?？؟]\W*$|^\W*(?:which|what|who|whom|whose|how|why|when|where|is|are|was|were|do|does|did|"
    r"can|could|should|would|will|has|have|compare|explain|describe|list|name|tell|summari[sz]e|"
    r"give|find|show)\b",
    re.IGNORECASE,
)


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
    """Which papers are read again, and what their likelihood counts; see ranking.md."""

    depth: int = 12
    """Papers read at most."""
    margin: float = 0.25
    """A paper whose fused score is this far behind the best is not read; with none nearer nothing
    is: the first stage has decided."""
    weight: float = 1.0
    """What a likelihood counts, see `advantages`, against the fused score."""
    token_limit: float = 2.0
    """What one token of the question can count at most for or against a paper."""
    characters: int = 1500
    """Of a paper's text; longer abstracts are cut."""
    characters_in_all: int = 14_500
    """Of the texts of all papers read, so that many take hardly longer than a few."""


def rerank(
    question: str,
    passages: Sequence[Passage],
    likelihood: QuestionLikelihood,
    stopped: Callable[[], bool],
    settings: RerankSettings | None = None,
) -> list[Passage]:
    """The passages with the likeliest papers first; those not read keep their order behind.

    Args:
        question: what was asked; if it is no question, the order stays.
        passages: papers as the first stage ranks them, best first.
        likelihood: the model that reads them.
        stopped: looked at between two papers.
        settings: see `RerankSettings`.

    Raises:
        Cancelled: `stopped()` became true.
    """
    settings = settings or RerankSettings()
    read = undecided(passages, settings)
    if not read or not is_question(question):
        return list(passages)
    length = min(settings.characters, settings.characters_in_all // len(read))
    texts = [text_of(passage.paper, length) for passage in read]
    rows = np.array(list(likelihood.of(question, texts, stopped)))
    values = advantages(rows, settings.token_limit).tolist()
    # Papers not read count as likely as the least likely one that was.
    values += [min(values)] * (len(passages) - len(read))
    scored = [
        replace(passage, score=passage.score + settings.weight * (value - max(values)))
        for passage, value in zip(passages, values, strict=True)
    ]
    return sorted(scored, key=lambda passage: -passage.score)


def is_question(text: str) -> bool:
    """Whether `text` asks for something, rather than state it or name a topic."""
    return bool(_ASKS.search(text))


def undecided(passages: Sequence[Passage], settings: RerankSettings) -> Sequence[Passage]:
    """The first passages, between which the first stage leaves a doubt; none, or at least two."""
    near = [
        passage
        for passage in passages[: settings.depth]
        if passages[0].score - passage.score < settings.margin
    ]
    return near if len(near) > 1 else []


def advantages(rows: NDArray[np.float32], limit: float) -> NDArray[np.float32]:
    """How much likelier the question is of each paper than of the middling one, a token.

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
