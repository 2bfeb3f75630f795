"""Calibrates the confidence threshold of a library on questions about it.

The measure of a threshold is the risk-coverage curve (El-Yaniv and Wiener 2010, "On the Foundations
of Noise-free Selective Classification"). The threshold is chosen on one half of the questions, as a
conformal quantile (Vovk, Gammerman and Shafer 2005, "Algorithmic Learning in a Random World"), so
that new questions of the same kind are answered wrongly at most as often as promised. Its rates are
reported on the other half.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter

from assistant.pipeline.abstention import (
    VERSION,
    Calibration,
    Point,
    QuestionEntities,
    Rates,
    probability,
)
from assistant.pipeline.follow_up import StandaloneQuestion
from assistant.settings import AnswerSettings
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.search.rerank import read_alone, read_papers
from retrieval.search.search import search
from retrieval.text.splitting import split_sentences
from retrieval.types import InputError, Paper, Passage, Progress, never

MOST_REFUSED = 0.05
"""Promised share of answerable questions that are refused, if people wrote the questions."""
MOST_ANSWERED = 0.10
"""Promised share of unanswerable questions that are answered, if sentences stand in for questions:
the answerable ones among them are too easy to choose a threshold by."""
LEAST_QUESTIONS = 20
"""Answerable questions, and unanswerable ones, below which a threshold would be chance."""
CURVE_POINTS = 20
LEAST_SENTENCES = 4
"""Sentences of an abstract from which one can stand in for a question."""
_FOUND = 6
"""Papers found for a sentence, its own included."""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """The assistant's confidence on a question, and whether the library answers it."""

    confidence: float
    answerable: bool


def judged_sentences(
    library: Library, reader: Reader, most: int, progress: Progress
) -> Iterator[JudgedQuestion]:
    """Sentences as questions: answerable with their paper in the library, unanswerable without.

    They are taken from `most` papers of the library at most, at even distances.

    Raises:
        LibraryError: the library cannot be read.
    """
    papers = at_even_distances((stored.paper for stored in library.store.papers()), most)
    for done, paper in enumerate(papers, start=1):
        sentences = split_sentences(paper.abstract)
        asked = sentences[2 * len(sentences) // 3].text  # past the introduction: what it does
        found = search(library, asked, _FOUND, also=[paper.id])
        others = [passage for passage in found if passage.paper.id != paper.id]
        for passages, answerable in ((found, True), (others, False)) if others else ():
            yield JudgedQuestion(_confidence(asked, passages, library, reader), answerable)
        progress("calibrating", done, len(papers), "papers")


def at_even_distances(papers: Iterable[Paper], most: int) -> list[Paper]:
    """At most `most` papers, evenly distributed by id, each with enough sentences."""
    papers = sorted(papers, key=lambda each: each.id)
    most = min(most, len(papers))
    starts = [place * len(papers) // most for place in range(most)]
    spans = (papers[start:end] for start, end in pairwise([*starts, len(papers)]))
    found = (next(filter(_is_long, span), None) for span in spans)
    return [paper for paper in found if paper]


def _is_long(paper: Paper) -> bool:
    return len(split_sentences(paper.abstract)) >= LEAST_SENTENCES


def calibrated(
    judged: Sequence[JudgedQuestion], source: str, *, before: float, by_people: bool
) -> Calibration:
    """The threshold that keeps its promise, chosen on every second question of either kind.

    Args:
        judged: at least `LEAST_QUESTIONS` of either kind.
        source: where they come from.
        before: the threshold so far.
        by_people: whether people wrote them, so that answerable ones are realistically hard.

    Raises:
        InputError: there are too few questions.
    """
    answerable = [each.confidence for each in judged if each.answerable]
    unanswerable = [each.confidence for each in judged if not each.answerable]
    if min(len(answerable), len(unanswerable)) < LEAST_QUESTIONS:
        raise InputError(
            f"{len(answerable)} answerable and {len(unanswerable)} unanswerable questions are too "
            f"few to calibrate with; at least {LEAST_QUESTIONS} of each are needed."
        )
    if by_people:
        share = _promised(MOST_REFUSED, len(answerable[::2]))
        least = -_quantile([-value for value in answerable[::2]], 1 - share)
        promise = f"at most {share:.0%} of answerable questions are refused"
    else:
        share = _promised(MOST_ANSWERED, len(unanswerable[::2]))
        least = math.nextafter(_quantile(unanswerable[::2], 1 - share), 1.0)
        promise = f"at most {share:.0%} of unanswerable questions are answered"
    checked = answerable[1::2], unanswerable[1::2]
    return Calibration(
        least_confidence=least,
        source=source,
        answerable=len(answerable),
        unanswerable=len(unanswerable),
        promise=promise,
        before=Rates(*(_below(values, before) for values in checked)),
        after=Rates(*(_below(values, least) for values in checked)),
        auc=round(sum(_below(unanswerable, each) for each in answerable) / len(answerable), 4),
        curve=_curve(judged),
        version=VERSION,
    )


def _confidence(text: str, passages: Sequence[Passage], library: Library, reader: Reader) -> float:
    """Probability that one of the papers that read best answers."""
    read = read_papers(text, passages, reader, never)[: AnswerSettings().judged]
    read = read_alone(text, read, reader, never)
    entities = QuestionEntities.of(StandaloneQuestion(text, text), ())
    return max(probability(entities.features(each, library.lexical)) for each in read)


def _promised(wanted: float, questions: int) -> float:
    """The wanted share, or the least that can be promised from few questions, in whole percents."""
    return max(wanted, math.ceil(100 / (questions + 1)) / 100)


def _quantile(values: Sequence[float], share: float) -> float:
    """The conformal quantile: a new value is at most this with probability `share` or more."""
    ordered = sorted(values)
    return ordered[min(len(ordered), math.ceil(round((len(ordered) + 1) * share, 9))) - 1]


def _below(values: Sequence[float], threshold: float) -> float:
    """The share of values below a threshold."""
    return round(sum(value < threshold for value in values) / len(values), 4)


def risk_coverage(judged: Iterable[tuple[float, bool]]) -> list[tuple[float, float, float]]:
    """The risk-coverage curve: confidence, coverage and risk, the surest first.

    Coverage is the share of questions answered if this confidence is needed, risk the share of
    wrong answers among these. Questions of the same confidence share a point.

    Args:
        judged: for each question the confidence, and whether its answer is wrong.
    """
    ordered = sorted(judged, key=itemgetter(0), reverse=True)
    points = []
    taken = wrong = 0
    for confidence, step in groupby(ordered, key=itemgetter(0)):
        mistakes = [is_wrong for _, is_wrong in step]
        taken += len(mistakes)
        wrong += sum(mistakes)
        points.append((confidence, taken / len(ordered), wrong / taken))
    return points


def _curve(judged: Sequence[JudgedQuestion]) -> tuple[Point, ...]:
    """Risk and coverage, from answering everything to answering only what is surest."""
    curve = risk_coverage((each.confidence, not each.answerable) for each in judged)
    points = {point[0]: Point(*(round(value, 4) for value in point)) for point in curve}
    ordered = sorted(each.confidence for each in judged)
    steps = (step * len(ordered) // CURVE_POINTS for step in range(CURVE_POINTS))
    return tuple(points[ordered[step]] for step in steps)
