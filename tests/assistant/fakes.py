"""A chat model and a reader that say what the test wants, and papers to check by eye."""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np
from numpy.typing import NDArray

from assistant.models.chat import ChatModel, Messages, Stopped
from assistant.models.llama.decoding import LIKELIEST, Sampling
from assistant.pipeline.assistant import Assistant
from assistant.types import (
    Answer,
    AnswerSentence,
    Citation,
    Evidence,
    Outcome,
    SentenceKind,
    Timings,
    Tokens,
)
from retrieval.search.reader import FOCUSES, KINDS, SHAPES, MessageRead, PaperRead, SentenceRead
from retrieval.text.splitting import split_sentences
from retrieval.types import Cancelled, Chunk, Paper, Passage, Source

ZEBRA = (
    "Large vision models are slow on phones. We present ZebraPrune, which removes 40% of the "
    "weights of a vision model. ZebraPrune loses 0.3 points of accuracy on ImageNet. It does not "
    "need retraining."
)
TIDAL = (
    "Tidal currents near harbours are hard to forecast. We train a graph network on 12 years of "
    "buoy measurements. The network halves the error of harmonic analysis within 6 hours."
)
LICHEN = (
    "We release LichenSet, a dataset of 58,000 photographs of lichens from 14 countries. Each "
    "photograph is labelled by two botanists. A linear classifier reaches 61.5% accuracy."
)
WHISPER = (
    "Speech recognisers fail on whispered speech. We adapt a recogniser with 3 hours of whispers. "
    "The word error rate falls from 48% to 19%."
)


def paper(
    id_: str = "zebra",
    title: str = "Zebra Pruning for Vision Models",
    abstract: str = ZEBRA,
    *,
    authors: tuple[str, ...] = ("Ada Miro", "Ben Okafor"),
    venue: str = "ICML",
    year: int | None = 2021,
    decision: str = "oral",
) -> Paper:
    return Paper(
        id=id_,
        title=title,
        authors=authors,
        venue=venue,
        year=year,
        decision=decision,
        abstract=abstract,
        sources=(Source("papers.jsonl", 1),),
        id_is_given=True,
    )


PAPERS = (
    paper(),
    paper("tidal", "Tidal Forecasting with Graph Networks", TIDAL, authors=("Cai Dru",)),
    paper("lichen", "A Dataset of Lichen Photographs", LICHEN, venue="", year=None, decision=""),
    paper("whisper", "", WHISPER, authors=(), venue="", year=None, decision=""),
)


def jsonl(papers: Iterable[Paper]) -> str:
    """Papers as a file that ingest reads."""
    return "".join(json.dumps(asdict(each), ensure_ascii=False) + "\n" for each in papers)


def passage(of: Paper, score: float = 1.0) -> Passage:
    chunk = Chunk(f"{of.id}:0", of.id, 0, 0, len(of.abstract), of.abstract)
    return Passage(of, chunk, score, similarity=0.9)


def evidence(text: str, of: Paper | None = None) -> Evidence:
    of = of or paper()
    start = of.abstract.index(text)
    return Evidence(of, start, start + len(text), text, 1.0)


def answered(of: Paper, quote: str, question: str = "What is shown?") -> Answer:
    """An answer that quotes one sentence of one paper."""
    return Answer(
        question=question,
        standalone_question=question,
        outcome=Outcome.ANSWERED,
        text=f"From “{of.shown_title}”: “{quote}” [1]",
        sentences=(AnswerSentence(quote, SentenceKind.QUOTED, (1,)),),
        citations=(Citation(1, of, quote),),
        passages=(passage(of),),
        model="none",
        timings=Timings(0.1, 0.0, 0.2, 0.3),
        tokens=Tokens(10, 5),
    )


def written(answer: Answer) -> list[str]:
    """What the model wrote of an answer: all but its quotations."""
    return [each.text for each in answer.sentences if each.kind is SentenceKind.VERIFIED]


class FakeChatModel(ChatModel):
    """Writes the replies of its queue, one a call, and remembers what it was asked.

    A token is a word, of prompts as of replies. Asked to choose, it says what it likes. It cites
    the first note by `[1]`, which is written as that note's key. Grammars it knows none.
    """

    name = "fake"
    context = 4096
    gives_likelihoods = False
    slots = 1

    def __init__(self, *replies: str, context: int = 4096) -> None:
        self.queue = list(replies)
        self.context = context
        self.history: list[list[Mapping[str, str]]] = []
        """The messages of every call."""
        self.grammars: list[str] = []
        """What every call was told to keep to."""
        self.samplings: list[Sampling] = []
        """How every call was told to choose tokens."""
        self.offered: list[list[str]] = []
        """The texts among which every call was to choose."""
        self.written: list[str] = []
        """The pieces that were taken from it, over all calls."""

    def count(self, messages: Messages) -> int:
        return sum(len(message["content"].split()) for message in messages)

    def write(
        self,
        messages: Messages,
        max_tokens: int,
        stopped: Stopped,
        grammar: str = "",
        sampling: Sampling = LIKELIEST,
    ) -> Generator[str, None, None]:
        self.history.append(list(messages))
        self.grammars.append(grammar)
        self.samplings.append(sampling)
        words = self._keyed(self.queue.pop(0)).split(" ")
        for at, word in enumerate(words[:max_tokens]):
            if stopped():
                raise Cancelled
            piece = word if at == 0 else f" {word}"
            self.written.append(piece)
            yield piece

    def choose(
        self, messages: Messages, texts: Sequence[str], max_tokens: int, stopped: Stopped
    ) -> tuple[str, int]:
        self.offered.append(list(texts))
        text = "".join(self.write(messages, max_tokens, stopped))
        return text, len(text.split())

    def log_probabilities(
        self, conversations: Iterable[Messages], reply: str, stopped: Stopped
    ) -> Iterator[NDArray[np.float32]]:
        raise AssertionError("it gives none")

    @property
    def notes(self) -> list[str]:
        """The notes of the last prompt, in order."""
        return list(self._notes().values())

    @property
    def keys(self) -> list[str]:
        """Their keys."""
        return list(self._notes())

    def _notes(self) -> dict[str, str]:
        lines = self.history[-1][-1]["content"].splitlines()
        return dict(line[1:].split("] ", 1) for line in lines if line.startswith("["))

    def _keyed(self, reply: str) -> str:
        for number, key in enumerate(self.keys, start=1):
            reply = reply.replace(f"[{number}]", f"[{key}]")
        return reply


def message_read(kind: str = "content", focus: str = "alone", sure: float = 0.9) -> MessageRead:
    """A message of this kind and focus, each with probability `sure`."""
    return MessageRead(_shares(KINDS, kind, sure), _shares(FOCUSES, focus, sure))


def _shares(names: Sequence[str], likeliest: str, sure: float) -> dict[str, float]:
    rest = (1 - sure) / (len(names) - 1)
    return {name: sure if name == likeliest else rest for name in names}


def paper_read(
    of: Paper, *evidence: float, relevance: float = 0.0, answered: float = 0.0
) -> PaperRead:
    """A paper that was read; `evidence` has a logit for every sentence, 0 for those left out."""
    sentences = split_sentences(of.abstract)
    logits = [*evidence, *[0.0] * len(sentences)][: len(sentences)]
    found = tuple(map(SentenceRead, sentences, logits))
    return PaperRead(relevance, answered, found, answerable=answered)


class FakeReader:
    """Takes every message for what the test says, and finds answers where the test says.

    A paper of `answers` answers, with logit 5, by the sentences that have the words given for it;
    all other papers and sentences have logit -5. It remembers what it was asked.
    """

    def __init__(
        self,
        answers: Mapping[str, str] | None = None,
        *,
        kind: str = "content",
        focus: str = "alone",
        sure: float = 0.9,
    ) -> None:
        self.answers = dict(answers or {})
        """Words of the sentence that answers, by the paper's id."""
        self._message = message_read(kind, focus, sure)
        self.messages: list[tuple[str, str]] = []
        """Every message that was read, with the one before it."""
        self.papers: list[str] = []
        """The id of every paper that was read."""
        self.questions: list[str] = []
        """The question of every reading of papers."""

    def is_claim(self, text: str) -> bool:
        """What ends like a sentence states something."""
        return text.endswith(".")

    def message(self, message: str, previous: str = "") -> MessageRead:
        self.messages.append((message, previous))
        return self._message

    def shapes(self, message: str) -> dict[str, float]:
        """No shape of its own is asked for."""
        return _shares(SHAPES, "other", 0.9)

    def read(
        self, question: str, papers: Sequence[Paper], stopped: Callable[[], bool]
    ) -> Iterator[PaperRead]:
        self.questions.append(question)
        for each in papers:
            if stopped():
                raise Cancelled
            self.papers.append(each.id)
            yield self._read(each)

    def read_alone(
        self,
        _question: str,
        _paper: Paper,
        read: PaperRead,
        _stopped: Callable[[], bool],
        _most: int = 6,
    ) -> PaperRead:
        """The same of every sentence."""
        alone = (replace(each, alone=each.evidence) for each in read.sentences)
        return replace(read, sentences=tuple(alone))

    def answers_alone(self, _question: str, _sentence: str, _title: str) -> float:
        """The same of every text."""
        return 0.0

    def _read(self, of: Paper) -> PaperRead:
        words = self.answers.get(of.id)
        logit = -9.0 if words is None else 9.0
        sentences = split_sentences(of.abstract)
        evidence = [5.0 if words is not None and words in each.text else -5.0 for each in sentences]
        return paper_read(of, *evidence, relevance=logit, answered=logit)


Asking = Callable[..., tuple[Assistant, FakeChatModel]]
"""Builds an assistant whose model says what it is told."""
