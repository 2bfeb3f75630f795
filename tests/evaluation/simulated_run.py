"""A run over a library of forty papers as a middling assistant would have answered it.

No model is asked: what is told here are scores and figures, whose right values have to be known.
A planted regression is a function from an `AnsweredQuestion` to what a worse assistant would have
made of it.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from assistant.evaluation.figures.figures import Figures, make_figures
from assistant.evaluation.scorers import scores_of
from assistant.evaluation.types import AnsweredQuestion, Expected, Reply, Row, SampleType
from assistant.types import (
    Answer,
    AnswerSentence,
    Citation,
    Outcome,
    SentenceKind,
    Timings,
    Tokens,
    answer_json,
)
from retrieval.types import Chunk, Paper, Passage, Source

SHA = "5e" * 32
REPEATED = 5
"""Every fifth sample is asked a second time."""

Change = Callable[[AnsweredQuestion], AnsweredQuestion]


def _paper(number: int) -> Paper:
    name = f"Method{chr(65 + number % 26)}{number}"
    abstract = (
        f"Learning from sparse signals is hard. We present {name}, a graph network with "
        f"{number + 3} layers. {name} lowers the error by {number + 10}.5% on the benchmark. "
        "Code is released."
    )
    return Paper(
        id=f"P{number:02}",
        title=f"{name} for Sparse Signals",
        authors=("Ada Miro",),
        venue="ICML",
        year=2021,
        decision="",
        abstract=abstract,
        sources=(Source("papers.jsonl", number + 1),),
    )


PAPERS = {paper.id: paper for paper in map(_paper, range(40))}
IDS = tuple(PAPERS)


def gold_sentence(paper: Paper) -> str:
    """The sentence with the fact that is asked for."""
    found = re.search(r"Method\w+ lowers .*? benchmark\.", paper.abstract)
    assert found
    return found[0]


def right(paper: Paper) -> Expected:
    number = int(paper.id[1:])
    return Expected(
        papers={paper.id: 1.0},
        outcome=Outcome.ANSWERED,
        facts=((f"{number + 10}.5%", f"{number + 10}.5 percent"),),
        evidence=(gold_sentence(paper),),
    )


NOTHING = Expected(papers={})


def answer_from(ranking: Sequence[str], sentence: str = "") -> Answer:
    """What quotes a sentence of the paper ranked first; by default the one with its fact."""
    paper = PAPERS[ranking[0]]
    quote = sentence or gold_sentence(paper)
    return Answer(
        question="How much does it lower the error?",
        standalone_question="How much does it lower the error?",
        outcome=Outcome.ANSWERED,
        text=f"From “{paper.title}”: “{quote}” [1]",
        sentences=(AnswerSentence(quote, SentenceKind.QUOTED, (1,)),),
        citations=(Citation(1, paper, quote),),
        passages=tuple(_passage(PAPERS[id_]) for id_ in ranking),
        model="simulated",
        timings=Timings(0.5, 0.25, 0.75, 1.5),
        tokens=Tokens(300, 20, 2000),
        confidence=0.8,
    )


def refusal(ranking: Sequence[str]) -> Answer:
    """What says that the library has no answer."""
    return replace(
        answer_from(ranking),
        outcome=Outcome.NOT_IN_LIBRARY,
        text="No abstract of the library answers this.",
        sentences=(),
        citations=(),
        timings=Timings(0.5, 0.25, 0.6, 0.6),
        tokens=Tokens(200, 0),
        confidence=0.1,
    )


def _passage(paper: Paper) -> Passage:
    chunk = Chunk(f"{paper.id}:0", paper.id, 0, 0, len(paper.abstract), paper.abstract)
    return Passage(paper, chunk, 1.0, similarity=0.9)


def _ranking(first: str, chance: random.Random) -> tuple[str, ...]:
    """Ten papers, the right one first in four of five times, else somewhere after."""
    others = chance.sample([id_ for id_ in IDS if id_ != first], 9)
    place = 0 if chance.random() < 0.8 else chance.randint(1, 9)
    return (*others[:place], first, *others[place:])


def _answerable(type_: SampleType, number: int, turn: int = 0) -> AnsweredQuestion:
    chance = random.Random(1000 * turn + number)  # noqa: S311
    paper = PAPERS[IDS[number % len(IDS)]]
    ranking = _ranking(paper.id, chance)
    answer = answer_from(ranking) if chance.random() < 0.9 else refusal(ranking)
    again = (True,) if number % REPEATED == 0 else ()
    return AnsweredQuestion(type_, turn, right(paper), ranking, answer, again)


def _unanswerable(type_: SampleType, number: int, turn: int = 0) -> AnsweredQuestion:
    ranking = tuple(random.Random(number).sample(IDS, 10))  # noqa: S311
    answer = answer_from(ranking) if number % 7 == 0 else refusal(ranking)
    return AnsweredQuestion(type_, turn, NOTHING, ranking, answer)


def _lookup(number: int) -> AnsweredQuestion:
    paper = PAPERS[IDS[number]]
    ranking = _ranking(paper.id, random.Random(number))  # noqa: S311
    return AnsweredQuestion(SampleType.LOOKUP, 0, Expected(papers={paper.id: 1.0}), ranking)


def _asked() -> dict[str, tuple[AnsweredQuestion, ...]]:
    """Sixty samples by id: what was asked, and what came of it."""
    samples: dict[str, tuple[AnsweredQuestion, ...]] = {}
    for number in range(30):
        samples[f"S{number:02}"] = (_answerable(SampleType.SINGLE, number),)
    for number in range(14):
        samples[f"U{number:02}"] = (_unanswerable(SampleType.UNANSWERABLE, number),)
    for number in range(8):
        samples[f"L{number:02}"] = (_lookup(number),)
    for number in range(8):
        samples[f"C{number:02}"] = (
            _answerable(SampleType.CHAT, number, 0),
            _answerable(SampleType.CHAT, number, 1),
            _unanswerable(SampleType.CHAT, number, 2),
        )
    return samples


ASKED = _asked()
ORDER = tuple(ASKED)


def unchanged(asked: AnsweredQuestion) -> AnsweredQuestion:
    return asked


def rows(change: Change = unchanged, only: Sequence[str] = ORDER) -> list[Row]:
    """A row of each sample, scored by the real scorers."""
    return [
        Row(
            id=id_,
            type=ASKED[id_][0].type,
            replies=tuple(_reply(id_, change(asked)) for asked in ASKED[id_]),
            titles={paper.id: paper.title for paper in PAPERS.values()},
        )
        for id_ in only
    ]


def _reply(id_: str, asked: AnsweredQuestion) -> Reply:
    answer = asked.answer
    return Reply(
        question="How much does it lower the error?",
        expected=asked.expected,
        ranking=asked.ranking,
        answer=None if answer is None else answer_json(answer, id_, asked.turn),
        scores=scores_of(asked),
        seconds=0.01 if answer is None else answer.timings.total,
    )


def failed(row: Row) -> Row:
    """The row of a sample that ended with an error."""
    replies = tuple(Reply(reply.question, reply.expected) for reply in row.replies)
    return replace(row, replies=replies, failed="the model could not be read")


def figures(of: Sequence[Row], only: Sequence[str] = ORDER) -> Figures:
    by_id = {row.id: row for row in of}
    return make_figures([by_id[id_] for id_ in only], SHA, seed=7, resamples=2000)
