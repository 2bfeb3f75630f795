"""What the check of a model's sentences lets through: true ones, and true ones with one change.

    python tests/benchmarks/bench_checking.py QUESTIONS.jsonl [--half tune|report]

True sentences are (a) verbatim from the seeds' abstracts, (b) shortened by rule, (c) the answers
people wrote to questions about one paper, with the sentences they took them from, and (d) their
answers about several papers. Each is changed in every way that mutations.py knows. Half of the
papers and questions are for choosing rules and thresholds, the other half for the report. Prints a
table, then one JSON line. Results and dead ends are in checking.md.
"""

import argparse
import json
import random
import statistics
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mutations import Pair, compressed, mutations, names_in

from assistant.generation.verification.support import Verifier
from assistant.pipeline.startup import open_verifier
from assistant.settings import Settings, resource_folder
from retrieval.formats import files_of, read_file
from retrieval.formats.merge import fold
from retrieval.text.splitting import split_sentences
from retrieval.types import silent

HALVES = ("tune", "report")
VERBATIM = 240
"""Sentences of abstracts in each half."""
GROUPS = ("verbatim", "shortened", "answer", "answer of several")


def half_of(name: str) -> str:
    """The half that a paper or question belongs to; the same in every run."""
    return HALVES[zlib.crc32(name.encode()) % 2]


def abstracts() -> list[list[str]]:
    """The sentences of every abstract of the seeds."""
    records = [
        record
        for file in files_of([resource_folder("seeds")])
        for record in read_file(file).records
    ]
    return [
        [sentence.text for sentence in split_sentences(record.abstract)] for record in fold(records)
    ]


def from_abstracts(papers: Sequence[Sequence[str]], half: str) -> Iterator[Pair]:
    """Sentences of abstracts and what they are shortened to, each with a sentence beside it."""
    mine = [paper for paper in papers if len(paper) > 2 and half_of(paper[0]) == half]
    for number, paper in enumerate(random.Random(half).sample(mine, VERBATIM)):  # noqa: S311
        at = random.Random(f"{half}{number}").randrange(1, len(paper))  # noqa: S311
        cited = (paper[at],) if number % 2 else (paper[at - 1], paper[at])
        yield Pair(paper[at], cited, "verbatim")
        short = compressed(paper[at])
        if short:
            yield Pair(short, cited, "shortened")


def from_questions(path: Path, half: str) -> Iterator[Pair]:
    """What people answered, with the sentences they took it from."""
    for line in path.read_text("utf-8").splitlines():
        sample: dict[str, Any] = json.loads(line)
        if sample["type"] not in ("single", "multi", "chat") or half_of(sample["id"]) != half:
            continue
        kind = "answer of several" if sample["type"] == "multi" else "answer"
        for turn in sample.get("turns", [sample]):
            if turn["evidence"]:
                yield Pair(turn["answer"], tuple(turn["evidence"]), kind)


def elsewhere(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """True sentences with what another paper says, or with another sentence of their own."""
    for pair, other in zip(pairs, [*pairs[7:], *pairs[:7]], strict=True):
        if not set(pair.evidence) & set(other.evidence):
            yield Pair(pair.sentence, other.evidence, "another paper's evidence")
        if len(pair.evidence) == 2 and pair.kind == "verbatim":
            yield Pair(pair.sentence, pair.evidence[:1], "the sentence before as evidence")


def changed(pairs: Sequence[Pair], names: Sequence[str]) -> Iterator[tuple[Pair, Pair]]:
    """Every pair with each of its mutations."""
    for pair in pairs:
        for kind, sentence in mutations(pair.sentence, pair.sentence, names):
            yield pair, Pair(sentence, pair.evidence, kind)


def supported(verifier: Verifier, pair: Pair) -> bool:
    """Whether one of its sentences supports what a pair says."""
    return any(verifier.supports(pair.sentence, text) for text in pair.evidence)


def main() -> None:
    """Check everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--half", choices=HALVES, default="report")
    parser.add_argument("--show", default="", help="print what is wrong in a group or kind")
    options = parser.parse_args()
    papers = abstracts()
    names = sorted({name for paper in papers for text in paper for name in names_in(text)})
    true = [
        *from_abstracts(papers, options.half),
        *from_questions(options.questions, options.half),
    ]
    verifier = open_verifier(Settings(), silent)
    started = time.perf_counter()
    held = {pair: supported(verifier, pair) for pair in true}
    each = (time.perf_counter() - started) / len(true)
    kept: dict[str, list[bool]] = defaultdict(list)
    caught: dict[str, list[bool]] = defaultdict(list)
    of_kept: dict[str, list[bool]] = defaultdict(list)
    for pair, holds in held.items():
        kept[pair.kind].append(holds)
        _show(options.show == pair.kind and not holds, pair)
    false = [(pair, mutant) for pair, mutant in changed(true, names)]
    false += [(pair, pair) for pair in elsewhere(true)]
    for source, mutant in false:
        holds = supported(verifier, mutant)
        for key in (mutant.kind, "all", f"all of {source.kind}"):
            caught[key].append(not holds)
            if held.get(source):
                of_kept[key].append(not holds)
        _show(options.show == mutant.kind and holds, mutant, source)
    print(f"half: {options.half}; {1000 * each:.1f} ms a check")
    for kind, values in kept.items():
        print(f"kept    {kind:32} {statistics.mean(values):.3f}  of {len(values)}")
    for kind, values in caught.items():
        print(f"caught  {kind:32} {statistics.mean(values):.3f}  of {len(values):5}", end="")
        print(
            f"  {statistics.mean(of_kept[kind] or [True]):.3f}  of {len(of_kept[kind]):5} of kept"
        )
    print(
        json.dumps(
            {
                "half": options.half,
                "kept": {kind: round(statistics.mean(each), 4) for kind, each in kept.items()},
                "caught": {kind: round(statistics.mean(each), 4) for kind, each in caught.items()},
            }
        )
    )


def _show(wanted: bool, pair: Pair, source: Pair | None = None) -> None:
    if wanted:
        print(f"[{pair.kind}] {pair.sentence}")
        if source and source.sentence != pair.sentence:
            print(f"    was: {source.sentence}")
        for text in pair.evidence:
            print(f"    cites: {text}")


if __name__ == "__main__":
    main()
