"""What an answer may take, and which parts of the path take part in it."""

from dataclasses import dataclass, field
from enum import StrEnum

from retrieval.search.settings import SearchSettings


class WritingMode(StrEnum):
    """How the chat model takes part; the capability probe chooses."""

    FREE = "free"
    """It is asked for a whole answer."""
    BRIEF = "brief"
    """With its adapter it is asked for one sentence a paper."""
    QUOTE = "quote"
    """It is not asked: the answer is the evidence."""


@dataclass(frozen=True, slots=True)
class WritingSettings:
    """What writing may take; see tests/benchmarks/answers.md."""

    max_tokens: int = 160
    """Tokens the model may write."""
    most_sentences: int = 6
    """Sentences written at most."""
    most_failures: int = 2
    """Unsupported sentences after which the model is not read on."""
    mode: WritingMode = WritingMode.FREE
    """How the model is asked; see `probe`."""
    grammar: bool = True
    """Whether the model is held to sentences with keys; see `answer_grammar`."""
    checks: bool = True
    """Whether a sentence of the model is shown only if its evidence supports it.

    Without, what the model writes is shown as it comes and called verified. That is for measuring
    what the check is worth, and for nothing else: no command that answers people offers it.
    """


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """What an answer may take; see tests/benchmarks/answers.md."""

    passages: int = 10
    """Papers found, and shown as the closest where nothing is answered."""
    judged: int = 3
    """Papers, best first, of which one must be likely to answer."""
    least_confidence: float | None = None
    """Questions that it is less sure of are not answered; by default as the library is
    calibrated."""
    search: SearchSettings = field(default_factory=SearchSettings)
    """How papers are found."""
    rerank: bool = True
    """Whether what reading the best papers says changes their order."""
    writing: WritingSettings = field(default_factory=WritingSettings)
    """What writing may take."""
