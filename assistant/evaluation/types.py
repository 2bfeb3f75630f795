"""The records of an evaluation run: samples with what is expected, rows with what came of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from assistant.types import Answer, Outcome

Json = dict[str, Any]


class SampleType(StrEnum):
    """What kind of question a sample is; it decides how it is asked."""

    SINGLE = "single"
    """One paper answers it."""
    MULTI = "multi"
    """Several papers answer it."""
    LOOKUP = "lookup"
    """Papers are looked up by their records; `assistant lookup` is asked."""
    UNANSWERABLE = "unanswerable"
    """No abstract of the library answers it."""
    CHAT = "chat"
    """A conversation of several turns, each with expectations of its own."""
    RETRIEVAL = "retrieval"
    """A query of a BEIR folder; `assistant search` is asked, nothing is answered."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a right answer has; what is not known is not scored."""

    papers: Mapping[str, float] | None
    """Gain of every relevant paper by its id; empty: no abstract answers; None: not known."""
    outcome: Outcome | None = None
    """The right outcome where it is known; for a question that no abstract answers, None means
    that either kind of refusal is right."""
    facts: tuple[tuple[str, ...], ...] = ()
    """For each fact its alternatives, of which one must occur."""
    evidence: tuple[str, ...] = ()
    """Sentences of abstracts that a right answer stands on."""
    answer: str = ""
    """An answer in words, for whoever reads the report."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, with what is expected."""

    text: str
    expected: Expected


@dataclass(frozen=True, slots=True)
class Sample:
    """A question of the set, or a conversation."""

    id: str
    type: SampleType
    questions: tuple[Question, ...]
    """One, or the turns of a conversation in order."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what came of it: what scorers are given."""

    type: SampleType
    turn: int
    """From 0."""
    expected: Expected
    ranking: tuple[str, ...]
    """Ids of the papers found, best first: the answer's passages, the lookup's or the search's."""
    answer: Answer | None = None
    """Nothing where papers alone were asked for."""
    again: tuple[bool, ...] = ()
    """Of each time that it was asked again, whether the same bytes came."""


@dataclass(frozen=True, slots=True)
class Score:
    """What a scorer found."""

    value: float | None
    """None: it applies, but could not be scored."""
    why: str
    """What the value stands on, for whoever reads the report."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What would be answered if it had to be this sure."""

    confidence: float
    coverage: float
    """Share of all questions."""
    risk: float
    """Share of those that are answered wrongly."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A question with what came of it, as it is kept."""

    question: str
    expected: Expected
    ranking: tuple[str, ...] = ()
    """Ids of the papers found, best first."""
    answer: Json | None = None
    """As `assistant ask --json` prints it; nothing where papers alone were asked for."""
    scores: Mapping[str, Score] = field(default_factory=dict)
    """By the scorer's name; a scorer that does not apply has no entry."""
    seconds: float = 0.0
    """What the answer itself took."""


@dataclass(frozen=True, slots=True)
class Row:
    """A sample with what came of it: a line of `samples.jsonl`."""

    id: str
    type: SampleType
    replies: tuple[Reply, ...]
    """A turn each; of a sample that failed, only with what was asked and expected."""
    titles: Mapping[str, str]
    """Title of every paper that was found or expected, by its id."""
    failed: str = ""
    """Why it failed, in one line; empty if it did not."""
