"""Fits what a follow-up is about: `python fit_follow_ups.py HOME [HOME …]`.

Each HOME is a library that has papers of the validation split, as for `fit_reading.py`. Every
message of `turns.jsonl`, `questions.jsonl` and `conversations.jsonl` that comes after an answer
goes through the real search and the real reader; a conditional logit over the papers found is
fitted with ten-fold cross-validation by paper. Of the conversations those that the reader was
trained on count less: it is surer of them than of new ones.

Prints a table; the weights go into `assistant.pipeline.intent.WEIGHTS` by hand.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from assistant.pipeline.intent import Signals, signals_of
from assistant.pipeline.startup import open_library, open_reader
from assistant.settings import Settings
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.search.search import search
from retrieval.types import Paper, Passage, silent

DATA = Path(__file__).parent / "data"
DEPTH, FOLDS = 12, 10
OF_TRAINING = 0.3
"""What a conversation counts that the reader was trained on."""
PENALTY = 0.01


@dataclass(frozen=True, slots=True)
class Said:
    """A message after an answer, and the paper that it is about."""

    source: str
    fold: str
    text: str
    previous: str
    history: tuple[str, ...]
    """Papers of the conversation, the one cited last first."""
    about: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Choice:
    """The signals of the papers that a message may be about."""

    said: Said
    ids: tuple[str, ...]
    signals: np.ndarray
    """Shape (papers, signals)."""
    right: int


def lines(name: str) -> Iterator[dict]:
    """The rows of a data file."""
    with (DATA / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def messages() -> Iterator[Said]:
    """Every message that comes after an answer; of all but conversations the validation split."""
    for row in lines("turns.jsonl"):
        if row["split"] == "validation":
            about = row["a"] if row["kind"] == "stay" else row["b"]
            text, kind = row["question"], row["kind"]
            yield Said(f"turn, {kind}", row["a"], text, row["previous"], (row["a"],), about)
    for row in lines("questions.jsonl"):
        if row["split"] == "validation":
            paper, before = row["paper"], row["questions"][0]["question"]
            yield Said("follow-up", paper, row["follow_up"]["question"], before, (paper,), paper)
    for row in lines("conversations.jsonl"):
        yield from _turns(row)


def _turns(row: dict) -> Iterator[Said]:
    previous, history = "", []
    for turn in row["turns"]:
        if turn["kind"] in ("thanks", "ability"):
            continue
        about = row.get(turn.get("paper"))
        plain = turn["kind"] in ("content", "silent", "record") and turn["focus"] != "both"
        if history and plain and about:
            source = f"conversation, {turn['focus']}, {row['split']}"
            weight = OF_TRAINING if row["split"] == "train" else 1.0
            before = tuple(reversed(history))
            yield Said(source, row["a"], turn["question"], previous, before, about, weight)
        previous = turn["question"]
        if about:
            history = [id_ for id_ in history if id_ != about] + [about]


def choices(homes: Sequence[Path]) -> list[Choice]:
    """What every message may be about, in the first of the libraries that has its papers."""
    settings = Settings()
    reader = open_reader(settings, silent)
    libraries = [open_library(settings.model_copy(update={"home": home}), silent) for home in homes]
    known = [
        {stored.paper.id: stored.paper for stored in library.store.papers()}
        for library in libraries
    ]
    found = []
    for said in messages():
        for library, papers in zip(libraries, known, strict=True):
            if said.about in papers and said.history[0] in papers:
                history = [papers[id_] for id_ in said.history if id_ in papers]
                found.append(_choice(said, history, library, reader))
                break
    return [choice for choice in found if choice]


def _choice(
    said: Said, history: Sequence[Paper], library: Library, reader: Reader
) -> Choice | None:
    read = reader.message(said.text, said.previous)
    also = [paper.id for paper in history]

    def find(text: str) -> list[Passage]:
        return search(library, text, DEPTH, also=also)

    beside = f"About “{history[0].title or history[0].abstract[:200]}”: {said.text}"
    signals = signals_of(find(said.text), find(beside), history, read)
    if said.about not in signals:
        return None
    ids = tuple(signals)
    rows = np.array([astuple(signals[id_]) for id_ in ids], dtype=float)
    return Choice(said, ids, rows, ids.index(said.about))


def fitted(part: Sequence[Choice]) -> np.ndarray:
    """The weights that make the right papers likeliest; shape (signals,)."""

    def loss(weights: np.ndarray) -> float:
        total = PENALTY * float((weights**2).sum())
        for choice in part:
            scores = choice.signals @ weights
            total += choice.said.weight * (np.logaddexp.reduce(scores) - scores[choice.right])
        return total

    return minimize(loss, np.ones(len(fields(Signals))), method="L-BFGS-B").x


def main() -> None:
    """Cross-validate, print a table, fit on all."""
    every = choices([Path(home) for home in sys.argv[1:]])
    folds = {fold: at % FOLDS for at, fold in enumerate(sorted({c.said.fold for c in every}))}
    rows: dict[str, list[tuple[bool, bool]]] = {}
    for held in range(FOLDS):
        weights = fitted([c for c in every if folds[c.said.fold] != held])
        for choice in (c for c in every if folds[c.said.fold] == held):
            top = choice.ids[int((choice.signals @ weights).argmax())]
            history = choice.said.history
            sides = (top in history) == (choice.said.about in history)
            rows.setdefault(choice.said.source, []).append((top == choice.said.about, sides))
    print("of a message: the right paper, and whether one of the conversation or another")
    for source, right in sorted(rows.items()):
        paper, sides = np.mean(right, axis=0)
        print(f"{source:36} {len(right):4}  {paper:.3f}  {sides:.3f}")
    whole = fitted(every)
    for field, weight in zip(fields(Signals), whole, strict=True):
        print(f"    {field.name}={weight:.2f},")


if __name__ == "__main__":
    main()
