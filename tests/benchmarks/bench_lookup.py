"""Citation lookup over the seeds: titles, nicknames and names as people type them; and its speed.

    python tests/benchmarks/bench_lookup.py [--dev FILE] [--quiet-on FILE …] [--papers 100000]

`--dev` also asks the development questions of type lookup; `--quiet-on` counts the questions of
files (JSONL with `question`, `turns` or `text`) that are filtered.
Queries are drawn with a fixed seed. Prints a table a group, the misses, then one JSON line.
Results are in lookup.md.
"""

import argparse
import json
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assistant.settings import resource_folder
from retrieval.formats import files_of, read_file
from retrieval.formats.merge import fold, paper_of
from retrieval.index.lexical import LexicalIndex
from retrieval.query.lookup import Lookup
from retrieval.query.metadata import parse_query
from retrieval.text.names import name_terms
from retrieval.types import Paper, Source

SEED = 11
EACH = 40
"""Queries drawn for each kind."""

NICKNAMES = {
    "git rebasin": "Git Re-Basin: Merging Models",
    "S4": "A central goal of sequence modeling is designing",
    "the S4 paper": "A central goal of sequence modeling is designing",
    "DiffStride": "Learning Strides in Convolutional",
    "diff-stride": "Learning Strides in Convolutional",
    "Grad-ODAM": "ODAM: Gradient-based",
    "grad odam": "ODAM: Gradient-based",
    "Analytic-DPM": "AnalyticDPM: an Analytic Estimate",
    "analytic dpm": "AnalyticDPM: an Analytic Estimate",
    "PatchTST": "A Time Series is Worth 64 Words",
    "patch tst": "A Time Series is Worth 64 Words",
    "PPGeo": "Policy Pre-training for Autonomous Driving",
    "attention bn": "A Primal-Dual Framework for Transformers",
    "ILQL": "Offline RL for Natural Language Generation",
    "CLNN": "Weighted Clock Logic Point Process",
    "BOON": "Guiding continuous operator learning",
    "NOSMOG": "Learning MLPs on Graphs",
    "scomoe-seq": "SCoMoE: Efficient Mixtures",
    "DaNAS": "Meta-prediction Model for Distillation",
    "RREL": "Learning Label Encodings for Deep Regression",
    "CACM": "Modeling the Data-Generating Process",
    "MTPB benchmark": "CodeGen: An Open Large Language Model",
    "PLUDA": "Partial Label Unsupervised Domain Adaptation",
    "FairCL": "Fairness-aware Contrastive Learning",
    "glm130b": "GLM-130B: An Open",
    "mole bert": "Mole-BERT: Rethinking",
    "re-act": "ReAct: Synergizing",
    "dr spider": "Dr.Spider: A Diagnostic",
    "imagenet x": "ImageNet-X: Understanding",
    "MGSM": "Language models are multilingual chain-of-thought",
}
"""Nicknames by hand, mostly from abstracts, with the start of the paper's title."""

TITLES = {
    "the relay race paper": "Can Agents Run Relay Race with Strangers?",
    "64 words time series": "A Time Series is Worth 64 Words",
    "canary in a coal mine membership inference": "Canary in a Coalmine",
    "is attention all nerf needs": "Is Attention All That NeRF Needs?",
    "token merging vit": "Token Merging: Your ViT But Faster",
    "minds eye grounded reasoning": "Mind's Eye: Grounded",
    "othello world model emergent": "Emergent World Representations",
    "dream fusion text-to-3d": "DreamFusion: Text-to-3D",
    "Riad et al. learning strides": "Learning Strides in Convolutional",
    "Velickovic dual reasoning": "Dual Algorithmic Reasoning",
    "broken scaling laws Caballero": "Broken Neural Scaling Laws",
    "Gruver lie derivative equivariance": "The Lie Derivative for Measuring",
    "paper on small boxes certified training": "Certified Training: Small Boxes",
    "what is the paper called agree to disagree about?": "Agree to Disagree: Diversity",
    "MSE loss neural collapse central path ICLR 2022": "Neural Collapse Under MSE Loss",
    "ICLR 2023 oral git re-basin": "Git Re-Basin: Merging Models",
}
"""Other ways to name a paper, by hand."""

LISTS: dict[str, Callable[[Paper], bool]] = {
    "ICLR 2022 outstanding papers": lambda p: p.decision == "outstanding paper",
    "iclr'22 honourable mentions": lambda p: p.decision == "honorable mention",
    "award-winning papers": lambda p: p.decision in ("outstanding paper", "honorable mention"),
    "best papers at ICLR 2022": lambda p: p.decision == "outstanding paper",
    "list the ICLR 2022 oral papers": lambda p: p.decision == "oral" and p.year == 2022,
    "papers published in 2022": lambda p: p.year == 2022,
    "orals by Sergey Levine": lambda p: _by(p, "Sergey Levine") and p.decision == "oral",
    "spotlights by Y. Bengio": lambda p: _by(p, "Yoshua Bengio") and p.decision == "spotlight",
    "Levine's papers": lambda p: any(each.endswith(" Levine") for each in p.authors),
    "papers by Goldstein and Geiping": lambda p: _by(p, "Tom Goldstein", "Jonas Geiping"),
    "What have Bo Han and Tongliang Liu written together?": lambda p: _by(
        p, "Bo Han", "Tongliang Liu"
    ),
    "tongliang liu & bo han": lambda p: _by(p, "Bo Han", "Tongliang Liu"),
    "co-authored by Volkan Cevher, 2023": lambda p: _by(p, "Volkan Cevher"),
    "Schoelkopf papers": lambda p: _by(p, "Bernhard Schölkopf"),
    "Sung Ju Hwang's ICLR 2023 posters": lambda p: (
        _by(p, "Sung Ju Hwang") and p.decision == "poster"
    ),
    "anything by Cengiz Pehlevan?": lambda p: _by(p, "Cengiz Pehlevan"),
    "papers by Ada Lovelace": lambda _: False,
    "NeurIPS 2021 orals": lambda _: False,
    "ICLR 2019 papers": lambda _: False,
    "papers by Tim Goldstein": lambda _: False,
}
"""Requests for lists, by hand, with which papers they mean."""


@dataclass(frozen=True)
class Asked:
    """A query and which papers are right: the first for one, all for a list."""

    query: str
    right: frozenset[str]
    is_list: bool = False


def main() -> None:
    """Ask everything, then measure the speed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", type=Path)
    parser.add_argument("--quiet-on", type=Path, nargs="*", default=[])
    parser.add_argument("--papers", type=int, default=0, help="made papers to measure speed with")
    options = parser.parse_args()
    records = [record for file in files_of([resource_folder("seeds")]) for record in _read(file)]
    papers = [paper_of(record) for record in fold(records)]
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        index, lookup = _opened(papers, Path(folder))
        groups = _groups(papers)
        if options.dev:
            groups["development questions"] = list(_development(options.dev, papers))
        for name, asked in groups.items():
            result[name] = _ask(lookup, name, asked)
        for file in options.quiet_on:
            result[f"filtered in {file.name}"] = _filtered(file, index)
        if options.papers:
            made = list(_made(papers, options.papers))
            result["speed"] = _speed(made, groups, Path(folder) / "made")
    print(json.dumps(result))


def _read(file: Path) -> Sequence[Any]:
    return read_file(file).records


def _opened(papers: Sequence[Paper], folder: Path) -> tuple[LexicalIndex, Lookup]:
    index = LexicalIndex(folder / "lexical")
    index.rebuild(papers, "1")
    by_id = {paper.id: paper for paper in papers}
    return index, Lookup(index, lambda ids: {id_: by_id[id_] for id_ in ids})


def _groups(papers: Sequence[Paper]) -> dict[str, list[Asked]]:
    draw = random.Random(SEED)  # noqa: S311 - drawn to be repeated
    titled = [paper for paper in papers if len(paper.title.split()) >= 4]
    ways: dict[str, Callable[[str, random.Random], str]] = {
        "whole title, lower case": lambda title, _: re.sub(r"[^\w\s-]", "", title).lower(),
        "title with a typo every other word": _misspell,
        "title with a word left out": _leave_out,
        "four words of a title": _part,
        "four words, one misspelled": lambda title, draw: _misspell_one(_part(title, draw), draw),
    }
    groups = {
        name: [
            Asked(way(paper.title, draw), frozenset({paper.id}))
            for paper in draw.sample(titled, EACH)
        ]
        for name, way in ways.items()
    }
    heads = [paper for paper in papers if _head(paper)]
    groups["name before a title's colon"] = [
        Asked(_loosely(_head(paper), draw), frozenset({paper.id}))
        for paper in draw.sample(heads, EACH)
    ]
    groups["nicknames by hand"] = [_starting(*pair, papers) for pair in NICKNAMES.items()]
    groups["other names by hand"] = [_starting(*pair, papers) for pair in TITLES.items()]
    groups["lists by hand"] = [
        Asked(query, frozenset(p.id for p in papers if means(p)), is_list=True)
        for query, means in LISTS.items()
    ]
    groups["authors"] = _authors(papers, draw)
    return groups


def _authors(papers: Sequence[Paper], draw: random.Random) -> list[Asked]:
    names = sorted({name for p in papers for name in p.authors if len(name.split()) > 1})
    ways: list[Callable[[str], str]] = [
        lambda name: f"papers by {name}",
        lambda name: name.lower(),
        lambda name: f"{name}'s papers",
        lambda name: f"{name.split()[-1]}, {' '.join(name.split()[:-1])}",
        lambda name: f"which papers is {name} on?",
        lambda name: f"papers by {_misspell_one(name, draw)}",
    ]
    asked = []
    for at, name in enumerate(draw.sample(names, 2 * EACH)):
        terms = set(name_terms(name))
        right = {p.id for p in papers if any(terms & set(name_terms(a)) for a in p.authors)}
        asked.append(Asked(ways[at % len(ways)](name), frozenset(right), is_list=True))
    return asked


def _by(paper: Paper, *names: str) -> bool:
    return set(names) <= set(paper.authors)


def _starting(query: str, start: str, papers: Sequence[Paper]) -> Asked:
    right = frozenset(p.id for p in papers if (p.title or p.abstract).startswith(start))
    assert len(right) == 1, start
    return Asked(query, right)


def _head(paper: Paper) -> str:
    """The name before a title's colon, if it looks like one."""
    head, colon, _ = paper.title.partition(":")
    return head if colon and len(head.split()) <= 2 and re.search(r".[A-Z0-9-]", head) else ""


def _loosely(name: str, draw: random.Random) -> str:
    """A name as it is typed: hyphens as spaces or left out, in lower case."""
    return draw.choice(
        [name.lower(), name.replace("-", " "), name.replace("-", "").lower(), f"the {name} paper"]
    )


def _misspell(text: str, draw: random.Random) -> str:
    words = text.split()
    long = [at for at, word in enumerate(words) if len(word) > 4]
    for at in draw.sample(long, (len(long) + 1) // 2):
        words[at] = _misspelled(words[at], draw)
    return " ".join(words)


def _misspell_one(text: str, draw: random.Random) -> str:
    words = text.split()
    at = max(range(len(words)), key=lambda each: len(words[each]))
    words[at] = _misspelled(words[at], draw)
    return " ".join(words)


def _misspelled(word: str, draw: random.Random) -> str:
    """One letter inside a word swapped with the next, left out, doubled or replaced."""
    at = draw.randrange(1, max(2, len(word) - 1))
    swapped = word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
    replaced = word[:at] + draw.choice("aeinorst") + word[at + 1 :]
    return draw.choice([swapped, word[:at] + word[at + 1 :], word[:at] + word[at - 1 :], replaced])


def _leave_out(title: str, draw: random.Random) -> str:
    words = title.split()
    del words[draw.randrange(len(words))]
    return " ".join(words)


def _part(title: str, draw: random.Random) -> str:
    words = title.split()
    at = draw.randrange(len(words) - 3)
    return " ".join(words[at : at + 4])


def _development(file: Path, papers: Sequence[Paper]) -> Iterator[Asked]:
    for line in file.read_text("utf-8").splitlines():
        fields = json.loads(line)
        if fields["type"] == "lookup":
            meant = {p.id for p in papers if {p.title, p.abstract[:80]} & set(fields["papers"])}
            yield Asked(fields["question"], frozenset(meant))


def _ask(lookup: Lookup, name: str, asked: Sequence[Asked]) -> dict[str, float]:
    firsts, recalls, seconds = [], [], []
    for each in asked:
        started = time.perf_counter()
        listing = lookup.find(each.query, 100 if each.is_list else 10)
        seconds.append(time.perf_counter() - started)
        ids = [match.paper.id for match in listing.matches]
        right = set(ids) == each.right if each.is_list else bool(ids and ids[0] in each.right)
        firsts.append(right)
        recalls.append(len(each.right & set(ids)) / len(each.right) if each.right else right)
        if not right:
            titles = [match.paper.shown_title for match in listing.matches[:2]]
            print(f"  missed: {each.query!r} got {titles} {listing.note}")
    result = {
        "queries": len(asked),
        "right": round(statistics.mean(firsts), 3),
        "recall": round(statistics.mean(recalls), 3),
        "p50 ms": round(1000 * statistics.median(seconds), 1),
        "max ms": round(1000 * max(seconds), 1),
    }
    print(f"{name:36}" + "  ".join(f"{key} {value}" for key, value in result.items()))
    return result


def _filtered(file: Path, index: LexicalIndex) -> dict[str, int]:
    """How many questions other than lookups are filtered."""
    count = filtered = 0
    for line in file.read_text("utf-8").splitlines():
        fields = json.loads(line)
        if fields.get("type") == "lookup":
            continue
        for turn in fields.get("turns", [fields]):
            question = turn.get("question") or turn["text"]
            parsed = parse_query(question, index, lookup=False)
            count += 1
            if parsed.filters or parsed.unmatched:
                filtered += 1
                print(f"  filtered: {question!r} {parsed}")
    print(f"{file.name:36}questions {count}  filtered {filtered}")
    return {"questions": count, "filtered": filtered}


def _made(papers: Sequence[Paper], count: int) -> Iterator[Paper]:
    """Papers of words and names drawn from the seeds': nobody has so many real ones at hand."""
    draw = random.Random(SEED)  # noqa: S311 - as above
    title_words = [word for paper in papers for word in paper.title.split()]
    words = [word for paper in papers for word in paper.abstract.split()]
    given = sorted({name.split()[0] for paper in papers for name in paper.authors})
    surnames = [name.split()[-1] for paper in papers for name in paper.authors]
    yield from papers
    for number in range(count - len(papers)):
        middles = ["", "", f"{draw.choice('ABCDEFGHKLMNPRST')}. ", f"{draw.choice(given)} "]
        yield replace(
            papers[number % len(papers)],
            id=f"made-{number}",
            title=" ".join(draw.choices(title_words, k=8)),
            abstract=" ".join(draw.choices(words, k=60)),
            authors=tuple(
                f"{draw.choice(given)} {draw.choice(middles)}{draw.choice(surnames)}"
                for _ in range(4)
            ),
            year=draw.randint(2010, 2024),
            sources=(Source("made", number),),
        )


def _speed(
    made: Sequence[Paper], groups: dict[str, list[Asked]], folder: Path
) -> dict[str, float | int]:
    started = time.perf_counter()
    _opened(made, folder)
    build = time.perf_counter() - started
    by_id = {paper.id: paper for paper in made}
    started = time.perf_counter()
    index = LexicalIndex(folder / "lexical")
    lookup = Lookup(index, lambda ids: {id_: by_id[id_] for id_ in ids})
    lookup.find("papers by Yilun Du", 10)
    opened = time.perf_counter() - started
    seconds, right = [], []
    for name, group in groups.items():
        took = []
        for each in group:
            started = time.perf_counter()
            listing = lookup.find(each.query, 10)
            took.append(time.perf_counter() - started)
            if not each.is_list:
                right.append(any(match.paper.id in each.right for match in listing.matches[:1]))
        seconds += took
        print(f"{name:36}p50 {1000 * statistics.median(took):.1f} ms, max {1000 * max(took):.1f}")
    result: dict[str, float | int] = {
        "papers": len(made),
        "authors": len({name for paper in made for name in paper.authors}),
        "build s": round(build, 1),
        "open and first lookup ms": round(1000 * opened, 1),
        "lookup p50 ms": round(1000 * statistics.median(seconds), 1),
        "lookup p95 ms": round(1000 * statistics.quantiles(seconds, n=20)[-1], 1),
        "right": round(statistics.mean(right), 3),
        "search 1000 p50 ms": round(1000 * _search_time(index, groups), 2),
    }
    for name, value in result.items():
        print(f"{name:36}{value}")
    return result


def _search_time(index: LexicalIndex, groups: dict[str, list[Asked]]) -> float:
    took = []
    for each in groups["whole title, lower case"]:
        started = time.perf_counter()
        index.search(each.query, 1000)
        took.append(time.perf_counter() - started)
    return statistics.median(took)


if __name__ == "__main__":
    main()
