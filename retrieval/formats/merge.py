"""Merges records of the same paper: finds near-identical abstracts and combines their records.

Two abstracts are the same paper's if, compared by letters and digits, one is nearly a beginning of
the other: pages cut abstracts off, lose hyphens, or drop a link.
"""

import hashlib
import heapq
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from rapidfuzz import fuzz

from retrieval.types import Paper, Record, Source

SAME_PAPER = 92.0
"""Least similarity (0 to 100) of the shorter abstract and a beginning of the other as long."""

SHORT_ABSTRACT = 120
"""Letters below which only an exact copy counts as the same paper."""

_SHINGLE = 24
_SKETCHED_LETTERS = (100, 400)
"""Lengths of the beginnings that are sketched; a copy cut off early shares the first."""
_SKETCH_SIZE = 8
_WORD = re.compile(r"\w+")
_NO_LETTERS = re.compile(r"[\W_]+")


def letters(text: str) -> str:
    """Only the letters and digits of `text`, without case and accents."""
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKD", text.casefold()))


def same_paper(left: str, right: str) -> bool:
    """Whether two abstracts, given as `letters`, are the same paper's."""
    shorter, longer = sorted((left, right), key=len)
    if len(shorter) < SHORT_ABSTRACT:
        return bool(shorter) and shorter == longer
    return fuzz.ratio(shorter, longer[: len(shorter)]) >= SAME_PAPER


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """An abstract in the form in which it is compared."""

    letters: str
    sketch: tuple[int, ...]
    """The smallest hashes of the shingles of its beginnings; a cut copy shares them."""


def fingerprint(abstract: str) -> Fingerprint:
    """The fingerprint of an abstract; min-wise hashing after Broder (1997)."""
    text = letters(abstract)
    shortest, longest = (text[:length].encode() for length in _SKETCHED_LETTERS)
    hashes = [zlib.crc32(longest[at : at + _SHINGLE]) for at in range(_shingles(longest))]
    sketches = (_smallest(hashes[: _shingles(shortest)]), _smallest(hashes))
    return Fingerprint(text, tuple(dict.fromkeys(value for each in sketches for value in each)))


def _shingles(beginning: bytes) -> int:
    return max(1, len(beginning) - _SHINGLE + 1)


def _smallest(hashes: Sequence[int]) -> list[int]:
    return heapq.nsmallest(_SKETCH_SIZE, set(hashes))


class DuplicateIndex:
    """Finds the keys of near-identical abstracts without comparing all pairs."""

    def __init__(self) -> None:
        """An empty index."""
        self._texts: dict[str, str] = {}
        # The keys of a hash are a dictionary without values: a set that keeps its order.
        self._keys_of_hash: dict[int, dict[str, None]] = {}

    def add(self, key: str, added: Fingerprint) -> None:
        """Add an abstract under `key`; of several for the same key, the longest counts."""
        if len(added.letters) >= len(self._texts.get(key, "")):
            self._texts[key] = added.letters
        for value in added.sketch:
            self._keys_of_hash.setdefault(value, {})[key] = None

    def find(
        self, sought: Fingerprint, wanted: Callable[[str], bool] = lambda _: True
    ) -> list[str]:
        """Keys of abstracts of the same paper, those that share most hashes first.

        Args:
            sought: the abstract.
            wanted: which keys to compare.
        """
        shared = Counter(
            key for value in sought.sketch for key in self._keys_of_hash.get(value, ())
        )
        return [
            key
            for key, _ in shared.most_common()
            if wanted(key) and same_paper(sought.letters, self._texts[key])
        ]


def fold(records: Iterable[Record]) -> list[Record]:
    """One record for every paper, in the order of first appearance.

    Records with different given ids are different papers, whatever their text.
    """
    groups = _Groups()
    for record in records:
        groups.add(record)
    return [_union(group) for group in groups.members]


class _Groups:
    """Groups records by paper, with at most one given id a group."""

    def __init__(self) -> None:
        self.members: list[list[Record]] = []
        self._group_of_id: dict[str, int] = {}
        self._has_id: set[str] = set()
        self._all = DuplicateIndex()
        # A record with an id is compared only with groups without one: there is one of these a
        # text, while thousands of papers with ids may share a text.
        self._open = DuplicateIndex()

    def add(self, record: Record) -> None:
        """Add a record to the group of its paper."""
        mark = fingerprint(record.abstract)
        at = self._group_for(record, mark)
        if at == len(self.members):
            self.members.append([])
        self.members[at].append(record)
        if record.given_id:
            self._group_of_id[record.given_id] = at
            self._has_id.add(str(at))
        self._all.add(str(at), mark)
        if str(at) not in self._has_id:
            self._open.add(str(at), mark)

    def _group_for(self, record: Record, mark: Fingerprint) -> int:
        if record.given_id in self._group_of_id:
            return self._group_of_id[record.given_id]
        if record.given_id:
            found = self._open.find(mark, lambda key: key not in self._has_id)
        else:
            found = self._all.find(mark)
        return int(found[0]) if found else len(self.members)


def _union(group: Sequence[Record]) -> Record:
    """The union of all records of one paper."""
    places = {source for record in group for source in record.sources}
    united = reduce(combine, (replace(record, sources=()) for record in group))
    return replace(united, sources=_in_order(places))


def combine(first: Record, second: Record) -> Record:
    """The union of two records of one paper: the fuller text, and every field that either has."""
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
        sources=_in_order({*first.sources, *second.sources}),
    )


def _in_order(places: Iterable[Source]) -> tuple[Source, ...]:
    return tuple(sorted(places, key=lambda place: (place.file, place.line)))


def _fullness(abstract: str) -> tuple[bool, int, str]:
    is_cut = abstract.rstrip().endswith(("…", "..."))
    return not is_cut, len(_WORD.findall(abstract)), abstract


def paper_of(record: Record) -> Paper:
    """The library's paper for a record; without a given id it gets a readable one."""
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
    """The record of a paper, to be combined with new ones."""
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
    """Six words of the title and a hash, which separates papers of the same title."""
    shown = unicodedata.normalize("NFKD", record.title or record.abstract[:80]).lower()
    words = re.findall(r"[a-z0-9]+", shown.encode("ascii", "ignore").decode())[:6]
    identity = f"{letters(record.title)}|{letters(record.abstract)[:100]}"
    return "-".join([*words, hashlib.sha256(identity.encode()).hexdigest()[:8]])
