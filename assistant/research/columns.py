"""Reads a column of an evidence table with an abstract: the sentence that fills it, and how surely.

The weights and the threshold are fitted by `tests/benchmarks/bench_tables.py` on the pairs of
papers and columns in `table_cells.jsonl`; see tests/benchmarks/tables.md.
"""

import math
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from functools import cache
from operator import mul
from pathlib import Path
from statistics import fmean

from assistant.pipeline.shapes import has_number
from retrieval.search.reader import Reader
from retrieval.text.splitting import Sentence
from retrieval.text.titles import joined
from retrieval.types import Paper

_MOST_ODDS = 4.0
"""Log odds of a role count for this much at most."""


@dataclass(frozen=True, slots=True)
class CellFeatures:
    """Features of a sentence that may fill a cell."""

    answered: float
    """The reader's logit that the abstract answers the column's questions."""
    evidence: float
    """Its logit that the sentence belongs to the answer."""
    names_limit: float
    """Log odds that the sentence names a limit, as far as the column asks for limits."""
    has_number: float
    """1 if the sentence has a number, as far as the column asks for one."""
    has_name: float
    """1 if the sentence has the column's name."""


WEIGHTS = CellFeatures(
    answered=0.38, evidence=0.63, names_limit=0.71, has_number=1.8, has_name=1.08
)
BIAS = -2.91
THRESHOLD = -0.5
"""Least logit of a filled cell."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of an abstract that may fill a cell."""

    sentence: Sentence
    features: CellFeatures

    @property
    def logit(self) -> float:
        """How surely it fills the cell."""
        weighed: Iterable[float] = map(mul, astuple(self.features), astuple(WEIGHTS))
        return BIAS + sum(weighed)


def candidates(
    reader: Reader, paper: Paper, column: str, stopped: Callable[[], bool]
) -> list[Candidate]:
    """The sentences of an abstract, the one that fills the column best first."""
    questions = questions_of(column)
    reads = [read for each in questions for read in reader.read(each, [paper], stopped)]
    shape = reader.shapes(questions[0])
    answered = fmean(read.answered for read in reads)
    found = []
    for same in zip(*(read.sentences for read in reads), strict=True):
        sentence = same[0].sentence
        features = CellFeatures(
            answered=answered,
            evidence=fmean(each.evidence for each in same),
            names_limit=shape["limits"] * _log_odds(fmean(each.role("limit") for each in same)),
            has_number=shape["number"] * has_number(sentence.text),
            has_name=float(_joined_name(column) in joined(sentence.text)),
        )
        found.append(Candidate(sentence, features))
    return sorted(found, key=lambda each: each.logit, reverse=True)


def questions_of(column: str) -> list[str]:
    """The questions that a cell answers; a column may be one itself."""
    if column.endswith("?"):
        return [column]
    usual, other = _usual()
    return usual.get(_joined_name(column)) or [each.format(column=column) for each in other]


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


def _log_odds(probability: float) -> float:
    odds = math.log(max(probability, 1e-3) / max(1 - probability, 1e-3))
    return max(-_MOST_ODDS, min(odds, _MOST_ODDS))
