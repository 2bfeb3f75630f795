"""Asks samples, each as its type needs it, and scores the replies."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.evaluation.scorers import scores_of
from assistant.evaluation.types import AnsweredQuestion, Question, Reply, Row, Sample, SampleType
from assistant.pipeline.assistant import Assistant
from assistant.types import Answer, Turn, answer_json, dumps
from retrieval.query.lookup import Lookup
from retrieval.search.rerank import ranking
from retrieval.types import Cancelled, Paper, never

LOOKED_UP = 10
"""Papers that a lookup returns, unless more are expected."""
SEARCHED = 100
"""Papers that a search returns; recall@100 needs as many."""


@dataclass(frozen=True, slots=True)
class _Response:
    """The papers, and the answer if one was asked for, that a question got."""

    papers: tuple[Paper, ...]
    """Best first."""
    seconds: float
    answer: Answer | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(paper.id for paper in self.papers)

    @property
    def bytes(self) -> str:
        """What repeating a question must reproduce: papers and answer without timings."""
        answer = answer_json(self.answer, None, 0) if self.answer else {}
        return dumps([self.ids, {**answer, "timings": None}])


class Runner:
    """Asks one assistant samples and scores the replies."""

    def __init__(self, assistant: Assistant, repeats: int = 0) -> None:
        """Each sample will be asked again `repeats` times, to compare the replies."""
        self._assistant = assistant
        self._repeats = repeats

    def row(self, sample: Sample) -> Row:
        """The sample with its replies, or with the error if it failed; Cancelled goes through."""
        try:
            responses = list(self._responses(sample))
            again = [list(self._responses(sample)) for _ in range(self._repeats)]
        except Cancelled:
            raise
        except Exception as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            unanswered = tuple(Reply(each.text, each.expected) for each in sample.questions)
            return Row(sample.id, sample.type, unanswered, self._titles(sample, ()), failed=why)
        replies = tuple(
            _reply(sample, turn, each, tuple(times[turn].bytes == each.bytes for times in again))
            for turn, each in enumerate(responses)
        )
        return Row(sample.id, sample.type, replies, self._titles(sample, responses))

    def _responses(self, sample: Sample) -> Iterator[_Response]:
        history: list[Turn] = []
        for question in sample.questions:
            if sample.type is SampleType.LOOKUP:
                yield self._lookup(question)
            elif sample.type is SampleType.RETRIEVAL:
                yield self._search(question)
            else:
                answer = self._assistant.answer(question.text, history)
                history.append(Turn(question.text, answer))
                papers = tuple(passage.paper for passage in answer.passages)
                yield _Response(papers, answer.timings.total, answer)

    def _lookup(self, question: Question) -> _Response:
        limit = max(LOOKED_UP, len(question.expected.papers or ()))
        start = time.monotonic()
        matches = Lookup.over(self._assistant.library).find(question.text, limit).matches
        return _Response(tuple(match.paper for match in matches), _since(start))

    def _search(self, question: Question) -> _Response:
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
        return _Response(tuple(passage.paper for passage in found.passages), _since(start))

    def _titles(self, sample: Sample, responses: Sequence[_Response]) -> dict[str, str]:
        """Titles of the returned and of the expected papers, by id."""
        expected = {id_ for each in sample.questions for id_ in each.expected.papers or ()}
        stored = self._assistant.library.store.stored_by_id(sorted(expected))
        papers = [each.paper for each in stored.values()]
        papers += [paper for each in responses for paper in each.papers]
        return {paper.id: paper.shown_title for paper in papers}


def _since(start: float) -> float:
    return round(time.monotonic() - start, 4)


def _reply(sample: Sample, turn: int, response: _Response, again: tuple[bool, ...]) -> Reply:
    question, answer = sample.questions[turn], response.answer
    asked = AnsweredQuestion(sample.type, turn, question.expected, response.ids, answer, again)
    return Reply(
        question=question.text,
        expected=question.expected,
        ranking=response.ids,
        answer=answer_json(answer, sample.id, turn) if answer else None,
        scores=scores_of(asked),
        seconds=response.seconds,
    )
