"""The chat model on llama.cpp's server: equal answers, and answers per minute of many people.

    python tests/benchmarks/bench_model_server.py MODEL.gguf QUESTIONS.jsonl --home DIR
        [--equal 30] [--people 1 4 16] [--each 2] [--slots 4] [--whole]

Starts the server (package xllamacpp) with the writer's adapter. First each question is asked with
the model in this process and over the server, and the answers are compared. Then people ask at
once, with as many questions at a time as the server has slots, and with one at a time. `--whole`
has the model write whole answers, as better models do. Results are in serving.md.
"""

import argparse
import itertools
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench_serving import ask_at_once, percentiles, print_table
from llama_server import llama_server

from assistant.models.gguf.trained import ADAPTER
from assistant.pipeline.startup import open_assistant
from assistant.server.service import Service
from assistant.settings import (
    AnswerSettings,
    WritingMode,
    WritingSettings,
    load_settings,
)
from assistant.types import answer_json, dumps
from retrieval.types import silent

APART = ("timings", "passages")
"""Fields that are compared apart: times differ, and likelihoods in their last digits."""


def answers(questions: Sequence[str], **settings: Any) -> tuple[list[dict[str, Any]], float]:
    """The answers, one question after another, and seconds an answer."""
    assistant = open_assistant(load_settings(settings), silent)
    begun = time.perf_counter()
    found = [answer_json(assistant.answer(question), None, 0) for question in questions]
    return found, (time.perf_counter() - begun) / len(questions)


def measure_equality(questions: Sequence[str], model: Path, url: str, home: Path) -> dict[str, Any]:
    """How many answers are the same with the model in this process and over the server."""
    here, seconds = answers(questions, home=home, model=str(model), threads=1)
    there, seconds_there = answers(questions, home=home, model_url=url, threads=1)
    pairs = list(zip(here, there, strict=True))
    same = [
        all(one[name] == other[name] for name in one if name not in APART) for one, other in pairs
    ]
    ranked = [
        [each["paper_id"] for each in one["passages"]]
        == [each["paper_id"] for each in other["passages"]]
        for one, other in pairs
    ]
    scores = [
        abs(a["score"] - b["score"])
        for one, other in pairs
        for a, b in zip(one["passages"], other["passages"], strict=True)
        if a["paper_id"] == b["paper_id"]
    ]
    for question, is_same in zip(questions, same, strict=True):
        if not is_same:
            print("differs:", question, flush=True)
    return {
        "asked": len(pairs),
        "equal byte for byte but for scores and times": sum(same),
        "papers in the same order": sum(ranked),
        "largest difference of a score": max(scores, default=0.0),
        "s an answer here, over the server": [round(seconds, 2), round(seconds_there, 2)],
    }


def measure_people(
    questions: Sequence[str],
    url: str,
    home: Path,
    people: int,
    *,
    each: int,
    slots: int,
    whole: bool,
) -> dict[str, Any]:
    """Answers per minute of so many people, each asking one question after another."""
    settings = load_settings({"home": home, "model_url": url, "slots": slots, "threads": 1})
    service = Service(settings)
    service.setup.start()
    while service.setup.state.assistant is None:
        if service.setup.state.error:
            raise SystemExit(service.setup.state.error)
        time.sleep(0.1)
    if whole:
        mode = WritingSettings(mode=WritingMode.FREE)
        service.assistant.settings = AnswerSettings(writing=mode)
    endless = itertools.cycle(questions)
    asked = ask_at_once(service, [[next(endless) for _ in range(each)] for _ in range(people)])
    wall = max(one.ended for one in asked) - min(one.came for one in asked)
    service.close()
    return {
        "answers a minute": round(60 * len(asked) / wall, 1),
        "wait and answer s": percentiles([one.ended - one.came for one in asked]),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--equal", type=int, default=30)
    parser.add_argument("--people", type=int, nargs="*", default=[1, 4, 16])
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--whole", action="store_true")
    given = parser.parse_args()
    lines = map(json.loads, given.questions.read_text("utf-8").splitlines())
    every = [line["question"] for line in lines if "question" in line]
    figures: dict[str, Any] = {}
    with llama_server(
        given.model, lora=ADAPTER, slots=given.slots, context=4096, threads=2
    ) as server:
        if given.equal:
            some = every[:: max(1, len(every) // given.equal)][: given.equal]
            figures |= measure_equality(some, given.model, server.url, given.home)
            print_table(figures)
        for people in given.people:
            some = every[: 100 : max(1, 100 // (people * given.each))]
            for slots in (1, given.slots):
                found = measure_people(
                    some,
                    server.url,
                    given.home,
                    people,
                    each=given.each,
                    slots=slots,
                    whole=given.whole,
                )
                name = f"{people} people, {slots} at a time"
                print_table({name: found})
                figures[name] = found
    print(dumps(figures))


if __name__ == "__main__":
    main()
