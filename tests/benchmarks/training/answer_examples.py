"""Training examples of the answer model from the files in `data/`."""

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

DATA = Path(__file__).parent / "data"
SEEN = 0.5
"""Share of the questions of `far.jsonl` and `nearby.jsonl` that the training sees; the others are
for the weights of abstention."""
FORMS = ("What is {}?", "define {}", "what does {} mean")
"""How a definition is asked for."""
HELD_OUT = 0.1
"""Share of the papers of definitions that are kept out."""
ELSEWHERE = 0.15
"""Share of the answered questions that are also put to a neighbouring paper."""
BOUND = ("follow-up, question", "ordinary topic", "ordinary limit")
"""Kinds of questions that are not put to another paper: it may answer, or needs a conversation."""
NEIGHBOURS = 6
"""Papers that a neighbour is drawn from: those with the most words in common, the own left out."""


@dataclass(frozen=True)
class Paper:
    """A paper as the answer model reads it."""

    id: str
    title: str
    sentences: tuple[str, ...]
    field: str


@dataclass(frozen=True)
class Example:
    """A question with a paper."""

    question: str
    paper: Paper
    evidence: tuple[int, ...] | None
    """Places of the sentences that answer it, best first; empty if the abstract does not, None if
    it does and nobody has noted where."""
    split: str
    kind: str


def lines(name: str) -> Iterator[dict]:
    """The rows of a data file."""
    with (DATA / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def share(key: str) -> float:
    """A number in [0, 1) that depends on the text alone."""
    return zlib.crc32(key.encode()) % 10_000 / 10_000


def examples() -> list[Example]:
    """All examples: written ones, then questions put to papers that do not answer them."""
    papers = {
        row["paper"]: Paper(row["paper"], row["title"], tuple(row["sentences"]), row["field"])
        for row in lines("papers.jsonl")
    }
    for number, row in enumerate(lines("short_abstracts.jsonl")):
        id_ = f"short-{number:03}"
        papers[id_] = Paper(id_, row["title"], tuple(row["sentences"]), "invented")
    own = [
        each
        for each in _written(papers)
        if all(at < len(each.paper.sentences) for at in each.evidence or ())
    ]
    return [*own, *_elsewhere(papers, own)]


def _written(papers: dict[str, Paper]) -> Iterator[Example]:
    yield from _details(papers)
    yield from _hard(papers)
    yield from _short(papers)
    yield from _general(papers)
    yield from _ordinary(papers)
    for row in lines("several.jsonl"):
        for id_ in filter(papers.__contains__, row["papers"]):
            evidence = tuple(row["papers"][id_])
            yield Example(row["question"], papers[id_], evidence, row["split"], "several")


def _details(papers: dict[str, Paper]) -> Iterator[Example]:
    for row in lines("questions.jsonl"):
        paper, split, follow_up = papers[row["paper"]], row["split"], row["follow_up"]
        for each in row["questions"]:
            yield Example(each["question"], paper, tuple(each["evidence"]), split, "detail")
        for form in ("standalone", "question"):
            evidence = tuple(follow_up["evidence"])
            yield Example(follow_up[form], paper, evidence, split, f"follow-up, {form}")
        yield Example(row["silent"], paper, (), split, "silent")


def _hard(papers: dict[str, Paper]) -> Iterator[Example]:
    for row in lines("answers.jsonl"):
        evidence = tuple(row["evidence"])
        yield Example(row["question"], papers[row["paper"]], evidence, row["split"], "paraphrase")
    for row in lines("hard.jsonl"):
        if row["kind"] != "answered":  # those stand in answers.jsonl
            yield Example(row["question"], papers[row["paper"]], (), row["split"], row["kind"])
    for row in lines("polar.jsonl"):
        is_open = row["verdict"] == "open"
        evidence, kind = ((), "polar, open") if is_open else (tuple(row["evidence"]), "polar")
        yield Example(row["question"], papers[row["paper"]], evidence, row["split"], kind)


def _general(papers: dict[str, Paper]) -> Iterator[Example]:
    """Questions on the topic of a paper by people who do not know it, and on particulars of it."""
    for row in lines("general.jsonl"):
        paper, split = papers[row["paper"]], row["split"]
        for kind, asked in (("general", row["general"]), ("exact", [row["exact"]])):
            for each in asked:
                yield Example(each["question"], paper, tuple(each["evidence"]), split, kind)
        for question in row["silent"]:
            yield Example(question, paper, (), split, "general, silent")


def _ordinary(papers: dict[str, Paper]) -> Iterator[Example]:
    """Questions of many shapes, most by people who do not know the paper."""
    for row in lines("ordinary.jsonl"):
        for each in row["asked"]:
            kind = f"ordinary {each['kind']}"
            if not each["evidence"] and each["kind"] != "silent":
                kind += ", silent"
            evidence = tuple(each["evidence"])
            yield Example(each["question"], papers[row["paper"]], evidence, row["split"], kind)


def _short(papers: dict[str, Paper]) -> Iterator[Example]:
    """Short questions, introductions and definitions among them."""
    for name in ("named", "nearby"):
        for row in lines(f"{name}.jsonl"):
            if row["paper"] not in papers or (name == "nearby" and share(row["paper"]) >= SEEN):
                continue
            paper, split = papers[row["paper"]], row.get("split", "train")
            yield from (Example(each, paper, None, split, name) for each in row["answered"])
            yield from (
                Example(each, paper, (), split, f"{name}, silent") for each in row["silent"]
            )
    terms: dict[tuple[str, str], list[int]] = {}
    for row in lines("definitions.jsonl"):
        places = terms.setdefault((row["paper"], row["term"]), [])
        if row["defines"]:
            places.append(papers[row["paper"]].sentences.index(row["text"]))
    for (id_, term), places in terms.items():
        split = "validation" if share(id_) < HELD_OUT else "train"
        form = FORMS[int(share(term) * len(FORMS))]
        yield Example(form.format(term), papers[id_], tuple(places), split, "definition")


def _elsewhere(papers: dict[str, Paper], own: list[Example]) -> Iterator[Example]:
    """Questions with a paper that shares words with them and is not known to answer."""
    all_ = list(papers.values())
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    texts = words.fit_transform(" ".join((each.title, *each.sentences)) for each in all_)
    answering: dict[str, set[str]] = {}
    for each in own:
        answering.setdefault(each.question, set()).add(each.paper.id)
    asked = [
        (each.question, each.split)
        for each in own
        if each.evidence and each.kind not in BOUND and share(each.question) < ELSEWHERE
    ]
    asked += [
        (row["question"], "train") for row in lines("far.jsonl") if share(row["question"]) < SEEN
    ]
    alike = words.transform(question for question, _ in asked) @ texts.T
    for at, (question, split) in enumerate(asked):
        order = np.argsort(-alike[at].toarray()[0])[: NEIGHBOURS + 3]
        near = [all_[i] for i in order if all_[i].id not in answering.get(question, ())]
        paper = near[int(share(question[::-1]) * NEIGHBOURS)]
        yield Example(question, paper, (), split, "elsewhere" if question in answering else "far")
