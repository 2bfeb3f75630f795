"""Reads a column of an evidence table with an abstract: the sentence that fills it, and how surely.

A linear head on the reader decides, fitted by `tests/benchmarks/training/fit_columns.py`; the
threshold is chosen by `tests/benchmarks/bench_tables.py`; see tests/benchmarks/tables.md.
"""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assistant.models.gguf.trained import EncoderWeights, read_heads
from retrieval.encoders.embedder import Heads
from retrieval.search.reader import CloseRead, Reader
from retrieval.text.splitting import Sentence
from retrieval.text.titles import joined
from retrieval.types import Paper

HEADS: Final = EncoderWeights(
    "columns", Path(__file__).with_name("columns.safetensors"), ("cell", "role")
)
"""The head of cells, and the roles of sentences as they were when it was fitted: it judges by them,
and the reader's own may be fitted anew for other questions."""
NAMED: Final = "What is the {}?"
THRESHOLD = 0.25
"""Least logit of a filled cell."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of an abstract that may fill a cell."""

    sentence: Sentence
    logit: float
    """How surely it fills the cell."""


def candidates(
    reader: Reader, paper: Paper, column: str, stopped: Callable[[], bool]
) -> list[Candidate]:
    """The sentences of an abstract, the one that fills the column best first.

    Raises:
        ModelError: the head is missing or damaged.
        Cancelled: `stopped()` became true.
    """
    sentences, x = features(reader, paper, column, stopped)
    logits = _heads().of("cell", x)[:, 0].tolist()
    found = map(Candidate, sentences, logits)
    return sorted(found, key=lambda each: each.logit, reverse=True)


def features(
    reader: Reader, paper: Paper, column: str, stopped: Callable[[], bool]
) -> tuple[list[Sentence], NDArray[np.float32]]:
    """The sentences of an abstract, and what the head judges each by, a row a sentence.

    The abstract is read with the bare name as a question, and with the questions of the column.
    """
    named = column if column.endswith("?") else NAMED.format(column)
    first, *others = [
        reader.read_closely(question, paper, stopped) for question in (named, *questions_of(column))
    ]
    sentences = [each.sentence for each in first.read.sentences]
    return sentences, np.hstack([_mean([first]), _mean(others)])


def questions_of(column: str) -> list[str]:
    """The questions that a cell answers; a column may be one itself."""
    if column.endswith("?"):
        return [column]
    usual, other = _usual()
    return usual.get(_joined_name(column)) or [each.format(column=column) for each in other]


def _mean(reads: Sequence[CloseRead]) -> NDArray[np.float32]:
    """The mean of what several questions make of the sentences of an abstract."""
    of = [each.read.sentences for each in reads]
    evidence = np.mean([[each.evidence for each in sentences] for sentences in of], axis=0)
    logits_of_roles = [_heads().of("role", each.sentences) for each in reads]
    roles = np.mean([1 / (1 + np.exp(-logits)) for logits in logits_of_roles], axis=0)
    vectors = np.mean([each.sentences for each in reads], axis=0)
    best = np.full_like(evidence, evidence.max())
    answered = np.full_like(evidence, np.mean([each.read.answered for each in reads]))
    logits = np.stack([evidence, answered, best, evidence - best], axis=1)
    return np.hstack([logits, roles, vectors]).astype(np.float32)


@cache
def _heads() -> Heads:
    return read_heads(HEADS)


@cache
def _usual() -> tuple[dict[str, list[str]], list[str]]:
    """The questions of usual columns by their names, and those of others."""
    listed = tomllib.loads(Path(__file__).with_name("columns.toml").read_text("utf-8"))
    other = listed.pop("other")["questions"]
    usual = {
        _joined_name(n): entry["questions"] for entry in listed.values() for n in entry["names"]
    }
    return usual, other


def _joined_name(column: str) -> str:
    """The name in one spelling: `Data sets` and `dataset` are the same."""
    return joined(column).removesuffix("s")
