"""Answers to questions with known facts: the whole table, and what each part of the path adds.

    python tests/benchmarks/bench_answers.py QUESTIONS.jsonl [--home DIR] [--every N] [--ablations]

Every question is answered by the whole path with the models of the settings; conversations are
really held. With `--ablations` the questions about one paper are answered with parts left out, too.
`--every N` takes every Nth question of each kind. Prints the tables, then one JSON line. Results
and dead ends are in answers.md.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench_conversation import held, names, read

from assistant.checking import is_supported
from assistant.citing import Draft
from assistant.engine import Assistant
from assistant.settings import load_settings
from assistant.startup import open_assistant
from assistant.types import Answer, Evidence, Kind, Outcome
from retrieval.progress import silent
from retrieval.types import Passage

Sample = dict[str, Any]
Answered = list[tuple[Sample, Answer]]

LIES = (
    "The method is 97.31 times faster than GPT-9 on every benchmark [{key}].",
    "It does not work at all, as the authors admit [{key}].",
    "This was proved by Ada Lovelace in Vienna in 1843 [{key}].",
    "The notes are wrong and the opposite of each of them holds [{key}].",
)


class Liar:
    """A stand-in model that writes lies with keys that exist."""

    name = "liar"
    context = 4096
    gives_likelihoods = False

    def count(self, messages: Sequence[Mapping[str, str]]) -> int:
        """Words."""
        return sum(len(message["content"].split()) for message in messages)

    def write(self, messages: Sequence[Mapping[str, str]], *_arguments: object) -> Iterator[str]:
        """Every lie, each with the first key of the prompt."""
        notes = messages[-1]["content"].splitlines()
        key = next(line[1:].split("]")[0] for line in notes if line.startswith("["))
        for lie in LIES:
            yield f"{lie.format(key=key)} "


def facts_in(sample: Sample, text: str) -> list[bool]:
    """Of each fact whether one of its alternatives stands in `text`."""
    shown = text.casefold()
    return [any(form.casefold() in shown for form in forms) for forms in sample["facts"]]


def is_right(sample: Sample, paper: Any) -> bool:
    """Whether `paper` is one of those that answer."""
    return not names(paper).isdisjoint(sample["papers"])


def unfounded(answer: Answer) -> int:
    """Sentences shown that are neither verified by what they cite nor verbatim from it."""
    quote_of = {citation.number: citation.quote for citation in answer.citations}
    records = answer.tokens.completion == 0 and answer.timings.rerank == 0

    def holds(text: str, kind: Kind, numbers: Sequence[int]) -> bool:
        quotes = [quote_of[number] for number in numbers]
        if kind is Kind.QUOTED:
            return quotes == [text]
        return is_supported(text, quotes) or records

    return sum(not holds(each.text, each.kind, each.citations) for each in answer.sentences)


def verbatim(answer: Answer) -> list[bool]:
    """Of each citation whether its quote is an exact substring of the abstract."""
    return [citation.quote in citation.paper.abstract for citation in answer.citations]


def mean(values: Sequence[float]) -> float:
    """The mean, to three places; 0 of nothing."""
    return round(statistics.mean(values), 3) if values else 0.0


def of_singles(answered: Answered) -> dict[str, float]:
    """Figures of questions that one paper answers."""
    given = [(sample, each) for sample, each in answered if each.outcome is Outcome.ANSWERED]
    right = [[is_right(sample, cited.paper) for cited in each.citations] for sample, each in given]
    return {
        "all facts": mean([all(facts_in(sample, each.text)) for sample, each in answered]),
        "words": mean([len(each.text.split()) for _, each in answered]),
        "refused": mean([each.outcome is not Outcome.ANSWERED for _, each in answered]),
        "right citations": mean([cited for row in right for cited in row]),
        "a right paper cited": mean([any(row) for row in right]),
        "verified": sum(s.kind is Kind.VERIFIED for _, each in given for s in each.sentences),
        "quoted": sum(s.kind is Kind.QUOTED for _, each in given for s in each.sentences),
        "unfounded": sum(unfounded(each) for _, each in given),
        "first s": round(statistics.median(each.timings.first_token for _, each in given), 2),
        "whole s": round(statistics.median(each.timings.total for _, each in given), 2),
    }


def of_all(assistant: Assistant, samples: Mapping[str, list[Sample]]) -> dict[str, float]:
    """The whole table."""
    answered = {
        kind: [(sample, assistant.answer(sample["question"])) for sample in samples[kind]]
        for kind in ("single", "multi", "unanswerable")
    }
    turns = [each for sample in samples["chat"] for each in held(assistant, sample)]
    follow_ups = [each for each in turns if each.kind != "opens" and each.turn["papers"]]
    everything = [each for rows in answered.values() for _, each in rows]
    everything += [each.answer for each in turns]
    return of_singles(answered["single"]) | {
        "multi: facts": mean(
            [mean(facts_in(sample, each.text)) for sample, each in answered["multi"]]
        ),
        "multi: words": mean([len(each.text.split()) for _, each in answered["multi"]]),
        "unanswerable refused": mean(
            [each.outcome is not Outcome.ANSWERED for _, each in answered["unanswerable"]]
        ),
        "follow-ups right": mean([each.is_right for each in follow_ups]),
        "follow-ups citing": mean(
            [
                any(is_right(each.turn, c.paper) for c in each.answer.citations)
                for each in follow_ups
            ]
        ),
        "unfounded of all": sum(map(unfounded, everything)),
        "verbatim quotes": mean([each for answer in everything for each in verbatim(answer)]),
    }


def cites_itself(draft: Draft, _evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """In place of the check: what is written holds."""
    return draft.notes or (1,)


def stuffed(_question: str, passages: Sequence[Passage], *_others: object, **_: bool) -> list[Any]:
    """In place of chosen sentences: three whole abstracts."""
    papers = [passage.paper for passage in passages[:3]]
    return [Evidence(each, 0, len(each.abstract), each.abstract, 1.0) for each in papers]


def ways(whole: Assistant) -> dict[str, tuple[Assistant, list[Any]]]:
    """The path with parts left out, and what has to be patched for it."""
    writing = replace(whole.settings, writing=replace(whole.settings.writing, asks=True))
    unranked = patch.object(type(whole.model), "gives_likelihoods", new=False)
    unchecked = patch("assistant.writing._supporting", cites_itself)
    free = patch("assistant.writing.answer_grammar", lambda *_arguments: "")
    writer = Assistant(whole.library, whole.model, writing)
    sure = Assistant(whole.library, whole.model, replace(whole.settings, least_confidence=-9.0))
    quiet = replace(whole.settings, writing=replace(whole.settings.writing, asks=False))
    return {
        "whole": (whole, []),
        "evidence quoted": (Assistant(whole.library, whole.model, quiet), []),
        "nothing refused": (sure, []),
        "no rerank": (whole, [unranked]),
        "model writes": (writer, []),
        "… no grammar": (writer, [free]),
        "… no check": (writer, [unchecked]),
        "… free": (writer, [free, unchecked]),
        "three abstracts": (
            Assistant(whole.library, whole.model, replace(writing, least_confidence=-9.0)),
            [unranked, free, unchecked, patch("assistant.engine.choose_evidence", stuffed)],
        ),
        "liar": (Assistant(whole.library, Liar(), writing), []),
    }


def ablations(whole: Assistant, samples: list[Sample]) -> dict[str, dict[str, float]]:
    """Figures of single questions with parts left out."""
    results = {}
    for name, (assistant, patches) in ways(whole).items():
        with ExitStack() as stack:
            for each in patches:
                stack.enter_context(each)
            answered = [(sample, assistant.answer(sample["question"])) for sample in samples]
        results[name] = of_singles(answered)
        print(f"{name:16}", *(f"{key} {value:.2f}" for key, value in results[name].items()))
    return results


def taken(path: Path, every: int) -> Callable[[str], list[Sample]]:
    """Every Nth question of a kind."""
    samples = read(path)
    return lambda kind: [sample for sample in samples if sample["type"] == kind][::every]


def main() -> None:
    """Answer, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--ablations", action="store_true")
    options = parser.parse_args()
    whole = open_assistant(load_settings({"home": options.home} if options.home else {}), silent)
    of_kind = taken(options.questions, options.every)
    results: dict[str, Any] = {}
    if options.ablations:
        results["ablations"] = ablations(whole, of_kind("single"))
    else:
        kinds = ("single", "multi", "unanswerable", "chat")
        results["whole"] = of_all(whole, {kind: of_kind(kind) for kind in kinds})
        for name, value in results["whole"].items():
            print(f"{name:24}{value:8.3f}")
    print(json.dumps(results))


if __name__ == "__main__":
    main()
