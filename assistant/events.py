"""What happens on the way to an answer, in the order in which it is told."""

from dataclasses import dataclass

from assistant.types import Answer, AnswerSentence, Citation, Evidence
from retrieval.types import Passage


@dataclass(frozen=True, slots=True)
class Found:
    """The papers are found; what follows is read from them."""

    standalone_question: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Reranked:
    """The papers found, in the order in which the model finds the question likely of them."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sentences that the answer will stand on."""

    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A sentence passed the check, with the citations that it is the first to make."""

    sentence: AnswerSentence
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """The whole answer."""

    answer: Answer


Event = Found | Reranked | Chosen | Shown | Finished
