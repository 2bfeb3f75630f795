"""Whether a planted abstract triggers exactly the pinned questions that it concerns; see tables.md.

python tests/benchmarks/bench_pinned.py HOME

HOME is a copy of a library of the seeds; papers are added to it.
"""

import json
import sys
import tempfile
from pathlib import Path

from assistant.pipeline.startup import open_assistant
from assistant.research.pinned import ask_due, pin_question
from assistant.research.pinned_store import Pins
from assistant.settings import Settings
from assistant.storage.database import Database
from retrieval.library.ingest import ingest
from retrieval.types import Progress

HERE = Path(__file__).parent


def _silent(*_progress: object) -> None:
    pass


def main(home: str) -> None:
    """Pin the questions, plant the papers, and print who was told in vain, or not told."""
    report: Progress = _silent
    assistant = open_assistant(Settings(home=Path(home)), report)
    lines = (HERE / "pinned_questions.jsonl").read_text("utf-8").splitlines()
    expected = {each["question"]: each["planted"] for each in map(json.loads, lines)}
    planted = HERE / "planted_papers.jsonl"
    titles = {
        each["id"].removeprefix("planted-"): each["title"]
        for each in map(json.loads, planted.read_text("utf-8").splitlines())
    }
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        pins = Pins(Database(f"sqlite:///{folder}/pins.sqlite"))
        for question in expected:
            pin_question(pins, "bench", question)
        list(ask_due(pins, assistant))
        ingest(assistant.library, [planted])
        for pin, change in ask_due(pins, assistant):
            added = set(change.papers_added) & set(titles.values()) if change else set()
            is_right = added == {titles[name] for name in expected[pin.question]}
            is_right = is_right and bool(change) == bool(expected[pin.question])
            right += is_right
            print("right" if is_right else "WRONG", pin.question, flush=True)
            print(*(f"    {line}" for line in (change.lines if change else [])), sep="\n")
    print(f"{right} of {len(expected)} right")


if __name__ == "__main__":
    main(*sys.argv[1:])
