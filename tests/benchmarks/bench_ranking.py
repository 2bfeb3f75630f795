"""Ranking on questions with known papers: BM25, dense, RRF and the convex sum, side by side.

    python tests/benchmarks/bench_ranking.py QUESTIONS.jsonl [--home DIR]

The library must hold the seeds. Prints a table, then one JSON line. Results and dead ends are in
ranking.md.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from assistant.settings import load_settings
from assistant.startup import open_library
from retrieval.library import Library
from retrieval.merge import letters
from retrieval.progress import silent
from retrieval.search import SearchSettings, search

Ranker = Callable[[str], list[str]]
RRF_CONSTANT = 60
DEPTH = 100


def rankers(library: Library) -> dict[str, Ranker]:
    """The ways of ranking to compare; each gives paper ids, best first."""

    def bm25(query: str) -> list[str]:
        return [id_ for id_, _ in library.lexical.search(query, DEPTH)]

    def dense(query: str) -> list[str]:
        hits = library.store.nearest(library.embedder.embed(query), 3 * DEPTH)
        return list(dict.fromkeys(hit.paper_id for hit in hits))[:DEPTH]

    def rrf(query: str) -> list[str]:
        scores: dict[str, float] = {}
        for ranking in (bm25(query), dense(query)):
            for rank, id_ in enumerate(ranking, start=1):
                scores[id_] = scores.get(id_, 0.0) + 1 / (RRF_CONSTANT + rank)
        return sorted(scores, key=lambda id_: (-scores[id_], id_))

    def convex(weight: float) -> Ranker:
        settings = SearchSettings(dense_weight=weight)
        return lambda query: [p.paper.id for p in search(library, query, 10, settings)]

    weights = (0.4, 0.5, 0.6, 0.7)
    return {"bm25": bm25, "dense": dense, "rrf": rrf} | {
        f"convex {weight}": convex(weight) for weight in weights
    }


def measure(ranker: Ranker, questions: Sequence[tuple[str, str, set[str]]]) -> dict[str, float]:
    """R@1, R@5 and MRR@10 on single-paper questions, recall@10 on the others, median seconds."""
    reciprocal, recall, seconds = [], [], []
    for type_, question, relevant in questions:
        started = time.perf_counter()
        ranking = ranker(question)[:10]
        seconds.append(time.perf_counter() - started)
        if type_ == "single":
            found = [rank for rank, id_ in enumerate(ranking, start=1) if id_ in relevant]
            reciprocal.append(1 / found[0] if found else 0.0)
        else:
            recall.append(len(relevant & set(ranking)) / len(relevant))
    return {
        "R@1": sum(value == 1 for value in reciprocal) / len(reciprocal),
        "R@5": sum(value >= 1 / 5 for value in reciprocal) / len(reciprocal),
        "MRR@10": statistics.mean(reciprocal),
        "multi R@10": statistics.mean(recall),
        "p50 ms": 1000 * statistics.median(seconds),
    }


def read_questions(path: Path, library: Library) -> list[tuple[str, str, set[str]]]:
    """Type, question and ids of the relevant papers, found by title or first words."""
    ids: dict[str, str] = {}
    for stored in library.store.papers():
        ids[letters(stored.paper.title or stored.paper.abstract[:80])] = stored.paper.id
    questions = []
    for line in path.read_text("utf-8").splitlines():
        sample = json.loads(line)
        if sample["type"] in ("single", "multi"):
            relevant = {ids[letters(name)] for name in sample["papers"]}
            questions.append((sample["type"], sample["question"], relevant))
    return questions


def main() -> None:
    """Measure every ranker and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--home", type=Path)
    options = parser.parse_args()
    library = open_library(load_settings({"home": options.home} if options.home else {}), silent)
    library.ready_to_search()
    questions = read_questions(options.questions, library)
    results = {name: measure(ranker, questions) for name, ranker in rankers(library).items()}
    for name, row in results.items():
        print(f"{name:12}", *(f"{metric} {value:6.3f}" for metric, value in row.items()), sep="  ")
    print(json.dumps(results))


if __name__ == "__main__":
    main()
