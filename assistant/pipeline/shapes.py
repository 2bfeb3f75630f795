"""The shape of an answer: which sentences and papers a definition, summary, overview … is made of.

The reader says which shape a question asks for and what each sentence does in its abstract
(`retrieval.search.reader.SHAPES`, `ROLES`). Measured in tests/benchmarks/shapes.md.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Final

from assistant.generation.verification.guards import quantities
from assistant.pipeline.evidence import GAP, by_both_readers
from assistant.types import Evidence
from retrieval.search.reader import Reader, SentenceRead
from retrieval.search.rerank import ReadPassage
from retrieval.text.titles import introduced, joined
from retrieval.types import Paper

LIKELY_SHAPE = 0.5
"""Least probability of a shape; a question of none is answered by the sentences that fit best."""
LOOKED_FOR = ("definition", "limits")
"""Shapes for which papers are read that are further behind: the best may lack what is sought."""
_SURE_SHAPE = 0.7
"""Least probability of these: a question of another shape would get other papers."""
SUMMARY_WORDS = 90
"""Words of a summary at most, its main sentence aside."""
_SUMMARY: Final = ("problem", "method", "result")
"""Roles of the sentences of a summary besides its main one."""
_MOST_ODDS = 4.0
"""Log odds of a role count for this much at most."""
_WANTED = 3.0
"""What a number counts for where one is asked for, or all of the question where something is
defined or compared."""
_GIST = 2.0
"""What the main sentence of a summary loses if it leans on another, or gains if it names its
paper."""
_DEFINED, _LIMIT, _OVERVIEW, _COMPARED = 0.75, 1.0, 1.0, 0.75
"""What the log odds that a sentence defines, names a limit, stands for its paper in an overview, or
compares count for beside both readers' logits; see tests/benchmarks/shapes.md."""
_LEAST: Final = {"definition": 1.0, "limits": 0.0}
"""Least fitness of a sentence that defines, or names a limit."""
_NEW = 0.2
"""Share of the question that a further sentence of a comparison adds."""
_NUMBER_WORDS = 6
"""Words of an excerpt in which a number and what it counts stand."""
UNDEFINED = "No abstract that was read plainly defines this; these sentences come nearest"
"""Stands above the sentences of an answer to a question for a definition that none gives."""
_WIDEST_NICKNAME = 3
"""Most words of a paper's nickname."""
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
    if named:  # a name alone looks like a search for papers like it
        shares["similar"] = reader.shapes(_without_nicknames(question, named))["similar"]
        if shares["similar"] >= LIKELY_SHAPE:
            return "similar"
    likeliest = max(shares, key=lambda shape: shares[shape])
    if named and likeliest == "definition" and shares[likeliest] >= LIKELY_SHAPE:
        return "introduction"
    if shares[likeliest] >= (_SURE_SHAPE if likeliest in LOOKED_FOR else LIKELY_SHAPE):
        return likeliest
    general = shares["summary"] + shares["overview"] + shares["definition"]
    return "summary" if named and general >= LIKELY_SHAPE else "other"


def _without_nicknames(question: str, named: Sequence[Paper]) -> str:
    """The question with "this paper" in place of the nicknames of the papers that it names."""
    names = {name for paper in named for name in introduced(paper.title, paper.abstract)}
    words, said = question.split(), []
    while words:
        lengths = (n for n in range(_WIDEST_NICKNAME, 0, -1) if joined("".join(words[:n])) in names)
        length = next(lengths, 0)
        said.append("this paper" if length else words[0])
        words = words[length or 1 :]
    return " ".join(said)


def fitness(
    shape: str, covers: Callable[[str], float] = lambda _text: 0.0
) -> Callable[[SentenceRead], float]:
    """How well a sentence fits into an answer of this shape; comparable within one question.

    `covers` gives the share of the question that a text has; what compares should have much of it.
    """
    wanted: dict[str, Callable[[SentenceRead], float]] = {
        "introduction": lambda read: _log_odds(max(read.role("definition"), read.role("aim"))),
        "definition": lambda read: (
            _DEFINED * _log_odds(read.role("definition")) + _WANTED * covers(read.sentence.text)
        ),
        "overview": lambda read: _OVERVIEW * _log_odds(read.role("overview")),
        "similar": lambda read: _log_odds(read.role("aim")),
        "limits": lambda read: _LIMIT * _log_odds(read.role("limit")),
        "number": lambda read: _WANTED * has_number(read.sentence.text),
        "comparison": lambda read: (
            _COMPARED * _log_odds(read.role("comparison")) + _WANTED * covers(read.sentence.text)
        ),
    }

    def fits(read: SentenceRead) -> float:
        return read.evidence + (wanted[shape](read) if shape in wanted else 0.0)

    return fits


def gist_of(paper: Paper) -> str:
    """A question that the sentence answers which says what a paper does."""
    return f"What is “{paper.shown_title}” about?"


def each_side(
    evidence: Sequence[Evidence], others: Sequence[Evidence], covers: Callable[[str], float]
) -> list[Evidence]:
    """The evidence of a comparison, that of its sides first, and those of `others` for a side.

    These are the best sentence, and those that have more of the question. The title tells what a
    sentence is about, so it counts with it.
    """
    chosen: list[Evidence] = []
    said = ""
    for each in sorted(
        (*evidence, *others), key=lambda each: -each.score - 2 * _WANTED * covers(each.paper.title)
    ):
        together = f"{said} {each.paper.title} {each.text}"
        if not chosen or covers(together) - covers(said) >= _NEW:
            chosen.append(each)
            said = together
    return [*chosen, *(each for each in evidence if each not in chosen)]


def is_counted(excerpt: str, covers: Callable[[str], float]) -> bool:
    """Whether an excerpt begins with a number of something that the question names."""
    first = excerpt.split()[:_NUMBER_WORDS]
    return begins_with_number(" ".join(first[:2])) and covers(" ".join(first)) > 0


def begins_with_number(text: str) -> bool:
    """Whether the first words of an answer have a number, but for one within a name (`GPT-3`)."""
    return any(word.lstrip("$(~≈<>").startswith(tuple("0123456789")) for word in text.split())


def has_number(text: str) -> bool:
    """Whether a text has a number in digits or a factor such as `twice`."""
    return any(each.is_digits or each.unit for each in quantities(text))


def summary(
    read: ReadPassage,
    states: Callable[[str], bool],
    leans: Callable[[str], bool],
    covers: Callable[[str], float],
) -> list[Evidence]:
    """What a paper does, why, how and with which result: sentences in the abstract's order.

    `states` says whether a sentence states something, so that it may be evidence, and `leans`
    whether it cannot be understood without the one before it; `covers` gives the share of the
    question that a text has, such as the paper's name for itself.
    """
    sentences = [each for each in read.read.sentences if states(each.sentence.text)]
    if not sentences:
        return []

    def gist(each: SentenceRead) -> float:
        text, aim = each.sentence.text, max(each.role("aim"), each.role("definition"))
        return _log_odds(aim) + _GIST * (covers(text) - leans(text))

    main = max(sentences, key=gist)
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


def having(
    shape: str, read: Sequence[ReadPassage], covers: Callable[[str], float]
) -> list[ReadPassage]:
    """The papers that define what is asked for, or name a limit, best first and close to it.

    Which is best both readers say; roles only say which are among them.
    """
    fits = fitness(shape, covers)
    found = []
    for each in read:
        sentences = by_both_readers(each).read.sentences
        if sentences and max(map(fits, sentences)) > _LEAST[shape]:
            found.append((max(sentence.evidence for sentence in sentences), each))
    found.sort(key=lambda pair: -pair[0])
    return [each for score, each in found if score > found[0][0] - GAP]


def _log_odds(probability: float) -> float:
    least = 1 / (1 + math.exp(_MOST_ODDS))
    bounded = min(max(probability, least), 1 - least)
    return math.log(bounded / (1 - bounded))
