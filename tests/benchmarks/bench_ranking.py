"""Ranking side by side: BM25, dense, RRF, the convex sum, with reading, and with likelihoods too.

    python tests/benchmarks/bench_ranking.py QUESTIONS.jsonl [--home DIR]
        [--beir FOLDER --beir-home DIR] [--limit N] [--no-rerank]

The library in --home holds the seeds, the one in --beir-home the corpus of the BEIR folder
(`assistant ingest FOLDER --home DIR`). Prints a table for each, then one JSON line. Results and
dead ends are in ranking.md and reading.md.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.evaluation.questions.question_set import read_question_set
from assistant.evaluation.types import SampleType
from assistant.pipeline.evidence import ChatLikelihood
from assistant.pipeline.startup import open_chat_model, open_library, open_reader
from assistant.settings import load_settings
from retrieval.library.library import Library
from retrieval.search.metrics import ndcg, recall, reciprocal_rank
from retrieval.search.reader import Reader
from retrieval.search.rerank import (
    QuestionLikelihood,
    RerankSettings,
    by_likelihood,
    read_papers,
    reranked,
)
from retrieval.search.search import search
from retrieval.types import Passage, Retriever, SearchSettings, silent

Ranker = Callable[[str], list[Passage]]
SHOWN = 10
FIRST_STAGES = {
    "BM25": SearchSettings(retriever=Retriever.BM25),
    "dense": SearchSettings(retriever=Retriever.DENSE),
    "RRF": SearchSettings(retriever=Retriever.RRF),
    "convex 0.4": SearchSettings(dense_weight=0.4),
    f"convex {SearchSettings().dense_weight} (default)": SearchSettings(),
    "convex 0.7": SearchSettings(dense_weight=0.7),
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with the gain of each relevant paper."""

    type: SampleType
    question: str
    gains: Mapping[str, float]


def rankers(
    library: Library, reader: Reader | None, likelihood: QuestionLikelihood | None
) -> dict[str, Ranker]:
    """The ways of ranking to compare, those with models only where there are these."""

    def found(settings: SearchSettings) -> Ranker:
        return lambda query: search(library, query, SHOWN, settings)

    def with_reading(query: str) -> list[Passage]:
        passages = search(library, query, max(SHOWN, RerankSettings().depth))
        return reranked(passages, read_papers(query, passages, reader, lambda: False))

    def with_likelihood(query: str) -> list[Passage]:
        passages = search(library, query, max(SHOWN, RerankSettings().depth))
        read = read_papers(query, passages, reader, lambda: False)
        return reranked(passages, by_likelihood(query, read, likelihood, lambda: False))

    ways = {name: found(settings) for name, settings in FIRST_STAGES.items()}
    if reader:
        ways["+ reader (search)"] = with_reading
    if reader and likelihood:
        ways["+ likelihood (answers)"] = with_likelihood
    return ways


def measure(ranker: Ranker, samples: Sequence[Sample]) -> dict[str, float]:
    """The measures of the types of question there are, and what a question takes."""
    rankings, seconds = [], []
    for sample in samples:
        started = time.perf_counter()
        rankings.append([each.paper.id for each in ranker(sample.question)[:SHOWN]])
        seconds.append(time.perf_counter() - started)
    of_type = {
        type_: [
            (ranking, sample.gains)
            for ranking, sample in zip(rankings, samples, strict=True)
            if sample.type == type_
        ]
        for type_ in SampleType
    }
    row: dict[str, float] = {}
    if singles := of_type[SampleType.SINGLE]:
        row["R@1"] = statistics.mean(recall(ranking, gains, 1) for ranking, gains in singles)
        row["R@5"] = statistics.mean(recall(ranking, gains, 5) for ranking, gains in singles)
        row["MRR@10"] = statistics.mean(reciprocal_rank(r, gains, 10) for r, gains in singles)
    if multis := of_type[SampleType.MULTI]:
        row["multi R@10"] = statistics.mean(recall(ranking, gains, 10) for ranking, gains in multis)
    if beir := of_type[SampleType.RETRIEVAL]:
        row["nDCG@10"] = statistics.mean(ndcg(ranking, gains, 10) for ranking, gains in beir)
    times = {"p50": statistics.median(seconds), "mean": statistics.mean(seconds)}
    times["max"] = max(seconds)
    return row | {f"{name} ms": 1000 * value for name, value in times.items()}


def read_samples(path: Path, library: Library) -> list[Sample]:
    """The questions of a file that papers answer, or the judged queries of a BEIR folder."""
    papers = (stored.paper for stored in library.store.papers())
    return [
        Sample(sample.type, question.text, question.expected.papers or {})
        for sample in read_question_set(path, papers).samples
        for question in sample.questions
        if sample.type in {SampleType.SINGLE, SampleType.MULTI, SampleType.RETRIEVAL}
    ]


def compare(samples: Sequence[Sample], ways: Mapping[str, Ranker]) -> dict[str, dict[str, float]]:
    """Measure every ranker and print its row."""
    results = {}
    for name, ranker in ways.items():
        results[name] = measure(ranker, samples)
        row = (f"{metric} {value:8.3f}" for metric, value in results[name].items())
        print(f"{name:24}", *row, sep="  ", flush=True)
    return results


def main() -> None:
    """Compare on the questions, and on the BEIR folder if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--beir", type=Path, metavar="FOLDER")
    parser.add_argument("--beir-home", type=Path, metavar="DIR")
    parser.add_argument("--limit", type=int, help="questions of each at most")
    parser.add_argument("--no-rerank", action="store_true", help="first-stage ranking only")
    options = parser.parse_args()
    settings = load_settings({"home": options.home} if options.home else {})
    reader = likelihood = None
    if not options.no_rerank:
        reader = open_reader(settings, silent)
        likelihood = ChatLikelihood(open_chat_model(settings, silent))
    library = open_library(settings, silent)
    library.ready_to_search()
    samples = read_samples(options.questions, library)[: options.limit]
    results = {"questions": compare(samples, rankers(library, reader, likelihood))}
    if options.beir:
        library = open_library(load_settings({"home": options.beir_home}), silent)
        library.ready_to_search()
        samples = read_samples(options.beir, library)[: options.limit]
        results["beir"] = compare(samples, rankers(library, reader, None))
    print(json.dumps(results))


if __name__ == "__main__":
    main()
