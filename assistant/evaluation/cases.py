"""Answers that were rated down in the browser, as questions of an evaluation."""

from collections.abc import Iterable
from datetime import UTC, datetime

from assistant.conversations import Case, Reason
from assistant.evaluation.types import Json, SampleType
from assistant.types import Outcome, by_paper

_OF_AN_ANSWER = frozenset(
    {
        Reason.WRONG_CITATION,
        Reason.WRONG_STATEMENT,
        Reason.BESIDE_THE_QUESTION,
        Reason.INCOMPLETE,
    }
)
"""What is said of an answer that should have been another one."""


def question_lines(cases: Iterable[Case]) -> list[Json]:
    """The cases rated down, as lines that `read_question_set` reads.

    Which papers answer is not known (`papers` is null) unless the library has no answer; a person
    fills `papers`, `facts`, `evidence` and `answer` in. The reason, the comment and what was
    answered go along. Of a conversation only the last turn, the rated one, expects anything.
    Answers rated good are left out: what they cite was not said to be all that is right.
    """
    return [_line(case) for case in cases if case.rating.reason is not Reason.GOOD]


def note_on(lines: Iterable[Json]) -> str:
    """What these lines lack to be scored; empty if there are none that do."""
    rated = [line.get("turns", [line])[-1] for line in lines]
    unknown = sum(question["papers"] is None for question in rated)
    if not unknown:
        return ""
    return (
        f"{unknown} of {len(rated)} questions have “papers”: null and no facts; until you fill "
        "these in, only whether they are answered is scored, and nothing where “outcome” is null."
    )


def _line(case: Case) -> Json:
    *before, last = case.questions
    expected = _expected(case)
    said: Json = {
        "reason": case.rating.reason.value,
        "comment": case.rating.comment,
        "rated": datetime.fromtimestamp(case.rated, UTC).isoformat(timespec="seconds"),
        "given": _given(case),
    }
    if before:
        turns = [{"question": question, "papers": None} for question in before]
        asked: Json = {"turns": [*turns, {"question": last, **expected}]}
        return {"id": case.id, "type": SampleType.CHAT.value, **asked, **said}
    type_ = SampleType.UNANSWERABLE if expected["papers"] == [] else SampleType.SINGLE
    return {"id": case.id, "type": type_.value, "question": last, **expected, **said}


def _expected(case: Case) -> Json:
    if case.rating.reason is Reason.SHOULD_HAVE_REFUSED:
        return {"papers": [], "outcome": None}
    outcome = Outcome.ANSWERED.value if _should_be_answered(case) else None
    return {"papers": None, "outcome": outcome, "facts": [], "evidence": [], "answer": ""}


def _should_be_answered(case: Case) -> bool:
    """Whether the rating says so; of a refusal that was beside the question it does not."""
    was_answered = case.answer.outcome is Outcome.ANSWERED
    reason = case.rating.reason
    return reason is Reason.WRONGLY_REFUSED or (was_answered and reason in _OF_AN_ANSWER)


def _given(case: Case) -> Json:
    """What was answered, for whoever fills in what is right."""
    cited = [citations[0].paper for citations in by_paper(case.answer.citations)]
    return {
        "outcome": case.answer.outcome.value,
        "answer": case.answer.text,
        "cited": [{"id": paper.id, "title": paper.shown_title} for paper in cited],
    }
