"""Whether a sentence that the model wrote is supported by the sentences it cites.

Conservative by design: what fails is not shown. Numbers, names and words of direction or negation
must stand in the evidence, and most of the sentence's words must, too.
"""

import re
from collections.abc import Sequence

from assistant.evidence import stems

LEAST_COMMON = 0.75
"""Share of a sentence's content words that its evidence must have."""
LEAST_WORDS = 3
"""Content words below which a sentence says nothing that could be checked."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"\b(?=\w*[A-Z])(?:\w*[A-Z0-9]\w*[A-Z0-9]\w*|(?<=[a-z,] )[A-Z]\w+)\b")
# Words that turn a statement round. Families, so that either may stand for the other.
_TURNING = (
    frozenset(
        {"not", "no", "without", "never", "cannot", "nor", "neither", "none", "fail", "fails"}
    ),
    frozenset({"increase", "increases", "increased", "increasing", "more", "higher", "larger"}),
    frozenset(
        {"decrease", "decreases", "decreased", "reduce", "reduces", "reduced", "less", "fewer"}
    ),
    frozenset({"outperform", "outperforms", "better", "improve", "improves", "improved", "best"}),
    frozenset({"worse", "underperform", "underperforms", "degrade", "degrades", "worst"}),
)
_PROMPT_WORDS = re.compile(r"\b(?:notes?|question)\b", re.IGNORECASE)
"""A sentence about the prompt is none about the paper."""
_FUNCTION = frozenset(
    stem
    for stem in stems(
        "a an and are as at be been but by can could did do does for from had has have how if in "
        "into is it its may of on or our so such than that the their them then there these they "
        "this to was we were what when where which who why will with would also paper authors "
        "answer"
    )
)


def is_supported(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether `evidence` supports `sentence`, as far as its words can tell."""
    whole = " ".join(evidence)
    return (
        _contained(_NUMBER, sentence, whole)
        and _contained(_NAME, sentence, whole)
        and _contained(_PROMPT_WORDS, sentence, whole)
        and _turns(sentence) <= _turns(whole)
        and (0 in _turns(sentence) or 0 not in _turns_near(sentence, evidence))
        and _overlap(sentence, whole) >= LEAST_COMMON
    )


def _contained(pattern: re.Pattern[str], sentence: str, whole: str) -> bool:
    there = {found.casefold() for found in pattern.findall(whole)} | set(
        re.findall(r"\w+", whole.casefold())
    )
    return all(found.casefold() in there for found in pattern.findall(sentence))


def _turns(text: str) -> set[int]:
    """Which families of turning words a text has."""
    words = set(re.findall(r"[a-z]+", text.casefold()))
    return {number for number, family in enumerate(_TURNING) if words & family}


def _turns_near(sentence: str, evidence: Sequence[str]) -> set[int]:
    """The turning words of the evidence sentence that the sentence is closest to."""
    return _turns(evidence[closest(sentence, evidence)])


def _overlap(sentence: str, whole: str) -> float:
    content = [stem for stem in stems(sentence) if stem not in _FUNCTION]
    if len(content) < LEAST_WORDS:
        return 0.0
    there = set(stems(whole))
    return sum(stem in there for stem in content) / len(content)


def closest(sentence: str, evidence: Sequence[str]) -> int:
    """Index of the evidence that shares most words with `sentence`."""
    return max(range(len(evidence)), key=lambda index: _overlap(sentence, evidence[index]))
