"""Samples asked, each as its type is asked, and what came of them scored."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assistant.evaluation.scorers import scores_of
from assistant.evaluation.types import Asked, Json, Question, Reply, Row, Sample, SampleType
from assistant.json_output import answer_json, dumps
from assistant.pipeline.assistant import Assistant
from assistant.types import Answer, Turn
from retrieval.errors import Cancelled
from retrieval.progress import never
from retrieval.query.lookup import Lookup
from retrieval.search.ranking import ranking
from retrieval.types import Paper

LOOKED_UP = 10
"""Papers that a lookup gives, or as many as are expected if these are more."""
SEARCHED = 100
"""Papers that a search gives: those that recall@100 counts."""


@dataclass(frozen=True, slots=True)
class _Given:
    """What was given for a question."""

    papers: tuple[Paper, ...]
    """Best first."""
    seconds: float
    answer: Answer | None = None

    @property
    def ranking(self) -> tuple[str, ...]:
        """Ids of the papers."""
        return tuple(paper.id for paper in self.papers)

    @property
    def answer_json(self) -> Json | None:
        """The answer as `ask --json` prints it, not yet with its id and turn."""
        return answer_json(self.answer, None, 0) if self.answer else None

    @property
    def bytes(self) -> bytes:
        """What must be the same whenever the question is asked: all but the times."""
        return stable(self.ranking, self.answer_json)


def stable(ranking: Sequence[str], answer: Json | None) -> bytes:
    """What must be the same whenever a question is asked: papers and answer without the times."""
    timeless = {name: value for name, value in (answer or {}).items() if name != "timings"}
    return dumps([list(ranking), timeless]).encode("utf-8")


class Asker:
    """Asks samples of one assistant and scores what comes."""

    def __init__(self, assistant: Assistant, repeats: int = 0) -> None:
        """Nothing is asked here.

        Args:
            assistant: what is asked.
            repeats: how often a sample is asked again, to see whether the same bytes come.
        """
        self._assistant = assistant
        self._repeats = repeats
        self._ways: dict[SampleType, Callable[[Question], _Given]] = {
            SampleType.LOOKUP: self._looked_up,
            SampleType.RETRIEVAL: self._searched,
        }

    def row(self, sample: Sample) -> Row:
        """The sample with what came of it; what failed is kept with the reason.

        Raises:
            Cancelled: it was stopped.
        """
        try:
            given = list(self._given(sample))
            again = [list(self._given(sample)) for _ in range(self._repeats)]
        except Cancelled:
            raise
        except Exception as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            unanswered = tuple(Reply(each.text, each.expected) for each in sample.questions)
            return Row(sample.id, sample.type, unanswered, self._titles(sample, ()), failed=why)
        replies = tuple(
            _reply(sample, turn, each, tuple(times[turn].bytes == each.bytes for times in again))
            for turn, each in enumerate(given)
        )
        return Row(sample.id, sample.type, replies, self._titles(sample, given))

    def _given(self, sample: Sample) -> Iterator[_Given]:
        """What is given for the questions of a sample, one after the other."""
        if way := self._ways.get(sample.type):
            yield from map(way, sample.questions)
            return
        history: list[Turn] = []
        for question in sample.questions:
            answer = self._assistant.answer(question.text, history)
            history.append(Turn(question.text, answer))
            papers = tuple(passage.paper for passage in answer.passages)
            yield _Given(papers, answer.timings.total, answer)

    def _looked_up(self, question: Question) -> _Given:
        limit = max(LOOKED_UP, len(question.expected.papers or ()))
        start = time.monotonic()
        matches = Lookup.over(self._assistant.library).find(question.text, limit).matches
        return _Given(tuple(match.paper for match in matches), _since(start))

    def _searched(self, question: Question) -> _Given:
        settings = self._assistant.settings
        start = time.monotonic()
        found = ranking(
            self._assistant.library,
            question.text,
            SEARCHED,
            self._assistant.reader if settings.rerank else None,
            never,
            settings=settings.search,
        )
        return _Given(tuple(passage.paper for passage in found.passages), _since(start))

    def _titles(self, sample: Sample, given: Sequence[_Given]) -> dict[str, str]:
        """Titles of the papers that were given, and of those that were expected."""
        expected = {id_ for each in sample.questions for id_ in each.expected.papers or ()}
        stored = self._assistant.library.store.stored_by_id(sorted(expected))
        papers = [each.paper for each in stored.values()]
        papers += [paper for each in given for paper in each.papers]
        return {paper.id: paper.shown_title for paper in papers}


def _since(start: float) -> float:
    return round(time.monotonic() - start, 4)


def _reply(sample: Sample, turn: int, given: _Given, again: tuple[bool, ...]) -> Reply:
    question = sample.questions[turn]
    asked = Asked(sample.type, turn, question.expected, given.ranking, given.answer, again)
    answer = given.answer_json
    return Reply(
        question=question.text,
        expected=question.expected,
        ranking=given.ranking,
        answer=answer and {**answer, "id": sample.id, "turn": turn},
        scores=scores_of(asked),
        seconds=given.seconds,
    )
