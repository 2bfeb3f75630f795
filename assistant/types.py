"""The records of an answer; one `Answer` serves terminal, browser, scripts and evaluation."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from retrieval.types import Paper, Passage


class Outcome(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    ABSTRACT_SILENT = "abstract_silent"
    """The paper is here, its abstract does not say."""
    NOT_IN_LIBRARY = "not_in_library"


class Kind(StrEnum):
    """Why a sentence may be shown."""

    VERIFIED = "verified"
    """Written by the model, and its cited quotes support it."""
    QUOTED = "quoted"
    """Verbatim from an abstract."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of an abstract: `paper.abstract[start:end] == text`."""

    paper: Paper
    start: int
    end: int
    text: str
    score: float
    """How well it fits the question; comparable within one question only."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered reference of an answer."""

    number: int
    """From 1, in the order of the answer."""
    paper: Paper
    quote: str
    """The sentence cited, an exact substring of the paper's abstract."""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer with the numbers of what it cites."""

    text: str
    kind: Kind
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds."""

    retrieval: float
    """From the question until papers and sentences were found, reranking included."""
    rerank: float
    """What reading the papers again took of that."""
    first_token: float
    """From the question until the first sentence could be shown."""
    total: float
    """From the question to the end."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens the model read and wrote."""

    prompt: int
    """Read for writing the answer."""
    completion: int
    """Written."""
    rerank: int = 0
    """Read before that, of the papers found, for ranking them again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that is known about an answer."""

    question: str
    standalone_question: str
    """The question as it can be understood without the conversation."""
    outcome: Outcome
    text: str
    """What is shown: the sentences with their citation numbers, or why there are none."""
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]
    """The papers found, best first; the closest ones where nothing was answered."""
    model: str
    timings: Timings
    tokens: Tokens
    confidence: float | None = None
    """How sure it was that the papers found answer; nothing where records answer."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation with its answer."""

    question: str
    answer: Answer


def by_paper(citations: Iterable[Citation]) -> list[list[Citation]]:
    """Citations of the same paper together, in the order of the first of each."""
    groups: dict[str, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(citation.paper.id, []).append(citation)
    return list(groups.values())
