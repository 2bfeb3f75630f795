"""Receipts: how many of 100 answers replay to the same bytes, and what a receipt costs.

Results: tests/benchmarks/receipts.md. Run with the library of the seeds:

    python tests/benchmarks/bench_receipts.py --home DIR [--questions FILE] [--count 100]

The questions are spread over the file; conversations count with each of their turns. All are asked
in one process, then replayed there in the opposite order.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from assistant.evaluation.questions.lines import read_questions
from assistant.pipeline.startup import open_assistant
from assistant.research.receipt import change_since, provenance_json, receipt_of
from assistant.settings import load_settings
from assistant.types import Turn
from retrieval.types import silent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--questions", type=Path, default=Path("tests/evaluation/dev.jsonl"))
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    settings = load_settings({"home": options.home})
    assistant = open_assistant(settings, silent)
    asked = read_questions(options.questions)
    spread = [asked[at * len(asked) // options.count] for at in range(options.count)]
    receipts, answering, writing = [], [], []
    for conversation in spread:
        history: list[Turn] = []
        for question in conversation.questions:
            answer = assistant.answer(question, history)
            begun = time.perf_counter()
            receipts.append(receipt_of(answer, history, provenance_json(assistant, settings)))
            writing.append(time.perf_counter() - begun)
            answering.append(answer.timings.total)
            history.append(Turn(question, answer))
        print(len(receipts), round(answering[-1], 2), round(writing[-1] * 1000, 1), flush=True)
    changes = []
    for at, receipt in enumerate(reversed(receipts), start=1):
        if change := change_since(receipt, assistant, settings):
            changes.append([receipt["question"], change])
            print(receipt["question"], change, flush=True)
        print(f"replayed {at}", flush=True)
    figures = {
        "receipts": len(receipts),
        "conversations": sum(len(each.questions) > 1 for each in spread),
        "same": len(receipts) - len(changes),
        "answer_ms": round(1000 * statistics.median(answering)),
        "first_receipt_ms": round(1000 * writing[0]),
        "receipt_ms": round(1000 * statistics.median(writing[1:]), 1),
        "share": round(statistics.median(writing[1:]) / statistics.median(answering), 4),
        "bytes": round(statistics.median(len(json.dumps(each)) for each in receipts)),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
