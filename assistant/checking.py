"""Whether a sentence that the model wrote is supported by the sentences it cites.

Conservative by design: what fails is not shown. Numbers, names and words of direction or negation
are a sentence's marks; they must stand in the evidence in the same order, and most of the
sentence's words must stand there, too.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from assistant.evidence import stems

LEAST_COMMON = 0.75
"""Share of a sentence's content words that its evidence must have."""
LEAST_WORDS = 3
"""Content words below which a sentence says nothing that could be checked."""

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]\w*(?:['’]t\b)?")
_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve".split(), start=2
    )
} | {
    word: word[:4]
    for word in "half halves halved twice double doubles doubled triple triples tripled third "
    "quarter hundred hundreds thousand thousands million millions billion billions".split()
}
# Words that turn a statement round. Families, so that either may stand for the other.
_NEGATIONS = {
    "~not": re.compile(r"not|cannot|never|nor|neither|.*n['’]t"),
    "~no": re.compile(r"no|none|without|lack\w*"),
    "~fail": re.compile(r"fail\w*|unable|hardly|rarely"),
}
_DIRECTIONS = {
    "~up": re.compile(r"increas\w+|rais(?:e|es|ed|ing)|gain\w*|more|higher|larger|bigger|greater"),
    "~down": re.compile(
        r"decreas\w+|reduc\w+|lower\w*|drop\w*|los(?:e|es|t|ing)|less|fewer|smaller"
    ),
    "~better": re.compile(r"better|best|improv\w+|outperform\w*|superior|surpass\w*|exceed\w*"),
    "~worse": re.compile(
        r"worse\w*|worst|underperform\w*|degrad\w+|inferior|hurt\w*|harm|harms|harmed|harming"
    ),
    "~fast": re.compile(r"faster|accelerat\w+|speed\w*"),
    "~slow": re.compile(r"slow\w*"),
}
_TURNING = _NEGATIONS | _DIRECTIONS
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
        _overlap(sentence, whole) >= LEAST_COMMON
        and _in_order(_marks(sentence, whole), [_key(word) for word in _TOKEN.findall(whole)])
        and _negates_alike(sentence, evidence[closest(sentence, evidence)])
        and (not _PROMPT_WORDS.search(sentence) or bool(_PROMPT_WORDS.search(whole)))
    )


def _marks(sentence: str, whole: str) -> list[str]:
    """The keys of the sentence's numbers, names and turning words, in order."""
    words = _TOKEN.findall(sentence)
    return [
        key
        for at, word in enumerate(words)
        for key in [_key(word)]
        if key[0] in "#~" or _is_name(word, whole, begins=at == 0)
    ]


def _key(word: str) -> str:
    """What a word counts as: words of one key may stand for each other."""
    plain = word.casefold()
    number = plain if plain[0].isdigit() else _NUMBER_WORDS.get(plain)
    if number:
        return f"#{number}"
    families = (family for family, pattern in _TURNING.items() if pattern.fullmatch(plain))
    return next(families, plain)


def _is_name(word: str, whole: str, *, begins: bool) -> bool:
    """Whether a word is spelled like a name, and not only because it begins the sentence."""
    if word == word.casefold() or word.casefold()[:5] in _FUNCTION:
        return False
    return not (begins and re.search(rf"\b{re.escape(word.casefold())}\b", whole))


def _in_order(marks: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether `keys` has all `marks`, in their order: names swapped are another statement."""
    remaining: Iterator[str] = iter(keys)
    return all(mark in remaining for mark in marks)


def _negates_alike(sentence: str, near: str) -> bool:
    """Whether both negate or neither does, and the sentence nothing that `near` does not."""
    said, known = (
        Counter(key for key in map(_key, _TOKEN.findall(text)) if key in _NEGATIONS)
        for text in (sentence, near)
    )
    return said <= known and bool(said) == bool(known)


def _overlap(sentence: str, whole: str) -> float:
    content = [stem for stem in stems(sentence) if stem not in _FUNCTION]
    if len(content) < LEAST_WORDS:
        return 0.0
    there = set(stems(whole))
    return sum(stem in there for stem in content) / len(content)


def closest(sentence: str, evidence: Sequence[str]) -> int:
    """Index of the evidence that shares most words with `sentence`."""
    return max(range(len(evidence)), key=lambda index: _overlap(sentence, evidence[index]))
