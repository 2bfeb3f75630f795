"""What the reader is worth: questions answered with it, and with parts of it taken out.

    python tests/benchmarks/bench_reading.py NAME=QUESTIONS.jsonl[@HOME] …
        [--parts whole,ranking,evidence,none] [--types single,…] [--limit N] [--quote] [--out FILE]

Every file is asked of the library in HOME (default: that of the settings). `--parts` names what is
left of the reader: `whole`; `ranking` (only the order of papers is its own), `evidence` (only the
sentences are), `none`. What is taken out is replaced by what an untrained embedder says. Prints a
table a file, a row a part, then one JSON line. Results and dead ends are in reading.md.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from assistant.evaluation.asking import Runner
from assistant.evaluation.questions.question_set import read_question_set
from assistant.evaluation.types import Row, SampleType
from assistant.pipeline.assistant import Assistant
from assistant.pipeline.startup import (
    open_chat_model,
    open_library,
    open_reader,
    open_verifier,
    writing_mode,
)
from assistant.settings import NO_ABLATIONS, WritingMode, WritingSettings, load_settings
from retrieval.encoders.embedder import Embedder
from retrieval.search.reader import READ_ALONE, MessageRead, PaperRead, Reader, SentenceRead
from retrieval.text.splitting import split_sentences
from retrieval.types import Paper, silent

SHOWN = (
    "recall@1",
    "mrr@10",
    "facts",
    "fact recall",
    "words",
    "written",
    "written words",
    "written facts",
    "false abstention",
    "false answer",
    "follow-up",
    "evidence recall",
    "abstention",
    "r-precision",
    "citation precision",
)
PARTS = {
    "whole": (True, True, True),
    "ranking": (True, False, False),
    "evidence": (False, True, False),
    "none": (False, False, False),
}
"""Whether relevance, evidence and "answered" are the reader's own."""
LOGITS_OF_A_COSINE = 10.0
"""So that a cosine of 0.5 stands in the middle of "answered", and sentences differ as widely."""


class PartialReader:
    """The reader with parts of what it says replaced by cosines of the embedder."""

    def __init__(self, reader: Reader, embedder: Embedder, parts: tuple[bool, bool, bool]) -> None:
        self._reader, self._embedder = reader, embedder
        self._relevance, self._evidence, self._answered = parts

    def message(self, message: str, previous: str = "") -> MessageRead:
        """As the reader says: there is nothing untrained to put in its place."""
        return self._reader.message(message, previous)

    def shapes(self, message: str) -> dict[str, float]:
        """Likewise."""
        return self._reader.shapes(message)

    def read_alone(
        self,
        question: str,
        paper: Paper,
        read: PaperRead,
        stopped: Callable[[], bool],
        most: int = READ_ALONE,
    ) -> PaperRead:
        """Sentences read alone, if the evidence is the readers' own."""
        if not self._evidence:
            return read
        return self._reader.read_alone(question, paper, read, stopped, most)

    def answers_alone(self, question: str, sentence: str, title: str) -> float:
        """As the sentence reader says."""
        return self._reader.answers_alone(question, sentence, title)

    def read(
        self, question: str, papers: Sequence[Paper], stopped: Callable[[], bool]
    ) -> Iterator[PaperRead]:
        """What is left of the reader, and the embedder's cosines."""
        asked = self._embedder.embed(question)
        for paper, read in zip(papers, self._reader.read(question, papers, stopped), strict=True):
            plain = [
                SentenceRead(
                    each, LOGITS_OF_A_COSINE * float(self._embedder.embed(each.text) @ asked)
                )
                for each in split_sentences(paper.abstract)
            ]
            best = max((each.evidence for each in plain), default=0.0)
            yield replace(
                read,
                relevance=read.relevance if self._relevance else 0.0,
                answered=read.answered if self._answered else best - LOGITS_OF_A_COSINE / 2,
                sentences=read.sentences if self._evidence else tuple(plain),
            )


def mean_scores(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """By type of sample, the mean of every score."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        for reply in row.replies:
            for name, score in reply.scores.items():
                if score.value is not None and name in SHOWN:
                    found.setdefault(row.type.value, {}).setdefault(name, []).append(score.value)
    return {
        type_: {name: statistics.fmean(values) for name, values in scores.items()}
        for type_, scores in found.items()
    }


def main() -> None:
    """Ask, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="NAME=QUESTIONS.jsonl[@HOME]")
    parser.add_argument("--parts", default="whole")
    parser.add_argument("--types", default="")
    parser.add_argument("--limit", type=int, default=100_000)
    parser.add_argument("--quote", action="store_true", help="the chat model writes nothing")
    parser.add_argument("--out", type=Path, help="a file for the answers, one JSON a line")
    asked = parser.parse_args()
    settings = load_settings({})
    model, reader = open_chat_model(settings, silent), open_reader(settings, silent)
    verifier, mode = open_verifier(settings, silent), WritingMode.QUOTE
    if not asked.quote:
        mode = writing_mode(model, verifier, settings, silent)
    kept = {SampleType(each) for each in asked.types.split(",") if each} or set(SampleType)
    record: dict[str, object] = {}
    for file in asked.files:
        name, _, where = file.partition("=")
        path, _, home = where.partition("@")
        own = settings.model_copy(update={"home": Path(home)}) if home else settings
        library = open_library(own, silent)
        papers = [stored.paper for stored in library.store.papers()]
        samples = [s for s in read_question_set(Path(path), papers).samples if s.type in kept]
        for part in asked.parts.split(","):
            whole = part == "whole"
            reading = reader if whole else PartialReader(reader, library.embedder, PARTS[part])
            answers = NO_ABLATIONS.answer_settings(WritingSettings(mode=mode))
            asker = Runner(Assistant(library, model, reading, verifier, answers))
            rows = [asker.row(sample) for sample in samples[: asked.limit]]
            seconds = [reply.seconds for row in rows for reply in row.replies if reply.seconds]
            scores = mean_scores(rows)
            record[f"{name} {part}"] = scores
            print(f"\n{name}, {part}: {len(rows)} samples, {statistics.fmean(seconds):.2f} s")
            for type_, of in scores.items():
                shown = "  ".join(f"{key} {of[key]:.3f}" for key in SHOWN if key in of)
                print(f"  {type_:13} {shown}", flush=True)
            if asked.out:
                _write(asked.out, name, part, rows)
    print(json.dumps(record))


def _write(out: Path, name: str, part: str, rows: Sequence[Row]) -> None:
    """Every reply, to look at."""
    with out.open("a", encoding="utf-8") as file:
        for row in rows:
            for turn, reply in enumerate(row.replies):
                scores = {key: score.value for key, score in reply.scores.items()}
                line = {
                    "set": name,
                    "part": part,
                    "id": row.id,
                    "turn": turn,
                    "type": row.type.value,
                    "failed": row.failed,
                    "question": reply.question,
                    "answer": reply.answer,
                    "scores": scores,
                    "expected": list(reply.expected.papers or ()),
                }
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
