"""What a message asks for, which papers of the conversation it is about, and its fixed reply.

The reader says what kind of message it is; which paper it is about, a linear model over `Signals`
says (see tests/benchmarks/conversation.md). A place, mark or name in the message is exact.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from operator import mul

from assistant.types import Answer, Turn
from retrieval.search.reader import MessageRead
from retrieval.text.titles import introduced, joined
from retrieval.types import Paper, Passage

GREETING = "Hello. Ask about the papers of this library."
THANKS = "You're welcome. Ask another question."
ABILITY = (
    "This assistant answers questions about the papers of this library from their abstracts, finds "
    "papers by title, author, venue or year, and says so when no abstract answers."
)
SURE_KIND = 0.7
"""Least probability of a kind that has a fixed reply: a question that gets a courtesy in reply is
lost, a courtesy that gets an abstention is only clumsy."""
_REPLIES = {"greeting": GREETING, "thanks": THANKS, "ability": ABILITY}
_SIZE = re.compile(r"This library has [\d,]+ papers?\.")
_PAPER = r"(?:papers?|works?|articles?|stud(?:y|ies)|publications?|ones?)"
_ORDINALS = {
    ordinal: at // 2
    for at, ordinal in enumerate(
        "first 1st second 2nd third 3rd fourth 4th fifth 5th sixth 6th seventh 7th eighth 8th "
        "ninth 9th tenth 10th".split()
    )
}
_NOT_OF_A_TOPIC = (
    r"(?! (?:to\b|on\b|for\b|that\b|which\b|of (?!(?:them|these|those)\b)|about \w"
    r"|in (?!(?:the |your )?(?:list|answer|detail|short|brief)\b)))"
)
_PLACE = re.compile(
    rf"\b(?:the|that|your) (?:(?P<either>former|latter)(?: {_PAPER})?"
    rf"|(?P<rank>{'|'.join(_ORDINALS)}|last|previous|other) "
    rf"(?:one|paper|article|study|publication)\b{_NOT_OF_A_TOPIC}"
    rf"|(?P<bare>{'|'.join(_ORDINALS)})(?=\W*$))",
    re.IGNORECASE,
)
_CITED = re.compile(
    r"\[(?P<mark>\d{1,2})\]|\b(?:paper|reference|citation) #?(?P<number>\d{1,2})\b", re.IGNORECASE
)


def fixed_reply(message: MessageRead, papers: int) -> str:
    """The reply to a message that asks nothing of a library's `papers`; else empty."""
    if message.kinds[message.kind] < SURE_KIND:
        return ""
    if message.kind == "count":
        return f"This library has {papers:,} {'paper' if papers == 1 else 'papers'}."
    return _REPLIES.get(message.kind, "")


def is_fixed(answer: Answer) -> bool:
    """Whether an answer is a fixed reply."""
    is_reply = answer.text in _REPLIES.values() or _SIZE.fullmatch(answer.text)
    return bool(is_reply) and not (answer.sentences or answer.passages)


def about_papers(history: Sequence[Turn]) -> list[Turn]:
    """The turns of a conversation that are about papers."""
    return [turn for turn in history if not is_fixed(turn.answer)]


def seeks_others(message: MessageRead) -> bool:
    """Whether a message asks for other papers than those of the conversation."""
    return _for_others(message) > 0.0 and message.focus not in ("alone", "both")


def papers_named_in(question: str, papers: Sequence[Paper]) -> list[Paper]:
    """Those of `papers` that a question names by their title or by the name of their own method.

    A name in a title without a colon may be that of another paper's method: `Can BERT …?`
    """
    titled = [each for each in papers if each.title and joined(each.title) in joined(question)]
    for paper in titled:  # what a title names is no other paper
        question = re.sub(re.escape(paper.title), " ", question, flags=re.IGNORECASE)
    words = question.split()
    runs = [words[a:b] for a in range(len(words)) for b in range(a + 1, a + 4)]
    spans = {joined("".join(run)) for run in runs}
    # `to me` is not ToMe, but `git re-basin` is in a title.
    plain = {joined("".join(run)) for run in runs if len(run) > 1 and " ".join(run).islower()}
    named = []
    for paper in papers:
        title = paper.title if ":" in paper.title else ""
        known = introduced(title, paper.abstract)
        own = {name for name in known if name not in plain or name in introduced(title, "")}
        if paper in titled or not spans.isdisjoint(own):
            named.append(paper)
    return named


@dataclass(frozen=True, slots=True)
class OrdinalPlace:
    """One of several papers, named by its place in the conversation."""

    start: int
    end: int
    """The place is named in `message[start:end]`."""
    rank: str
    """`0` for the first, `1` for the second, …, or `last`, `previous`, `other`, `former`, …"""
    by_mark: bool = False
    """Whether the rank is the number of a citation, from 1."""


def place_in(message: str) -> OrdinalPlace | None:
    """The place that a message names, if any."""
    if cited := _CITED.search(message):
        rank = cited["mark"] or cited["number"]
        return OrdinalPlace(cited.start(), cited.end(), rank, by_mark=True)
    found = _PLACE.search(message)
    if not found:
        return None
    rank = (found["either"] or found["rank"] or found["bare"]).casefold()
    return OrdinalPlace(found.start(), found.end(), str(_ORDINALS.get(rank, rank)))


@dataclass(frozen=True, slots=True)
class Signals:
    """Features from which `by_focus` scores whether a message is about a paper."""

    alone: float
    """Fused score for the message as typed."""
    beside: float
    """Fused score for the message with the title of the paper cited last before it."""
    last: float
    """1 for the paper cited last."""
    goes_on: float
    """For that paper: log odds that the message is about it and does not stand alone."""
    earlier: float
    """1 for the other papers of the conversation."""
    goes_back: float
    """For those: log odds that the message is about one of them."""
    others: float
    """For all of them: log odds that the message asks for other papers."""


WEIGHTS = Signals(
    alone=10.54, beside=14.51, last=-7.81, goes_on=0.63, earlier=1.32, goes_back=1.14, others=-1.44
)


def by_focus(
    alone: Sequence[Passage],
    beside: Sequence[Passage],
    history: Sequence[Paper],
    message: MessageRead,
) -> list[Passage]:
    """The papers that a message may be about, likeliest first; `score` stays near a fused score.

    Args:
        alone: papers found for the message as typed, those of `history` among them.
        beside: papers found for it behind the title of the paper cited last, likewise.
        history: papers of the conversation, the one cited last first.
        message: as the reader sees it.
    """
    passages = {each.paper.id: each for each in (*beside, *alone)}
    scale = WEIGHTS.alone + WEIGHTS.beside
    scores = {
        id_: sum(map(mul, astuple(signals), astuple(WEIGHTS))) / scale
        for id_, signals in signals_of(alone, beside, history, message).items()
    }
    weighed = [replace(each, score=scores[id_]) for id_, each in passages.items()]
    return sorted(weighed, key=lambda each: -each.score)


def signals_of(
    alone: Sequence[Passage],
    beside: Sequence[Passage],
    history: Sequence[Paper],
    message: MessageRead,
) -> dict[str, Signals]:
    """The signals of each paper by id, see `by_focus`; one not found scores like the last found."""
    scores = [{each.paper.id: each.score for each in found} for found in (alone, beside)]
    least = [min(found.values(), default=0.0) for found in scores]
    last, *earlier = (paper.id for paper in history)
    focus, others = message.focuses, _for_others(message)
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


def _for_others(message: MessageRead) -> float:
    share = message.kinds["list"] + message.kinds["several"]
    return _log_ratio(share, 1.0 - share)


def _log_ratio(one: float, other: float) -> float:
    """The log of a ratio of probabilities, each at least what a thousand examples can show."""
    return math.log(max(one, 1e-3) / max(other, 1e-3))
