"""Samples as the page shows them: answer, expectation, ranking and scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assistant.evaluation.report.misses import is_short, is_unscored, reasons, short_metrics
from assistant.evaluation.report.wording import label_of, score, seconds
from assistant.evaluation.scorers.abstention import EITHER_REFUSAL, should_answer
from assistant.evaluation.scorers.evidence import is_cited
from assistant.evaluation.scorers.facts import states
from assistant.evaluation.types import Json, Reply, Row, Score
from assistant.types import Outcome, SentenceKind

_REFUSAL = "a refusal, of either kind"
OUTCOMES: Mapping[str, str] = {
    Outcome.ANSWERED.value: "answered",
    Outcome.ABSTRACT_SILENT.value: "not found in the abstract",
    Outcome.NOT_IN_LIBRARY.value: "not in this library",
}
RIGHT_OUTCOMES: Mapping[str, str] = {**OUTCOMES, EITHER_REFUSAL: _REFUSAL}
"""Labels of the rows in the table of outcomes."""
RANKS_SHOWN = 10
"""Ranks that are all shown; of the others, only right papers are."""


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence of an answer."""

    text: str
    is_quoted: bool
    numbers: tuple[int, ...]
    lead: str
    """Title of the quoted paper, empty if it is the paper of the sentence before."""
    begins_evidence: bool
    """Whether it is the first quotation after a written sentence."""


@dataclass(frozen=True, slots=True)
class ShownCitation:
    """A numbered reference."""

    number: int
    title: str
    quote: str
    """Empty if the answer shows this quotation."""
    is_right: bool | None
    """None if the right papers are not known."""


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer with its citations."""

    outcome: str
    is_answered: bool
    understood: str
    """The standalone question, empty if it is the question as asked."""
    text: str
    """Shown if there are no sentences."""
    sentences: tuple[ShownSentence, ...]
    citations: tuple[ShownCitation, ...]
    confidence: str


@dataclass(frozen=True, slots=True)
class ShownPart:
    """An expected fact, paper or sentence, and whether it was found."""

    text: str
    is_found: bool
    where: str = ""


@dataclass(frozen=True, slots=True)
class ShownExpected:
    """The expectation of a question."""

    answer: str
    outcome: str
    facts: tuple[ShownPart, ...]
    papers: tuple[ShownPart, ...]
    evidence: tuple[ShownPart, ...]


@dataclass(frozen=True, slots=True)
class Rank:
    """A paper of the ranking."""

    rank: int
    title: str
    is_right: bool


@dataclass(frozen=True, slots=True)
class ShownScore:
    """A score with its reason."""

    label: str
    value: str
    why: str
    is_scored: bool
    is_short: bool


@dataclass(frozen=True, slots=True)
class ShownReply:
    """A question with its reply."""

    question: str
    answer: ShownAnswer | None
    expected: ShownExpected
    ranking: tuple[Rank, ...]
    found: int
    """Number of papers in the whole ranking."""
    scores: tuple[ShownScore, ...]
    seconds: str


@dataclass(frozen=True, slots=True)
class ShownSample:
    """A sample, with the values that the page filters by."""

    anchor: str
    """Target of links, made from its place, as an id may have any characters."""
    id: str
    type: str
    replies: tuple[ShownReply, ...]
    failed: str
    reasons: tuple[str, ...]
    short: tuple[str, ...]
    """Metrics that are below the best score."""
    is_unscored: bool
    seconds: str

    @property
    def kinds(self) -> str:
        """The choices of the page's filter that show it."""
        named = {"misses": self.reasons, "failed": self.failed, "unscored": self.is_unscored}
        return " ".join(name for name, holds in named.items() if holds)


def anchor_of(place: int) -> str:
    """The anchor of a sample by its place in the page, from 1."""
    return f"sample-{place}"


def shown_sample(row: Row, place: int) -> ShownSample:
    """A row as the sample at a place of the page, from 1."""
    return ShownSample(
        anchor=anchor_of(place),
        id=row.id,
        type=row.type.value,
        replies=tuple(_reply(reply, row.titles) for reply in row.replies),
        failed=row.failed,
        reasons=reasons(row),
        short=short_metrics(row),
        is_unscored=is_unscored(row),
        seconds=seconds(sum(reply.seconds for reply in row.replies)),
    )


def _reply(reply: Reply, titles: Mapping[str, str]) -> ShownReply:
    right = reply.expected.papers
    return ShownReply(
        question=reply.question,
        answer=_answer(reply.answer, reply.question, right) if reply.answer else None,
        expected=_expected(reply, titles),
        ranking=tuple(_ranking(reply.ranking, right or {}, titles)),
        found=len(reply.ranking),
        scores=tuple(_score(metric, given) for metric, given in reply.scores.items()),
        seconds=seconds(reply.seconds),
    )


def _score(metric: str, given: Score) -> ShownScore:
    return ShownScore(
        label=label_of(metric),
        value=score(given.value),
        why=given.why,
        is_scored=given.value is not None,
        is_short=is_short(metric, given),
    )


def _answer(answer: Json, question: str, right: Mapping[str, float] | None) -> ShownAnswer:
    confidence = answer.get("confidence")
    understood = answer["standalone_question"]
    quoted = {
        each["text"] for each in answer["sentences"] if each["kind"] == SentenceKind.QUOTED.value
    }
    return ShownAnswer(
        outcome=OUTCOMES.get(answer["outcome"], answer["outcome"]),
        is_answered=answer["outcome"] == Outcome.ANSWERED.value,
        understood=understood if understood != question else "",
        text=answer["answer"],
        sentences=tuple(_sentences(answer)),
        citations=tuple(
            ShownCitation(
                number=each["number"],
                title=_titled(each["title"], each["quote"]),
                quote="" if each["quote"] in quoted else each["quote"],
                is_right=None if right is None else each["paper_id"] in right,
            )
            for each in answer["citations"]
        ),
        confidence="" if confidence is None else f"{confidence:.2f}".replace("-", "−"),
    )


def _sentences(answer: Json) -> Iterator[ShownSentence]:
    """The sentences in order; a quotation has a lead if it is of another paper than the one before.

    Quotations after a written sentence are its evidence, as in `answer_text`.
    """
    titles = {each["number"]: _titled(each["title"], each["quote"]) for each in answer["citations"]}
    before = ""
    is_written = False
    for each in answer["sentences"]:
        numbers = tuple(each["citations"])
        is_quoted = each["kind"] == SentenceKind.QUOTED.value
        title = titles.get(numbers[0], "") if is_quoted and numbers else ""
        yield ShownSentence(
            text=each["text"],
            is_quoted=is_quoted,
            numbers=numbers,
            lead=title if title != before else "",
            begins_evidence=is_quoted and is_written,
        )
        before, is_written = title, not is_quoted


def _titled(title: str, text: str) -> str:
    """The title, or the beginning of `text` if there is none."""
    return title or f"{text[:60]}…"


def _expected(reply: Reply, titles: Mapping[str, str]) -> ShownExpected:
    expected = reply.expected
    is_answered = reply.answer and reply.answer["outcome"] == Outcome.ANSWERED.value
    said: Json = reply.answer if reply.answer and is_answered else {"answer": "", "citations": ()}
    quotes = [each["quote"] for each in said["citations"]]
    return ShownExpected(
        answer=expected.answer,
        outcome=_right_outcome(reply),
        facts=tuple(_fact(fact, said["answer"]) for fact in expected.facts),
        papers=tuple(
            ShownPart(titles.get(id_, id_), id_ in reply.ranking, _rank(id_, reply.ranking))
            for id_ in expected.papers or ()
        ),
        evidence=tuple(ShownPart(each, is_cited(each, quotes)) for each in expected.evidence),
    )


def _right_outcome(reply: Reply) -> str:
    if reply.expected.outcome:
        return OUTCOMES[reply.expected.outcome.value]
    return _REFUSAL if should_answer(reply.expected) is False else ""


def _fact(alternatives: Sequence[str], text: str) -> ShownPart:
    return ShownPart(" or ".join(f"“{each}”" for each in alternatives), states(text, alternatives))


def _rank(paper_id: str, ranking: Sequence[str]) -> str:
    return f"found at rank {ranking.index(paper_id) + 1}" if paper_id in ranking else "not found"


def _ranking(
    ranking: Sequence[str], right: Mapping[str, float], titles: Mapping[str, str]
) -> Iterator[Rank]:
    """The first ranks, and right papers below them."""
    for rank, id_ in enumerate(ranking, start=1):
        if rank <= RANKS_SHOWN or id_ in right:
            yield Rank(rank, titles.get(id_, id_), id_ in right)
