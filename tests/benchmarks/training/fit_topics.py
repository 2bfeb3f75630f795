"""Fits which papers belong to a topic: `python fit_topics.py SEEDS SCIFACT [--cache FILE]`.

SEEDS and SCIFACT are libraries of the seeds and of SciFact's abstracts. `data/topics.jsonl` has
messages that ask for an overview, and for each some twenty papers found, graded by reading: 2
belongs, 1 touches on the topic, 0 does not belong. Prints the weights of a logistic regression for
`assistant/pipeline/overview.py`, and how well they choose: in each field the papers are chosen by
weights of the other one, too. What was read is kept in FILE. Last, `data/likes.jsonl` tells how
well the papers most like another are found.
"""

import argparse
import json
import pickle
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from assistant.pipeline.overview import BELONGS, features_of
from assistant.pipeline.startup import open_assistant
from assistant.settings import load_settings
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.search.rerank import ReadPassage
from retrieval.search.search import search, similar
from retrieval.types import never, silent

DATA = Path(__file__).parent / "data"
LIBRARIES = ("seeds", "scifact")
FOUND = 60
"""Papers found for a topic at least; the graded ones are among the first."""
LIKEST = 5
"""Papers most like another whose grades are counted."""


@dataclass(frozen=True)
class Topic:
    """The features and grades of the papers found for a topic."""

    library: str
    rows: NDArray[np.float64]
    grades: NDArray[np.int64]


def lines(name: str) -> list[dict]:
    """The rows of a data file."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def read_topic(row: dict, library: Library, reader: Reader) -> Topic:
    """A topic and its graded papers, read."""
    grades, topic = row["grades"], row["topic"]
    found = [each for each in search(library, topic, FOUND) if each.paper.id in grades]
    reads = reader.read(topic, [each.paper for each in found], never)
    read = list(map(ReadPassage, found, reads))
    features = features_of(library, topic, found, read)
    return Topic(
        row["library"],
        np.array([astuple(each) for each in features.values()]),
        np.array([grades[id_] for id_ in features]),
    )


def fit(topics: Sequence[Topic]) -> LogisticRegression:
    """The regression that tells the papers that belong."""
    rows = np.concatenate([each.rows for each in topics])
    return LogisticRegression(C=100).fit(rows, np.concatenate([t.grades for t in topics]) == 2)


def print_choice(name: str, topics: Sequence[Topic], model: LogisticRegression) -> None:
    """How well a regression chooses the papers of topics."""
    chances = [model.predict_proba(each.rows)[:, 1] for each in topics]
    chosen = np.concatenate(chances) >= BELONGS
    grades = np.concatenate([each.grades for each in topics])
    right = (grades[chosen] == 2).mean()
    found = (chosen & (grades == 2)).sum() / (grades == 2).sum()
    precision = np.mean(
        [
            average_precision_score(topic.grades == 2, chance)
            for topic, chance in zip(topics, chances, strict=True)
            if 0 < (topic.grades == 2).sum() < len(topic.grades)
        ]
    )
    print(
        f"{name}: {len(topics)} topics, average precision {precision:.3f}; chosen "
        f"{chosen.sum() / len(topics):.1f} papers, belong {right:.3f}, at least touch "
        f"{(grades[chosen] >= 1).mean():.3f}; found of those that belong {found:.3f}, "
        f"F1 {2 * right * found / (right + found):.3f}"
    )


def print_likes(libraries: dict[str, Library]) -> None:
    """The grades of the papers said to be most like another, as a share of the best possible."""
    shares = []
    for row in lines("likes.jsonl"):
        grades = row["grades"]
        near = [each.paper.id for each in similar(libraries[row["library"]], row["paper"], 50)]
        given = [grades[id_] for id_ in near if id_ in grades][:LIKEST]
        best = sum(sorted(grades.values(), reverse=True)[:LIKEST])
        shares += [sum(given) / best] if best else []
    print(f"most like {len(shares)} papers: {np.mean(shares):.3f} of the highest grades")


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=Path)
    parser.add_argument("scifact", type=Path)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    homes = (options.seeds, options.scifact)
    parts = [open_assistant(load_settings({"home": home}), silent) for home in homes]
    libraries = {name: part.library for name, part in zip(LIBRARIES, parts, strict=True)}
    if options.cache and options.cache.exists():
        topics = pickle.loads(options.cache.read_bytes())
    else:
        reader = parts[0].reader
        topics = [
            read_topic(row, libraries[row["library"]], reader) for row in lines("topics.jsonl")
        ]
        if options.cache:
            options.cache.write_bytes(pickle.dumps(topics))
    for name in LIBRARIES:
        here = [each for each in topics if each.library == name]
        print_choice(
            f"{name}, fitted on the other", here, fit([t for t in topics if t.library != name])
        )
        print_choice(f"{name}, fitted on both", here, fit(topics))
    model = fit(topics)
    print("weights", model.coef_[0].round(2), "bias", model.intercept_.round(2))
    print_likes(libraries)


if __name__ == "__main__":
    main()
