"""Scorers: pure functions from an answered question to a score with its reason; their metrics.

A scorer returns None if it does not apply, and a score without a value if it applies but has
nothing to measure. A metric is the mean of a score over all questions that have it; `METRICS` lists
them all. Scorers are frozen: a change of any value that they give needs a new `VERSION`, and runs
of different versions are not compared. Text from papers is not escaped here.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Literal

from assistant.evaluation.types import AnsweredQuestion, Expected, SampleType, Score
from assistant.generation.verification.guards import breaks
from assistant.types import Answer, AnswerSentence, Outcome, SentenceKind
from retrieval.search import metrics
from retrieval.text.markup import clean
from retrieval.types import Paper, counted, first_words, nested

VERSION = "2"
"""Of all scorers together."""

Scorer = Callable[[AnsweredQuestion], Score | None]
Measure = Callable[[Sequence[str], Mapping[str, float], int], float]
"""A function of ids, best first, the gain of every right id, and the number of ids that count."""

NOTHING_ANSWERED = Score(None, "nothing was answered")
NOTHING_CITED = Score(None, "nothing is cited")
_MOST_RANKS = 10
"""Ranks that an explanation names."""
_AND_MORE = re.compile(r", and [\d,]+ more(?: that `.*` lists)?\.$", re.DOTALL)
"""The end of a list's last sentence, which is not about the cited paper."""


def quoted(text: str) -> str:
    """The beginning of `text` in quotation marks."""
    return f"“{nested(first_words(text))}”"


def share(parts: Sequence[tuple[str, bool]], noun: str, missed: str = "") -> Score:
    """The share of parts that holds, of at least one; `missed` leads in the names of the others."""
    holding = sum(holds for _, holds in parts)
    why = f"{holding} of {counted(len(parts), noun)}"
    others = "; ".join(dict.fromkeys(text for text, holds in parts if not holds))
    return Score(holding / len(parts), f"{why}; {missed}: {others}" if missed and others else why)


def _of_answers(scorer: Callable[[Answer, Expected], Score | None]) -> Scorer:
    """A scorer of answers, by which a refusal has no value; `abstention` scores refusals."""

    @wraps(scorer)
    def scored(asked: AnsweredQuestion) -> Score | None:
        score = scorer(asked.answer, asked.expected) if asked.answer else None
        return score if score is None or asked.is_answered else NOTHING_ANSWERED

    return scored


# What an answer says. It states a fact if one of the fact's wordings occurs in the shown text,
# ignoring case; titles that introduce a quotation count. A refusal states no fact.


def fact_recall(asked: AnsweredQuestion) -> Score | None:
    """Share of the expected facts that are stated."""
    if asked.answer is None:
        return None
    return _stated(asked.answer.text if asked.is_answered else "", asked.expected.facts)


def all_facts(asked: AnsweredQuestion) -> Score | None:
    """1 if every expected fact is stated, else 0."""
    return _whole(fact_recall(asked))


@_of_answers
def words(answer: Answer, _expected: Expected) -> Score:
    """Words of the shown text, with citation numbers."""
    return _word_count(answer.text)


def states(text: str, wordings: Iterable[str]) -> bool:
    """Whether a text has a fact in one of its wordings."""
    folded = text.casefold()
    return any(each.casefold() in folded for each in wordings)


def _stated(text: str, facts: Sequence[Sequence[str]]) -> Score | None:
    parts = [(" or ".join(wordings), states(text, wordings)) for wordings in facts]
    return share(parts, "fact", "missing") if parts else None


def _whole(score: Score | None) -> Score | None:
    return score and Score(float(score.value == 1), score.why)


def _word_count(text: str) -> Score:
    count = len(text.split())
    return Score(count, counted(count, "word"))


# What an answer cites.


@_of_answers
def citation_precision(answer: Answer, expected: Expected) -> Score | None:
    """Share of the citations that are of a right paper."""
    if not (right := expected.papers):
        return None
    cited = [citation.paper for citation in answer.citations]
    parts = [(quoted(paper.shown_title), paper.id in right) for paper in cited]
    return share(parts, "citation", "not expected") if parts else NOTHING_CITED


@_of_answers
def citation_recall(answer: Answer, expected: Expected) -> Score | None:
    """Share of the right papers that are cited."""
    cited = {citation.paper.id for citation in answer.citations}
    parts = [(id_, id_ in cited) for id_ in expected.papers or ()]
    return share(parts, "right paper") if parts else None


@_of_answers
def quotes_verbatim(answer: Answer, _expected: Expected) -> Score:
    """Share of the quotes that are an exact part of the cited paper's abstract."""
    parts = [
        (quoted(each.quote), bool(each.quote) and each.quote in each.paper.abstract)
        for each in answer.citations
    ]
    return share(parts, "quote", "not in the abstract") if parts else NOTHING_CITED


@_of_answers
def evidence_recall(answer: Answer, expected: Expected) -> Score | None:
    """Share of the expected sentences that a cited quote contains, or is a part of."""
    quotes = [citation.quote for citation in answer.citations]
    parts = [(quoted(gold), is_cited(gold, quotes)) for gold in expected.evidence]
    return share(parts, "sentence", "not cited") if parts else None


def is_cited(sentence: str, quotes: Iterable[str]) -> bool:
    """Whether a quote contains the sentence, or is a part of it.

    Only letters and digits are compared, without mark-up: a question file may quote a page, while
    the library has cleaned text.
    """
    gold = _letters(sentence)
    others = filter(None, map(_letters, quotes))
    return bool(gold) and any(gold in quote or quote in gold for quote in others)


def _letters(text: str) -> str:
    """Letters and digits of `text` in lower case, without mark-up."""
    plain = unicodedata.normalize("NFKC", clean(text)).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


# Which sentences of an answer are grounded, and what the model wrote. A model checks whether a
# written sentence follows from its citations before it is shown; a score by the same model would
# add nothing, so that these measure what can be measured exactly.


@_of_answers
def grounded(answer: Answer, _expected: Expected) -> Score:
    """Share of the sentences whose numbers, units and names all occur in what they cite.

    A sentence about a record is compared with the whole record, a quotation with its quote. A
    sentence by the model may take names, but no numbers, from the cited titles.
    """
    parts = [(quoted(each.text), _is_grounded(answer, each)) for each in answer.sentences]
    return share(parts, "sentence", "not in what they cite") if parts else NOTHING_ANSWERED


@_of_answers
def written(answer: Answer, _expected: Expected) -> Score | None:
    """1 if an answer from abstracts begins with a sentence by the model, else 0."""
    if _is_from_records(answer):
        return None
    if not answer.sentences:
        return NOTHING_ANSWERED
    begins = answer.sentences[0].kind is SentenceKind.VERIFIED
    why = "begins with what the model wrote" if begins else "begins with a quotation"
    return Score(float(begins), why)


def written_words(asked: AnsweredQuestion) -> Score | None:
    """Number of words that the model wrote, if any."""
    said = _written_part(asked)
    return _word_count(said) if said else None


def written_facts(asked: AnsweredQuestion) -> Score | None:
    """1 if the sentences by the model state every expected fact, else 0."""
    said = _written_part(asked)
    return None if said is None else _whole(_stated(said, asked.expected.facts))


def _written_part(asked: AnsweredQuestion) -> str | None:
    """The sentences by the model, None if no abstract was to be answered from."""
    if asked.answer is None or _is_from_records(asked.answer):
        return None
    sentences = asked.answer.sentences if asked.is_answered else ()
    return " ".join(each.text for each in sentences if each.kind is SentenceKind.VERIFIED)


def _is_grounded(answer: Answer, sentence: AnswerSentence) -> bool:
    cited = [each for each in answer.citations if each.number in sentence.citations]
    quotes = [each.quote for each in cited]
    if sentence.text in quotes:
        return True
    if sentence.kind is SentenceKind.QUOTED:
        return False
    if _is_from_records(answer):
        fields = [field for each in cited for field in _fields(each.paper)]
        return not breaks(_AND_MORE.split(sentence.text)[0], fields)
    return not breaks(sentence.text, quotes, " ".join(each.paper.title for each in cited))


def _is_from_records(answer: Answer) -> bool:
    """Whether the answer comes from records: it has no confidence, and no model wrote."""
    return answer.confidence is None and answer.tokens.completion == 0


def _fields(paper: Paper) -> list[str]:
    """A record as texts that a sentence can be compared with."""
    appeared = f"{paper.venue} {paper.year or ''} {paper.decision}"
    return [paper.shown_title, " and ".join(paper.authors), appeared]


# Whether it was right to answer or to refuse. Either kind of refusal is right for a question that
# no abstract answers; only the table of outcomes distinguishes them.


def abstention(asked: AnsweredQuestion) -> Score | None:
    """1 if the decision to answer or to refuse is right, else 0."""
    should = asked.expected.should_answer
    if asked.answer is None or should is None:
        return None
    is_right = asked.is_answered == should
    given = "answered" if asked.is_answered else _refused(asked.answer)
    why = "as it should be" if is_right else f"but should be {'answered' if should else 'refused'}"
    return Score(float(is_right), f"{given}, {why}")


def false_abstention(asked: AnsweredQuestion) -> Score | None:
    """1 if a question that can be answered is refused, else 0."""
    return _wrong(asked) if asked.expected.should_answer is True else None


def false_answer(asked: AnsweredQuestion) -> Score | None:
    """1 if a question that no abstract answers is answered, else 0."""
    return _wrong(asked) if asked.expected.should_answer is False else None


def follow_up(asked: AnsweredQuestion) -> Score | None:
    """1 if a later turn cites a right paper first, or refuses if no paper is right; else 0."""
    answer, expected = asked.answer, asked.expected
    if asked.type is not SampleType.CHAT or asked.turn == 0 or answer is None:
        return None
    if expected.should_answer is False:
        return Score(float(not asked.is_answered), f"{_begins(answer)}; nothing is right")
    if not expected.papers:
        return None
    is_right = any(each.paper.id in expected.papers for each in answer.citations[:1])
    return Score(float(is_right), f"{_begins(answer)}; {'a' if is_right else 'not a'} right paper")


def same_again(asked: AnsweredQuestion) -> Score | None:
    """Share of the repeats that gave the same bytes, without timings."""
    return share([("", same) for same in asked.again], "repeat") if asked.again else None


def _wrong(asked: AnsweredQuestion) -> Score | None:
    score = abstention(asked)
    return score and Score(float(score.value == 0), score.why)


def _refused(answer: Answer) -> str:
    return f"refused ({answer.outcome.value})"


def _begins(answer: Answer) -> str:
    if answer.outcome is not Outcome.ANSWERED:
        return _refused(answer)
    if not answer.citations:
        return "cites nothing"
    return f"cites {quoted(answer.citations[0].paper.shown_title)} first"


# The papers found, by rank. These apply if there are right papers, whether the question was
# answered or refused: the closest papers of a refusal are ranked, too.


def _ranked(measure: Measure, depth: int = 0) -> Scorer:
    """A scorer by a measure of the first `depth` papers, or of as many as are right (0).

    It names their ranks: `1 of 2 right papers in the first 10, at rank 3`.
    """

    def scored(asked: AnsweredQuestion) -> Score | None:
        right = asked.expected.papers
        if not right:
            return None
        counting = depth or len(right)
        first = enumerate(asked.ranking[:counting], start=1)
        ranks = [str(rank) for rank, id_ in first if id_ in right]
        why = f"{len(ranks)} of {counted(len(right), 'right paper')} in the first {counting}"
        if ranks:
            more = ", …" if len(ranks) > _MOST_RANKS else ""
            why += f", at rank {', '.join(ranks[:_MOST_RANKS])}{more}"
        return Score(measure(asked.ranking, right, counting), why)

    return scored


mrr_at_10, ndcg_at_10 = _ranked(metrics.reciprocal_rank, 10), _ranked(metrics.ndcg, 10)


def recall_at_100(asked: AnsweredQuestion) -> Score | None:
    """Share of the right papers in the first 100; only searches return that many."""
    return _ranked(metrics.recall, 100)(asked) if asked.type is SampleType.RETRIEVAL else None


# The metrics.

Unit = Literal["share", "decimal", "count"]
"""The kind of number: from 0 to 1, shown in per cent or as a decimal, or from 0 up."""


@dataclass(frozen=True, slots=True)
class Metric:
    """The mean of a score."""

    name: str
    """Of the metric and of its scores."""
    label: str
    """A short description, which fits beside the figures in a terminal of 80 columns."""
    scorer: Scorer | None
    """None for the share of failed samples, which have no replies to score."""
    unit: Unit = "share"
    direction: int = 1
    """1 if more is better, -1 if less is."""
    headline: bool = False
    """Whether it is shown first, and whether `--gate` fails if it is worse."""

    def goodness(self, value: float) -> float | None:
        """The value on a scale from 0, worst, to 1, best; None for counts, which have no best."""
        if self.unit == "count":
            return None
        return value if self.direction > 0 else 1 - value


FAILED = "failed"
"""The metric without a scorer: the share of samples that ended with an error."""

METRICS = (
    Metric("facts", "answers with all facts", all_facts, headline=True),
    Metric("fact recall", "facts in the answer", fact_recall),
    Metric("words", "words of an answer", words, "count", -1, headline=True),
    Metric("citation precision", "right citations", citation_precision, headline=True),
    Metric("citation recall", "right papers cited", citation_recall, headline=True),
    Metric("grounded", "names, numbers as cited", grounded, headline=True),
    Metric("written", "answers written first", written, headline=True),
    Metric("written words", "words the model wrote", written_words, "count", -1),
    Metric("written facts", "all facts written", written_facts, headline=True),
    Metric("quotes verbatim", "quotes word for word", quotes_verbatim, headline=True),
    Metric("evidence recall", "expected evidence cited", evidence_recall, headline=True),
    Metric("abstention", "right to answer or not", abstention, headline=True),
    Metric(
        "false abstention", "answerable, refused", false_abstention, direction=-1, headline=True
    ),
    Metric("false answer", "unanswerable, answered", false_answer, direction=-1, headline=True),
    Metric("follow-up", "understood follow-ups", follow_up, headline=True),
    Metric("recall@1", "right papers at rank 1", _ranked(metrics.recall, 1)),
    Metric("recall@5", "right papers in first 5", _ranked(metrics.recall, 5)),
    Metric("recall@10", "right papers in first 10", _ranked(metrics.recall, 10), headline=True),
    Metric("recall@100", "right papers in first 100", recall_at_100),
    Metric("mrr@10", "mean reciprocal rank", mrr_at_10, "decimal", headline=True),
    Metric("ndcg@10", "nDCG of first 10", ndcg_at_10, "decimal", headline=True),
    Metric("r-precision", "right papers in first n", _ranked(metrics.recall)),
    Metric("same again", "same bytes, asked again", same_again, headline=True),
    Metric(FAILED, "samples with an error", None, direction=-1, headline=True),
)
"""All metrics, in the order in which they are shown."""
METRIC_OF: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
"""The metrics by name."""


def scores_of(asked: AnsweredQuestion) -> dict[str, Score]:
    """Every score that applies, by its metric."""
    scores = {each.name: each.scorer(asked) for each in METRICS if each.scorer}
    return {name: score for name, score in scores.items() if score is not None}
