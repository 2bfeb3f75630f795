"""Records of the same paper into one: near-identity of abstracts, and what a union keeps.

Two abstracts are the same paper's when, letters and digits alone, one is nearly a beginning of
the other: pages cut abstracts off, lose hyphens, or drop a link.
"""

import hashlib
import heapq
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from rapidfuzz import fuzz

from retrieval.types import Paper, Record

SAME_PAPER = 92.0
"""Least similarity (0 to 100) of the shorter abstract to as long a beginning of the other."""

SHORT_ABSTRACT = 120
"""Letters below which only an exact copy counts as the same paper."""

_SHINGLE = 24
_SKETCHED_LETTERS = (100, 400)
"""Lengths of the beginnings that are sketched; a copy that was cut early shares the first."""
_SKETCH_SIZE = 8
_WORD = re.compile(r"\w+")


def letters(text: str) -> str:
    """The letters and digits of `text` alone, without case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in plain if character.isalnum())


def same_paper(left: str, right: str) -> bool:
    """Whether two abstracts, given as `letters`, are the same paper's."""
    shorter, longer = sorted((left, right), key=len)
    if len(shorter) < SHORT_ABSTRACT:
        return bool(shorter) and shorter == longer
    return fuzz.ratio(shorter, longer[: len(shorter)]) >= SAME_PAPER


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is compared of an abstract."""

    letters: str
    sketch: tuple[int, ...]
    """The smallest hashes of the shingles of its beginnings, which a cut copy shares."""


def fingerprint(abstract: str) -> Fingerprint:
    """The fingerprint of an abstract; min-wise hashing after Broder (1997)."""
    text = letters(abstract)
    hashes = (value for length in _SKETCHED_LETTERS for value in _sketch(text[:length].encode()))
    return Fingerprint(text, tuple(dict.fromkeys(hashes)))


def _sketch(beginning: bytes) -> list[int]:
    starts = range(max(1, len(beginning) - _SHINGLE + 1))
    return heapq.nsmallest(
        _SKETCH_SIZE, {zlib.crc32(beginning[at : at + _SHINGLE]) for at in starts}
    )


class DuplicateIndex:
    """Finds the keys of near-identical abstracts without comparing all pairs."""

    def __init__(self) -> None:
        """An empty index."""
        self._texts: dict[str, str] = {}
        self._keys_of_hash: dict[int, list[str]] = {}

    def add(self, key: str, added: Fingerprint) -> None:
        """Remember an abstract under `key`; a longer text of the same key replaces a shorter."""
        if len(added.letters) >= len(self._texts.get(key, "")):
            self._texts[key] = added.letters
        for value in added.sketch:
            keys = self._keys_of_hash.setdefault(value, [])
            if key not in keys:
                keys.append(key)

    def find(self, sought: Fingerprint) -> list[str]:
        """Keys of abstracts of the same paper, those that share most of the sketch first."""
        shared = Counter(
            key for value in sought.sketch for key in self._keys_of_hash.get(value, ())
        )
        return [
            key for key, _ in shared.most_common() if same_paper(sought.letters, self._texts[key])
        ]


def fold(records: Iterable[Record]) -> list[Record]:
    """One record for every paper, in the order of first appearance.

    Records with different given ids are different papers, whatever their text.
    """
    groups: list[list[Record]] = []
    group_of_id: dict[str, int] = {}
    index = DuplicateIndex()
    for record in records:
        mark = fingerprint(record.abstract)
        at = _group_for(record, mark, groups, group_of_id, index)
        if at == len(groups):
            groups.append([])
        groups[at].append(record)
        index.add(str(at), mark)
        if record.given_id:
            group_of_id[record.given_id] = at
    return [reduce(combine, group) for group in groups]


def _group_for(
    record: Record,
    sought: Fingerprint,
    groups: list[list[Record]],
    group_of_id: dict[str, int],
    index: DuplicateIndex,
) -> int:
    if record.given_id in group_of_id:
        return group_of_id[record.given_id]
    for key in index.find(sought):
        ids = {other.given_id for other in groups[int(key)]} - {""}
        if not record.given_id or not ids:
            return int(key)
    return len(groups)


def combine(first: Record, second: Record) -> Record:
    """The union of two records of one paper: the fuller text, and every field either has."""
    abstract = max(first.abstract, second.abstract, key=_fullness)
    return replace(
        first,
        abstract=abstract,
        title=first.title or second.title,
        authors=first.authors or second.authors,
        venue=first.venue or second.venue,
        year=first.year or second.year,
        decision=first.decision or second.decision,
        url=first.url or second.url,
        doi=first.doi or second.doi,
        given_id=first.given_id or second.given_id,
        sources=tuple(sorted({*first.sources, *second.sources}, key=lambda s: (s.file, s.line))),
    )


def _fullness(abstract: str) -> tuple[bool, int, str]:
    is_cut = abstract.rstrip().endswith(("…", "..."))
    return not is_cut, len(_WORD.findall(abstract)), abstract


def paper_of(record: Record) -> Paper:
    """The library's paper for a record; a paper without a given id gets a readable one."""
    return Paper(
        id=record.given_id or _readable_id(record),
        title=record.title,
        authors=record.authors,
        venue=record.venue,
        year=record.year,
        decision=record.decision,
        abstract=record.abstract,
        sources=record.sources,
        url=record.url,
        doi=record.doi,
        id_is_given=bool(record.given_id),
    )


def record_of(paper: Paper) -> Record:
    """The record that a paper amounts to, to be combined with new ones."""
    return Record(
        abstract=paper.abstract,
        sources=paper.sources,
        title=paper.title,
        authors=paper.authors,
        venue=paper.venue,
        year=paper.year,
        decision=paper.decision,
        url=paper.url,
        doi=paper.doi,
        given_id=paper.id if paper.id_is_given else "",
    )


def _readable_id(record: Record) -> str:
    """Six words of the title and a hash, so that papers of the same name stay apart."""
    shown = unicodedata.normalize("NFKD", record.title or record.abstract[:80]).lower()
    words = re.findall(r"[a-z0-9]+", shown.encode("ascii", "ignore").decode())[:6]
    identity = f"{letters(record.title)}|{letters(record.abstract)[:100]}"
    return "-".join([*words, hashlib.sha256(identity.encode()).hexdigest()[:8]])
