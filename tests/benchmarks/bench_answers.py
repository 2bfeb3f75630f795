"""Answers to questions with known facts: how many have them all, how long they are, how fast.

    python tests/benchmarks/bench_answers.py QUESTIONS.jsonl [--home DIR] [--type single]

Compares the whole path (model, check, quotations) with quoting the evidence alone. Prints a table,
then one JSON line. Results and dead ends are in answers.md.
"""

import argparse
import json
import statistics
from collections.abc import Generator
from pathlib import Path
from typing import Any

from assistant.engine import AnswerSettings, Assistant
from assistant.settings import load_settings
from assistant.startup import open_assistant
from assistant.types import Answer, Kind, Outcome
from retrieval.progress import silent

Sample = dict[str, Any]


def has_facts(sample: Sample, text: str) -> bool:
    """Whether every fact has one of its alternatives in `text`."""
    shown = text.casefold()
    return all(any(form.casefold() in shown for form in forms) for forms in sample["facts"])


def measure(answers: list[tuple[Sample, Answer]]) -> dict[str, float]:
    """Share with all facts, words, share answered, seconds, and kinds of sentences."""
    kinds = [sentence.kind for _, answer in answers for sentence in answer.sentences]
    return {
        "facts": statistics.mean(has_facts(sample, answer.text) for sample, answer in answers),
        "words": statistics.mean(len(answer.text.split()) for _, answer in answers),
        "answered": statistics.mean(answer.outcome is Outcome.ANSWERED for _, answer in answers),
        "verified": sum(kind is Kind.VERIFIED for kind in kinds),
        "quoted": sum(kind is Kind.QUOTED for kind in kinds),
        "first s": statistics.median(answer.timings.first_token for _, answer in answers),
        "total s": statistics.median(answer.timings.total for _, answer in answers),
    }


class Silent:
    """A model that writes nothing: the answer is the evidence."""

    name = "none"
    context = 4096

    def count(self, *_arguments: object) -> int:
        """Nothing is read."""
        return 0

    def write(self, *_arguments: object) -> Generator[str, None, None]:
        """Nothing is written."""
        yield from ()


def main() -> None:
    """Answer the questions both ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--type", default="single")
    options = parser.parse_args()
    samples = [json.loads(line) for line in options.questions.read_text("utf-8").splitlines()]
    samples = [sample for sample in samples if sample["type"] == options.type]
    whole = open_assistant(load_settings({"home": options.home} if options.home else {}), silent)
    ways = {
        "model, checked": whole,
        "evidence quoted": Assistant(whole.library, Silent()),
        "nothing refused": Assistant(
            whole.library, whole.model, AnswerSettings(least_similarity=-1.0)
        ),
    }
    results = {
        name: measure([(sample, way.answer(sample["question"])) for sample in samples])
        for name, way in ways.items()
    }
    for name, row in results.items():
        print(f"{name:16}", *(f"{key} {value:.2f}" for key, value in row.items()), sep="  ")
    print(json.dumps(results))


if __name__ == "__main__":
    main()
