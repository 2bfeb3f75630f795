"""Which paper a message after an answer is about: one of the conversation, or one found for it.

A conditional logit (McFadden 1974, "Conditional Logit Analysis of Qualitative Choice Behavior")
over the papers found and those of the conversation: how well each fits the message, by itself and
behind the title of the paper cited last, and what the reader says that the message goes on about.
`tests/benchmarks/training/fit_follow_ups.py` fits the weights, see tests/benchmarks/reading.md.
"""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

from retrieval.nicknames import introduced, joined
from retrieval.search.reader import MessageRead
from retrieval.types import Paper, Passage


@dataclass(frozen=True, slots=True)
class Signals:
    """What tells whether a message is about a paper."""

    alone: float
    """Fused score for the message as typed."""
    beside: float
    """Fused score for the message behind the title of the paper cited last."""
    last: float
    """1 for the paper cited last."""
    goes_on: float
    """For that paper: log of how much likelier the message goes on about it than stands alone."""
    earlier: float
    """1 for the other papers of the conversation."""
    goes_back: float
    """For those: log of how much likelier the message goes back to one than does not."""
    others: float
    """For all of these: log odds that the message asks for other papers."""


WEIGHTS = Signals(
    alone=10.54,
    beside=14.51,
    last=-7.81,
    goes_on=0.63,
    earlier=1.32,
    goes_back=1.14,
    others=-1.44,
)


def by_focus(
    alone: Sequence[Passage],
    beside: Sequence[Passage],
    history: Sequence[Paper],
    read: MessageRead,
) -> list[Passage]:
    """The papers that a message may be about, likeliest first; `score` stays near a fused score.

    Args:
        alone: papers found for the message as typed, those of `history` among them.
        beside: papers found for it behind the title of the paper cited last, likewise.
        history: papers of the conversation, the one cited last first.
        read: the message as the reader sees it.
    """
    passages = {each.paper.id: each for each in (*beside, *alone)}
    signals = signals_of(alone, beside, history, read)
    weighed = [replace(each, score=_weighed(signals[id_])) for id_, each in passages.items()]
    return sorted(weighed, key=lambda each: -each.score)


def signals_of(
    alone: Sequence[Passage],
    beside: Sequence[Passage],
    history: Sequence[Paper],
    read: MessageRead,
) -> dict[str, Signals]:
    """The signals of every paper by id, see `by_focus`; one not found scores as the last found."""
    scores = [{each.paper.id: each.score for each in found} for found in (alone, beside)]
    least = [min(found.values(), default=0.0) for found in scores]
    last, *earlier = (paper.id for paper in history)
    focus, others = read.focuses, _for_others(read)
    goes_on = _log_ratio(focus["last"], focus["alone"])
    goes_back = _log_ratio(focus["earlier"], focus["alone"] + focus["last"])
    return {
        id_: Signals(
            alone=scores[0].get(id_, least[0]),
            beside=scores[1].get(id_, least[1]),
            last=id_ == last,
            goes_on=goes_on * (id_ == last),
            earlier=id_ in earlier,
            goes_back=goes_back * (id_ in earlier),
            others=others * (id_ == last or id_ in earlier),
        )
        for id_ in scores[0] | scores[1]
    }


def seeks_others(read: MessageRead) -> bool:
    """Whether a message asks for other papers than those of the conversation."""
    return _for_others(read) > 0.0 and read.focus not in ("alone", "both")


def own_named(question: str, papers: Sequence[Paper]) -> list[Paper]:
    """Those of `papers` whose title a question has, or a name that the paper gives its own method.

    A title without a colon may have the name of somebody else's: `Can BERT …?`
    """
    words = [joined(word) for word in question.split()]
    spans = {"".join(words[a:b]) for a in range(len(words)) for b in range(a + 1, a + 4)}
    whole = joined(question)

    def has(paper: Paper) -> bool:
        title = joined(paper.title)
        head = paper.title if ":" in paper.title else ""
        return bool(title and title in whole) or not spans.isdisjoint(
            introduced(head, paper.abstract)
        )

    return [paper for paper in papers if has(paper)]


def _weighed(signals: Signals) -> float:
    pairs = zip(astuple(signals), astuple(WEIGHTS), strict=True)
    total: float = sum(value * weight for value, weight in pairs)
    return total / (WEIGHTS.alone + WEIGHTS.beside)


def _for_others(read: MessageRead) -> float:
    share = read.kinds["list"] + read.kinds["several"]
    return _log_ratio(share, 1.0 - share)


def _log_ratio(one: float, other: float) -> float:
    """The log of a ratio of probabilities, within the reach of what a thousand examples show."""
    least = 1e-3
    return math.log(max(one, least) / max(other, least))
