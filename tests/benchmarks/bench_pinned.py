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
    """Pin the questions, plant the papers one by one, and print who was told."""
    report: Progress = _silent
    assistant = open_assistant(Settings(home=Path(home)), report)
    lines = (HERE / "pinned_questions.jsonl").read_text("utf-8").splitlines()
    expected = {each["question"]: each["planted"] for each in map(json.loads, lines)}
    right = 0
    planted = (HERE / "planted_papers.jsonl").read_text("utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        pins = Pins(Database(f"sqlite:///{folder}/pins.sqlite"))
        for question in expected:
            pin_question(pins, "bench", question)
        list(ask_due(pins, assistant))
        for line in planted:
            name = json.loads(line)["id"].removeprefix("planted-")
            file = Path(folder) / f"{name}.jsonl"
            file.write_text(line, "utf-8")
            ingest(assistant.library, [file])
            told = {pin.question: change for pin, change in ask_due(pins, assistant) if change}
            concerned = {question for question, names in expected.items() if name in names}
            for question in told.keys() - concerned:
                print(f"{name}: told in vain: {question}", *told[question].lines, sep="\n    ")
            for question in concerned - told.keys():
                print(f"{name}: not told: {question}")
            right += sum((question in told) == (question in concerned) for question in expected)
            print(f"{name}: {len(told)} told", flush=True)
    print(f"{right} of {len(expected) * len(planted)} right")


if __name__ == "__main__":
    main(*sys.argv[1:])
