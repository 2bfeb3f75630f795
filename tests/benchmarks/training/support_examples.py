"""What the support model learns from: claims, the sentences they cite, whether these support them.

Read from `data/`; see README.md there.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
SUPPORTS, CONTRADICTS, NEITHER = range(3)
CONTRADICTING = frozenset(
    (
        "contradicts", "negation", "direction", "number", "number word", "quantity", "unit",
        "comparison", "time", "roles",
    )
)  # fmt: skip
"""Kinds of faults by which a claim says the contrary of its evidence."""
UNCLEAR = frozenset(
    "name entity term list speaker scope subset condition order causal method".split()
)
"""Kinds of faults that may deny the evidence or only leave it."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim and what it cites."""

    paper: str
    split: str
    claim: str
    title: str
    sentences: tuple[str, ...]
    """Cited, in reading order."""
    others: tuple[str, ...]
    """Further sentences of the abstract."""
    supported: bool
    kind: str
    """Of the fault, or how the claim was made."""
    is_hard: bool
    """Whether somebody wrote it to be told from others on the same sentences."""
    is_own: bool = False
    """Whether the claim is worded without regard to the abstract."""

    @property
    def stance(self) -> int | None:
        """What the cited sentences say of the claim; None if it is one of the two that deny."""
        if self.supported:
            return SUPPORTS
        if self.kind in CONTRADICTING:
            return CONTRADICTS
        return None if self.kind in UNCLEAR else NEITHER


def pairs(seed: int = 0) -> list[Pair]:
    """All of them; what is left to chance repeats with `seed`."""
    chance = random.Random(seed)
    papers = {row["paper"]: row for row in _rows("papers")}
    return [
        *_written(papers),
        *_answers(papers, chance),
        *_copies(papers, chance),
        *_orders(),
        *_scifact(),
        *_stances(chance),
    ]


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def _written(papers: dict[str, Any]) -> Iterator[Pair]:
    for name in ("support", "pairs", "edits"):
        for row in _rows(name):
            yield _pair(
                papers[row["paper"]],
                row["split"],
                row["claim"],
                row["evidence"],
                supported=row["label"] == "supported",
                kind=row.get("kind") or "supported",
                is_hard=True,
            )


def _answers(papers: dict[str, Any], chance: random.Random) -> Iterator[Pair]:
    """Answers with their evidence, and with that of another question on the paper or elsewhere."""
    rows = _rows("questions")
    for row in rows:
        paper, split = papers[row["paper"]], row["split"]
        asked = [*row["questions"], row["follow_up"]]
        for at, each in enumerate(asked):
            other = asked[at - 1]
            claim, sees = each["answer"], set(each["evidence"])
            yield _pair(paper, split, claim, each["evidence"], supported=True, kind="answer")
            said = each["question"]
            yield _pair(paper, split, said, each["evidence"], supported=False, kind="question")
            if not sees & set(other["evidence"]):
                evidence = other["evidence"]
                yield _pair(paper, split, claim, evidence, supported=False, kind="other sentences")
        stranger = chance.choice(rows)
        if stranger["split"] == split and stranger["paper"] != row["paper"]:
            claim = stranger["questions"][0]["answer"]
            evidence = asked[0]["evidence"]
            yield _pair(paper, split, claim, evidence, supported=False, kind="other paper")
    for row in [*_rows("answers"), *_rows("fuller")]:
        paper, split, claim = papers[row["paper"]], row["split"], row["answer"]
        yield _pair(paper, split, claim, row["evidence"], supported=True, kind="answer")
        far = [at for at in range(len(paper["sentences"])) if at not in row["evidence"]]
        if far:
            evidence = chance.sample(far, min(len(far), chance.choice((1, 2))))
            yield _pair(paper, split, claim, evidence, supported=False, kind="other sentences")
    for row in _rows("several"):
        for id_, claim in row.get("answers", {}).items():
            evidence = row["papers"][id_]
            yield _pair(papers[id_], row["split"], claim, evidence, supported=True, kind="answer")


def _orders() -> Iterator[Pair]:
    """Sentences that give orders, which support nothing, and plain ones that look like them."""
    for row in _rows("orders"):
        cited, holds = (row["sentence"],), row["label"] == "supported"
        yield Pair(
            cited[0], row["split"], row["claim"], "", cited, (),
            supported=holds, kind="command" if row["kind"] else "supported", is_hard=True,
        )  # fmt: skip


def _copies(papers: dict[str, Any], chance: random.Random) -> Iterator[Pair]:
    """Sentences as claims on themselves and on their neighbours."""
    for row in _rows("questions"):
        paper, split = papers[row["paper"]], row["split"]
        places = range(len(paper["sentences"]))
        for at in chance.sample(places, min(2, len(places))):
            claim = paper["sentences"][at]
            yield _pair(paper, split, claim, [at], supported=True, kind="copy")
        if len(places) > 1:
            other = at - 1 if at else 1
            yield _pair(paper, split, claim, [other], supported=False, kind="other sentences")


def _scifact() -> Iterator[Pair]:
    """SciFact's training claims, with the sentences that people marked and with others."""
    for row in _rows("claims"):
        cited = sorted(row["evidence"])
        if not cited:
            continue
        sentences, title = row["sentences"], row["title"]
        others = tuple(text for at, text in enumerate(sentences) if at not in cited)
        chosen = tuple(sentences[at] for at in cited)
        is_for = row["label"] == "SUPPORT"
        kind = "SciFact" if is_for else "contradicts"
        yield Pair(
            title, "train", row["claim"], title, chosen, others,
            supported=is_for, kind=kind, is_hard=True, is_own=True,
        )  # fmt: skip
        beside = others[:2] if len(row["claim"]) % 2 else others[-2:]
        if beside:
            yield Pair(
                title, "train", row["claim"], title, beside, (),
                supported=False, kind="other sentences", is_hard=True, is_own=True,
            )  # fmt: skip


def _stances(chance: random.Random) -> Iterator[Pair]:
    """Claims in words of their own, on abstracts that support or contradict them or are silent."""
    kinds = {"supports": "supported", "contradicts": "contradicts", "neither": "added"}
    for paper in _rows("stances"):
        for row in paper["claims"]:
            yield _pair(
                paper, paper["split"], row["claim"], row["evidence"][:1],
                supported=row["stance"] == "supports", kind=kinds[row["stance"]],
                is_hard=True, is_own=True,
            )  # fmt: skip
            far = [at for at in range(len(paper["sentences"])) if at not in row["evidence"]]
            if far:
                yield _pair(
                    paper, paper["split"], row["claim"], [chance.choice(far)],
                    supported=False, kind="other sentences", is_own=True,
                )  # fmt: skip


def _pair(
    paper: Any,
    split: str,
    claim: str,
    evidence: Sequence[int],
    *,
    supported: bool,
    kind: str,
    is_hard: bool = False,
    is_own: bool = False,
) -> Pair:
    sentences = paper["sentences"]
    cited = sorted(at for at in set(evidence) if at < len(sentences))
    return Pair(
        paper["paper"],
        split,
        claim,
        paper["title"],
        tuple(sentences[at] for at in cited),
        tuple(text for at, text in enumerate(sentences) if at not in cited),
        supported,
        kind,
        is_hard,
        is_own,
    )
