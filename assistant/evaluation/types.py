"""Data classes of an evaluation: samples with expectations, replies with scores, rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from assistant.types import Answer, Json, Outcome


class SampleType(StrEnum):
    """Kind of question; it decides how a sample is asked."""

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
    """A right answer, as far as it is known; the rest is not scored."""

    papers: Mapping[str, float] | None
    """Gain of every relevant paper by its id; empty: no abstract answers; None: not known."""
    outcome: Outcome | None = None
    """The right outcome, None if it is not known; for a question that no abstract answers, None
    means that either kind of refusal is right."""
    facts: tuple[tuple[str, ...], ...] = ()
    """Alternative wordings of each fact, one of which must occur."""
    evidence: tuple[str, ...] = ()
    """Sentences of abstracts that support a right answer."""
    answer: str = ""
    """An answer in words, for readers of the report."""

    @property
    def should_answer(self) -> bool | None:
        """Whether the question should be answered, None if that is not known."""
        if self.outcome is not None:
            return self.outcome is Outcome.ANSWERED
        return None if self.papers is None else bool(self.papers)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its expected answer."""

    text: str
    expected: Expected


@dataclass(frozen=True, slots=True)
class Sample:
    """A question or a conversation of the question set."""

    id: str
    type: SampleType
    questions: tuple[Question, ...]
    """One, or the turns of a conversation in order."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The samples of a file or folder."""

    samples: tuple[Sample, ...]
    """In the order of the file."""
    sha256: str
    """Of the file's bytes, in hexadecimal; of a BEIR folder, of queries and judgements."""
    notes: tuple[str, ...] = ()
    """Remarks on what is odd but can be asked, a sentence each."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that was asked, as scorers take it."""

    type: SampleType
    turn: int
    """From 0."""
    expected: Expected
    ranking: tuple[str, ...]
    """Ids of the papers found, best first: the answer's passages, the lookup's or the search's."""
    answer: Answer | None = None
    """None if only papers were asked for."""
    again: tuple[bool, ...] = ()
    """For each time that it was asked again: whether the reply had the same bytes."""

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer that is no refusal."""
        return self.answer is not None and self.answer.outcome is Outcome.ANSWERED


@dataclass(frozen=True, slots=True)
class Score:
    """A scorer's value and explanation."""

    value: float | None
    """None if the scorer applies but has nothing to measure."""
    why: str
    """How the value came about, for readers of the report."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A question and the reply to it, as a row keeps them."""

    question: str
    expected: Expected
    ranking: tuple[str, ...] = ()
    """Ids of the papers found, best first."""
    answer: Json | None = None
    """As `assistant ask --json` prints it; None if only papers were asked for."""
    scores: Mapping[str, Score] = field(default_factory=dict)
    """By the scorer's name; scorers that do not apply have no entry."""
    seconds: float = 0.0
    """Time of the answer itself."""


@dataclass(frozen=True, slots=True)
class Row:
    """A sample with its replies: a line of `samples.jsonl`."""

    id: str
    type: SampleType
    replies: tuple[Reply, ...]
    """One per turn; if the sample failed, with question and expectation only."""
    titles: Mapping[str, str]
    """Title of every paper that was found or expected, by its id."""
    failed: str = ""
    """The error, in one line; empty if there was none."""
