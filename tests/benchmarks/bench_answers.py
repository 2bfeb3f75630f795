"""What parts of the path add that `assistant evaluate` has no flag for, beside the whole of it.

    python tests/benchmarks/bench_answers.py QUESTIONS.jsonl [--home DIR] [--every N]

Every question of the file about one paper, or every Nth, is answered in each way with the models of
the settings, and scored as `assistant evaluate` scores it. Prints a row a way, then one JSON line.
Results and dead ends are in answers.md, with the flags that give the other rows.
"""

import argparse
import json
import statistics
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import patch

from assistant.evaluation.questions.question_set import read_question_set
from assistant.evaluation.scorers import scores_of
from assistant.evaluation.types import AnsweredQuestion, Sample, SampleType, Score
from assistant.models.chat import ChatModel, Messages, Stopped
from assistant.models.llama.decoding import LIKELIEST, Sampling
from assistant.pipeline.assistant import Assistant
from assistant.pipeline.startup import open_assistant
from assistant.settings import Ablations, AnswerSettings, WritingMode, load_settings
from assistant.types import Answer, Evidence, Outcome, SentenceKind
from retrieval.search.rerank import ReadPassage
from retrieval.types import silent

Scored = tuple[Answer, Mapping[str, Score]]

SCORED = {
    "facts": "all facts",
    "words": "words",
    "written": "begin written",
    "written words": "words of that",
    "written facts": "all facts in that",
    "false abstention": "refused",
    "citation precision": "right citations",
    "citation recall": "right papers cited",
}
"""Scores of which a row has the mean, with what the column is called."""
ANY_CONFIDENCE = -9.0
LIES = (
    "The method is 97.31 times faster than GPT-9 on every benchmark [{key}].",
    "It does not work at all, as the authors admit [{key}].",
    "This was proved by Ada Lovelace in Vienna in 1843 [{key}].",
    "The notes are wrong and the opposite of each of them holds [{key}].",
)


class Liar(ChatModel):
    """A stand-in model that writes lies with keys that exist."""

    name = "liar"
    context = 4096
    gives_likelihoods = False
    slots = 1

    def count(self, messages: Messages) -> int:
        """Words."""
        return sum(len(message["content"].split()) for message in messages)

    def write(
        self,
        messages: Messages,
        max_tokens: int,
        stopped: Stopped,
        grammar: str = "",
        sampling: Sampling = LIKELIEST,
    ) -> Generator[str, None, None]:
        """Every lie, each with the first key of the prompt."""
        notes = messages[-1]["content"].splitlines()
        key = next(line[1:].split("]")[0] for line in notes if line.startswith("["))
        for lie in LIES:
            yield f"{lie.format(key=key)} "


@dataclass(frozen=True, slots=True)
class Way:
    """A way to answer."""

    assistant: Assistant
    patched: AbstractContextManager[object] = field(default_factory=nullcontext)
    """What no setting can say."""


def stuffed(about: Sequence[ReadPassage], beside: Sequence[ReadPassage]) -> list[Evidence]:
    """In place of chosen sentences: whole abstracts."""
    papers = [each.passage.paper for each in (*about, *beside)]
    return [Evidence(each, 0, len(each.abstract), each.abstract, 1.0) for each in papers]


def settings(whole: AnswerSettings) -> dict[str, AnswerSettings]:
    """What the path takes as it is, and with parts left out."""
    quotes, briefs, writes = (
        replace(whole.writing, mode=mode)
        for mode in (WritingMode.QUOTE, WritingMode.BRIEF, WritingMode.FREE)
    )
    return {
        "whole": whole,
        "evidence quoted": replace(whole, writing=quotes),
        "nothing refused": replace(whole, least_confidence=ANY_CONFIDENCE),
        "brief, no check": Ablations(check=False).answer_settings(briefs),
        "model writes": replace(whole, writing=writes),
        "… no check": Ablations(check=False).answer_settings(writes),
    }


def ways(whole: Assistant) -> dict[str, Way]:
    """The rows of the table: those that settings tell apart, and two that they cannot."""
    library, model = whole.library, whole.model
    checked = (whole.reader, whole.verifier)
    of_settings = settings(whole.settings)
    alone = Ablations(rerank=False, check=False, free_writing=True)
    naive = replace(alone.answer_settings(whole.settings.writing), least_confidence=ANY_CONFIDENCE)
    return {
        **{
            name: Way(Assistant(library, model, *checked, each))
            for name, each in of_settings.items()
        },
        "whole abstracts": Way(
            Assistant(library, model, *checked, naive),
            patch("assistant.pipeline.assistant.choose_evidence", stuffed),
        ),
        "liar": Way(Assistant(library, Liar(), *checked, of_settings["model writes"])),
    }


def figures(way: Way, samples: Sequence[Sample]) -> dict[str, float]:
    """The row of a way."""
    with way.patched:
        scored = [scored_answer(way.assistant, sample) for sample in samples]
    given = [answer for answer, _ in scored if answer.outcome is Outcome.ANSWERED]
    kinds = [sentence.kind for answer in given for sentence in answer.sentences]
    return {
        **{column: mean_of(name, scored) for name, column in SCORED.items()},
        "verified": kinds.count(SentenceKind.VERIFIED),
        "quoted": kinds.count(SentenceKind.QUOTED),
        "unfounded": sum(unfounded(*each) for each in scored),
        "first s": round(statistics.median(each.timings.first_token for each in given), 2),
        "whole s": round(statistics.median(each.timings.total for each in given), 2),
    }


def scored_answer(assistant: Assistant, sample: Sample) -> Scored:
    """The answer to a question, with its scores by their names."""
    [question] = sample.questions
    answer = assistant.answer(question.text)
    ranking = tuple(passage.paper.id for passage in answer.passages)
    return answer, scores_of(AnsweredQuestion(sample.type, 0, question.expected, ranking, answer))


def mean_of(name: str, scored: Sequence[Scored]) -> float:
    """The mean of a score where there is one, to three places; 0 of nothing."""
    values = [scores[name].value for _, scores in scored if name in scores]
    found = [value for value in values if value is not None]
    return round(statistics.mean(found), 3) if found else 0.0


def unfounded(answer: Answer, scores: Mapping[str, Score]) -> int:
    """Sentences shown whose numbers or names do not stand in what they cite."""
    supported = scores["grounded"].value
    return 0 if supported is None else round((1 - supported) * len(answer.sentences))


def main() -> None:
    """Answer, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    whole = open_assistant(load_settings({"home": options.home} if options.home else {}), silent)
    papers = [stored.paper for stored in whole.library.store.papers()]
    asked = read_question_set(options.questions, papers).samples
    samples = [each for each in asked if each.type is SampleType.SINGLE][:: options.every]
    results = {}
    for name, way in ways(whole).items():
        results[name] = figures(way, samples)
        row = (f"{column} {value:.2f}" for column, value in results[name].items())
        print(f"{name:16}", *row, flush=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
