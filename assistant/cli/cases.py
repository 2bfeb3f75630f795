"""Answers that were rated in the browser, as JSON lines or as questions of an evaluation."""

from collections.abc import Iterable
from datetime import UTC, datetime

from assistant.evaluation.types import SampleType
from assistant.server.history import Case, Reason
from assistant.types import Json, Outcome, answer_json, by_paper


def question_lines(cases: Iterable[Case]) -> list[Json]:
    """The cases that were rated down, as lines for `read_question_set`.

    The papers that answer are not known (`papers` is null) unless the library has no answer; a
    person fills in `papers`, `facts`, `evidence` and `answer`. Reason, comment and the given answer
    are added. In a conversation only the last turn, which was rated, has expectations. Answers
    rated good are left out, as they need not cite all right papers.
    """
    return [_line(case) for case in cases if case.rating.reason is not Reason.GOOD]


def note_on(lines: Iterable[Json]) -> str:
    """A note on lines that lack papers and facts; empty if there are none."""
    rated = [line.get("turns", [line])[-1] for line in lines]
    unknown = sum(question["papers"] is None for question in rated)
    if not unknown:
        return ""
    return (
        f"{unknown} of {len(rated)} questions have “papers”: null and no facts; until you fill "
        "these in, only whether they are answered is scored, and nothing where “outcome” is null."
    )


def case_json(case: Case) -> Json:
    """A rated answer; the last of its turns is the answered question."""
    return {
        "id": case.id,
        "turns": [{"question": question} for question in case.questions],
        **_rating(case),
        "answer": answer_json(case.answer, case.id, len(case.questions) - 1),
    }


def _line(case: Case) -> Json:
    *before, last = case.questions
    expected = _expected(case)
    said = {**_rating(case), "given": _given(case)}
    if before:
        turns = [{"question": question, "papers": None} for question in before]
        asked: Json = {"turns": [*turns, {"question": last, **expected}]}
        return {"id": case.id, "type": SampleType.CHAT.value, **asked, **said}
    type_ = SampleType.UNANSWERABLE if expected["papers"] == [] else SampleType.SINGLE
    return {"id": case.id, "type": type_.value, "question": last, **expected, **said}


def _expected(case: Case) -> Json:
    """What the rating says of the right answer; a refusal beside the question says nothing."""
    reason = case.rating.reason
    if reason is Reason.SHOULD_HAVE_REFUSED:
        return {"papers": [], "outcome": None}
    was_answered = case.answer.outcome is Outcome.ANSWERED
    is_answerable = reason is Reason.WRONGLY_REFUSED or (
        was_answered and reason is not Reason.OTHER
    )
    outcome = Outcome.ANSWERED.value if is_answerable else None
    return {"papers": None, "outcome": outcome, "facts": [], "evidence": [], "answer": ""}


def _given(case: Case) -> Json:
    """The given answer, for the person who fills in the right one."""
    cited = [citations[0].paper for citations in by_paper(case.answer.citations)]
    return {
        "outcome": case.answer.outcome.value,
        "answer": case.answer.text,
        "cited": [{"id": paper.id, "title": paper.shown_title} for paper in cited],
    }


def _rating(case: Case) -> Json:
    return {
        "reason": case.rating.reason.value,
        "comment": case.rating.comment,
        "rated": datetime.fromtimestamp(case.rated, UTC).isoformat(timespec="seconds"),
    }
