"""The shape of an answer: which sentences and papers a definition, summary, overview … is made of.

The reader says which shape a question asks for and what each sentence does in its abstract
(`retrieval.search.reader.SHAPES`, `ROLES`). Measured in tests/benchmarks/shapes.md.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Final

from assistant.generation.verification.guards import quantities
from assistant.types import Evidence
from retrieval.search.reader import Reader, SentenceRead
from retrieval.search.rerank import ReadPassage
from retrieval.text.titles import joined
from retrieval.types import Paper

LIKELY_SHAPE = 0.5
"""Least probability of a shape; a question of none is answered by the sentences that fit best."""
SUMMARY_WORDS = 90
"""Words of a summary at most, its main sentence aside."""
_SUMMARY: Final = ("problem", "method", "result")
"""Roles of the sentences of a summary besides its main one."""
_MOST_ODDS = 4.0
"""Log odds of a role count for this much at most."""
_WANTED = 3.0
"""What a number counts for where one is asked for, or a name where it is compared."""
_NAMED_SIMILAR = 0.2
"""Least probability that papers like one that is named are sought."""
_LIKELY_ROLE = 0.35
"""Least probability of the role for which a sentence stands in a summary."""


def shape_of(question: str, named: Sequence[Paper], reader: Reader) -> str:
    """The shape that a question asks for; `other` if none is likely.

    `named` are the papers that it names. Words of a title say nothing on the shape, and what is
    asked in general on a paper that is named is a summary. Where a paper is named, what it proposes
    is what a definition is sought of: an `introduction`.
    """
    for paper in named:
        if paper.title:
            question = re.sub(re.escape(paper.title), "this paper", question, flags=re.IGNORECASE)
    shares = reader.shapes(question)
    likeliest = max(shares, key=lambda shape: shares[shape])
    if named and shares["similar"] >= _NAMED_SIMILAR:
        return "similar"
    if shares[likeliest] >= LIKELY_SHAPE:
        return "introduction" if named and likeliest == "definition" else likeliest
    general = shares["summary"] + shares["overview"] + shares["definition"]
    return "summary" if named and general >= LIKELY_SHAPE else "other"


def fitness(shape: str, names: Sequence[str] = ()) -> Callable[[SentenceRead], float]:
    """How well a sentence fits into an answer of this shape; comparable within one question.

    `names` are those in the question; what compares should have them.
    """
    joined_names = [joined(name) for name in names]
    wanted: dict[str, Callable[[SentenceRead], float]] = {
        "definition": lambda read: 2.0 * _defining(read),
        "introduction": lambda read: _log_odds(max(read.role("definition"), read.role("aim"))),
        "overview": lambda read: _log_odds(read.role("aim")),
        "similar": lambda read: _log_odds(read.role("aim")),
        "limits": lambda read: 0.5 * _log_odds(max(read.role("limit"), read.role("problem"))),
        "number": lambda read: _WANTED * has_number(read.sentence.text),
        "comparison": lambda read: (
            _WANTED * sum(name in joined(read.sentence.text) for name in joined_names)
        ),
    }

    def fits(read: SentenceRead) -> float:
        return read.evidence + (wanted[shape](read) if shape in wanted else 0.0)

    return fits


def gist_of(paper: Paper) -> str:
    """A question that the sentence answers which says what a paper does."""
    return f"What is “{paper.shown_title}” about?"


def begins_with_number(text: str) -> bool:
    """Whether the first words of an answer have a number, but for one within a name (`GPT-3`)."""
    return any(word.lstrip("$(~≈<>").startswith(tuple("0123456789")) for word in text.split())


def has_number(text: str) -> bool:
    """Whether a text has a number in digits or a factor such as `twice`."""
    return any(each.is_digits or each.unit for each in quantities(text))


def summary(read: ReadPassage, states: Callable[[str], bool]) -> list[Evidence]:
    """What a paper does, why, how and with which result: sentences in the abstract's order.

    `states` says whether a sentence states something, so that it may be evidence.
    """
    sentences = [each for each in read.read.sentences if states(each.sentence.text)]
    if not sentences:
        return []
    main = max(sentences, key=lambda each: _log_odds(each.role("aim")))
    chosen, words = {main.sentence.start: main}, SUMMARY_WORDS
    for role in _SUMMARY:
        rest = [each for each in sentences if each.sentence.start not in chosen]
        best = max(rest, key=lambda each: each.role(role), default=None)
        if best is None or best.role(role) < _LIKELY_ROLE:
            continue
        length = len(best.sentence.text.split())
        if length <= words:
            words -= length
            chosen[best.sentence.start] = best
    paper = read.passage.paper
    # The main sentence has the highest score: an excerpt of it begins the answer.
    return [
        Evidence(paper, at, each.sentence.end, each.sentence.text, float(each is main))
        for at, each in sorted(chosen.items())
    ]


def definition_odds(read: ReadPassage) -> float:
    """Log odds that an abstract defines what is asked for, 0 if that is unlikely."""
    return max([0.0, *map(_defining, read.read.sentences)])


def limit_odds(read: ReadPassage) -> float:
    """Log odds that an abstract names a limit, 0 if that is unlikely."""
    return max([0.0, *(_log_odds(each.role("limit")) for each in read.read.sentences)])


def _defining(read: SentenceRead) -> float:
    """Log odds that a sentence defines; one that says what its paper proposes hardly does."""
    return _log_odds(read.role("definition")) - max(0.0, _log_odds(read.role("aim")))


def is_undefined(shape: str, evidence: Sequence[Evidence], read: Sequence[ReadPassage]) -> bool:
    """Whether a definition is asked for that no paper of the evidence gives."""
    ids = {each.paper.id for each in evidence}
    papers = (each for each in read if each.passage.paper.id in ids)
    return shape == "definition" and not any(map(definition_odds, papers))


def _log_odds(probability: float) -> float:
    least = 1 / (1 + math.exp(_MOST_ODDS))
    bounded = min(max(probability, least), 1 - least)
    return math.log(bounded / (1 - bounded))
