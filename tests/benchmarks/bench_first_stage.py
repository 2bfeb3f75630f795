"""Which first stage: words or pieces of them, stop words, titles, which vectors, which weight.

    python tests/benchmarks/bench_first_stage.py QUESTIONS.jsonl --beir FOLDER --beir-home DIR
        [--home DIR]

Every combination is measured on the questions about one paper (MRR@10) and on the BEIR folder
(nDCG@10); then five-fold cross-validation chooses one on four fifths of both and measures it on
the rest. All papers are scored exactly, with a readable BM25, so that nothing but the combination
differs. Prints a table, then one JSON line. Results and dead ends are in ranking.md.
"""

import argparse
import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tantivy
from bench_ranking import Sample, read_samples
from numpy.typing import NDArray

from assistant.evaluation.types import SampleType
from assistant.pipeline.startup import open_library
from assistant.settings import load_settings
from retrieval.index.lexical_fields import pieces, text_analyzer
from retrieval.library.library import Library
from retrieval.search.metrics import ndcg, reciprocal_rank
from retrieval.types import Paper, silent

Scores = NDArray[np.float64]
"""Shape (questions, papers)."""
K1, B = 1.2, 0.75
FOLDS = 5
WEIGHTS = (0.3, 0.4, 0.5, 0.55, 0.6, 0.7, 0.8)
_ASKING = frozenset(
    "which what how who why when where does do did is are was were can could would should much "
    "many paper papers method methods approach model models show shown find found use used using "
    "work works propose proposed here give gives get make made have has had".split()
)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A library with the questions asked of it."""

    papers: list[Paper]
    samples: list[Sample]
    cosines: dict[str, Scores]
    """By which vectors are compared."""


def plain_analyzer(*, stop: bool, stem: bool) -> tantivy.TextAnalyzer:
    """As the index has it, with steps left out."""
    builder = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(60))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
    )
    if stop:
        builder = builder.filter(tantivy.Filter.stopword("english"))
    if stem:
        builder = builder.filter(tantivy.Filter.stemmer("english"))
    return builder.build()


def analyses() -> dict[str, Callable[[str], list[str]]]:
    """The ways to make terms of a text."""
    stems = text_analyzer().analyze
    words = plain_analyzer(stop=True, stem=False).analyze
    kept = plain_analyzer(stop=False, stem=True).analyze
    return {
        "words": words,
        "stems": stems,
        "stems, stop words kept": kept,
        "pieces of words": lambda text: pieces(words(text)),
        "pieces of stems": lambda text: pieces(stems(text)),
        "pieces and stems": lambda text: [*pieces(stems(text)), *stems(text)],
    }


def bm25(documents: Sequence[list[str]], queries: Sequence[list[str]]) -> Scores:
    """Robertson and Zaragoza (2009), with Lucene's idf."""
    lengths = np.array([len(words) for words in documents], dtype=float)
    norms = K1 * (1 - B + B * lengths / lengths.mean())
    postings: dict[str, list[tuple[int, int]]] = {}
    for at, words in enumerate(documents):
        for word, count in Counter(words).items():
            postings.setdefault(word, []).append((at, count))
    scores = np.zeros((len(queries), len(documents)))
    for row, query in enumerate(queries):
        for word in dict.fromkeys(query):
            found = postings.get(word, [])
            places = np.array([at for at, _ in found], dtype=int)
            counts = np.array([count for _, count in found], dtype=float)
            idf = math.log(1 + (len(documents) - len(found) + 0.5) / (len(found) + 0.5))
            scores[row, places] += idf * counts * (K1 + 1) / (counts + norms[places])
    return scores


def read_corpus(library: Library, samples: list[Sample]) -> Corpus:
    """The cosines of every question with every paper: of its best chunk, of all, of both."""
    library.ready_to_search()
    papers = [stored.paper for stored in library.store.papers()]
    row = {paper.id: at for at, paper in enumerate(papers)}
    vectors = library.store.chunk_vectors(list(row))
    owners = np.array([row[id_.rpartition(":")[0]] for id_ in vectors])
    questions = np.array([library.embedder.embed(sample.question) for sample in samples])
    cosines = questions @ np.array(list(vectors.values())).T
    best = np.zeros((len(samples), len(papers)))
    mean = np.zeros_like(best)
    counts = np.bincount(owners, minlength=len(papers))
    for at, each in enumerate(cosines):
        np.maximum.at(best[at], owners, each)
        mean[at] = np.bincount(owners, weights=each, minlength=len(papers)) / counts
    of = {"best chunk": best, "mean of chunks": mean, "both": (best + mean) / 2}
    return Corpus(papers, samples, of)


def lexical_scores(corpus: Corpus) -> dict[str, Scores]:
    """BM25 with every analysis, with titles counted twice, and with the question cleaned."""
    texts = [f"{paper.title}. {paper.abstract}" for paper in corpus.papers]
    titled = [f"{paper.title}. {text}" for paper, text in zip(corpus.papers, texts, strict=True)]
    questions = [sample.question for sample in corpus.samples]
    cleaned = [
        " ".join(word for word in question.split() if word.lower().strip("?,") not in _ASKING)
        for question in questions
    ]
    ways = analyses()
    scores = {
        name: bm25([way(text) for text in texts], [way(each) for each in questions])
        for name, way in ways.items()
    }
    way = ways["pieces of stems"]
    queries = [way(each) for each in questions]
    scores["pieces, titles twice"] = bm25([way(text) for text in titled], queries)
    scores["pieces, question cleaned"] = bm25(
        [way(text) for text in texts], [way(each) for each in cleaned]
    )
    return scores


def values(corpus: Corpus, scores: Scores) -> list[float]:
    """What each question scores: MRR@10 for one paper, nDCG@10 in BEIR."""
    result = []
    for sample, row in zip(corpus.samples, scores, strict=True):
        order = np.argsort(-row, kind="stable")[:10]
        ranking = [corpus.papers[at].id for at in order]
        beir = sample.type is SampleType.RETRIEVAL
        result.append(
            ndcg(ranking, sample.gains, 10) if beir else reciprocal_rank(ranking, sample.gains, 10)
        )
    return result


def share(scores: Scores) -> Scores:
    """Scores of each question as shares of its best."""
    positive = np.maximum(scores, 0)
    shares: Scores = positive / np.maximum(positive.max(axis=1, keepdims=True), 1e-9)
    return shares


def grid(corpus: Corpus) -> dict[str, list[float]]:
    """What each question scores with every combination."""
    lexical = lexical_scores(corpus)
    results = {f"BM25 of {name}": values(corpus, scores) for name, scores in lexical.items()}
    for which, cosines in corpus.cosines.items():
        results[f"cosine of {which}"] = values(corpus, cosines)
        for name, scores in lexical.items():
            for weight in WEIGHTS:
                fused = weight * share(cosines) + (1 - weight) * share(scores)
                results[f"{which} {weight} + {name}"] = values(corpus, fused)
    return results


def cross_validated(grids: Sequence[dict[str, list[float]]]) -> tuple[float, list[str]]:
    """The mean score of what the other folds choose, and what each fold's others choose."""
    chosen, held_out = [], []
    for fold in range(FOLDS):

        def mean_of(name: str, *, inside: bool, fold: int = fold) -> float:
            return statistics.mean(
                statistics.mean(
                    value for at, value in enumerate(each[name]) if (at % FOLDS == fold) == inside
                )
                for each in grids
            )

        best = max(grids[0], key=lambda name: mean_of(name, inside=False))
        chosen.append(best)
        held_out.append(mean_of(best, inside=True))
    return statistics.mean(held_out), chosen


def main() -> None:
    """Measure the grid on both corpora and cross-validate over them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--beir", type=Path, required=True)
    parser.add_argument("--beir-home", type=Path, required=True)
    options = parser.parse_args()
    library = open_library(load_settings({"home": options.home} if options.home else {}), silent)
    questions = read_samples(options.questions, library)
    singles = [each for each in questions if each.type is SampleType.SINGLE]
    beir_library = open_library(load_settings({"home": options.beir_home}), silent)
    grids = [
        grid(read_corpus(library, singles)),
        grid(read_corpus(beir_library, read_samples(options.beir, beir_library))),
    ]
    rows = {name: [statistics.mean(each[name]) for each in grids] for name in grids[0]}
    for name, row in sorted(rows.items(), key=lambda each: -sum(each[1])):
        print(f"{name:48}", *(f"{value:.3f}" for value in row), sep="  ")
    mean, chosen = cross_validated(grids)
    print(f"cross-validated mean {mean:.3f}, chosen: {chosen}")
    print(json.dumps({"rows": rows, "cross-validated": mean, "chosen": chosen}))


if __name__ == "__main__":
    main()
