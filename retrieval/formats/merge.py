"""Merges records of the same paper: finds them by their signs and combines them.

Two abstracts are the same paper's if, compared by letters and digits, one is nearly a beginning of
the other: pages cut abstracts off, lose hyphens, or drop a link.
"""

import hashlib
import heapq
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any

from rapidfuzz import fuzz

from retrieval.formats.fields import PREPRINT, fuller_venue
from retrieval.text.names import BETWEEN_WORDS, folded, surname
from retrieval.types import Paper, Publication, Record, Source

SAME_PAPER = 92.0
"""Least similarity (0 to 100) of the shorter abstract and a beginning of the other as long."""

SHORT_ABSTRACT = 120
"""Letters below which only an exact copy counts as the same paper."""

_LONG_TITLE = 20
"""Letters from which title and an author tell a paper; shorter ones (`Editorial`) repeat."""
_LIKE_TITLE = 60.0
"""Similarity (0 to 100) below which titles are of different papers."""
_RELATED = 50.0
"""Similarity (0 to 100) of abstracts that have something in common; of 4,000 pairs of different
seeds none has more than 46."""
_MOST_COMPARED = 8
"""Records of one paper that a new record is compared with."""
_MOST_ALIKE = 50
"""Papers with a sign or some text in common that are compared; more share only boilerplate."""
_SHINGLE = 24
_SKETCHED_LETTERS = (100, 400)
"""Lengths of the beginnings that are sketched; a copy cut off early shares the first."""
_SKETCH_SIZE = 8
_WORD = re.compile(r"\w+")


def letters(text: str) -> str:
    """Only the letters and digits of `text`, without case and accents."""
    return BETWEEN_WORDS.sub("", unicodedata.normalize("NFKD", text.casefold()))


def same_paper(left: str, right: str) -> bool:
    """Whether two abstracts, given as `letters`, are the same paper's."""
    if min(len(left), len(right)) < SHORT_ABSTRACT:
        return bool(left) and left == right
    return _likeness(left, right) >= SAME_PAPER


def _likeness(left: str, right: str) -> float:
    """The similarity (0 to 100) of the shorter text and a beginning of the other as long."""
    shorter, longer = sorted((left, right), key=len)
    return fuzz.ratio(shorter, longer[: len(shorter)])


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
        self._texts: dict[str, str] = {}
        # The keys of a hash are a dictionary without values: a set that keeps its order.
        self._keys_of_hash: dict[int, dict[str, None]] = {}

    def add(self, key: str, added: Fingerprint) -> None:
        """Add an abstract under `key`; of several for the same key, the longest counts."""
        if len(added.letters) >= len(self._texts.get(key, "")):
            self._texts[key] = added.letters
        for value in added.sketch:
            keys = self._keys_of_hash.setdefault(value, {})
            if len(keys) < _MOST_ALIKE:
                keys[key] = None

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


@dataclass(frozen=True, slots=True)
class _Compared:
    """A record in the form in which it is compared."""

    record: Record
    title: str
    """Its letters."""
    mark: Fingerprint
    surnames: frozenset[str]
    """The last word of each surname: files differ in what they take for a particle."""


def _compared(record: Record) -> _Compared:
    names = record.publication.surnames or map(surname, record.authors)
    words = (folded(name).split() for name in names)
    last = frozenset(each[-1] for each in words if each)
    return _Compared(record, letters(record.title), fingerprint(record.abstract), last)


class PaperIndex:
    """Finds the papers that a record is a copy of.

    A DOI or an identifier of arXiv, title and authors, or the abstract say that two records are of
    one paper. Ids do not: reference managers number their records, and keys repeat. An equal id
    makes an equal long title, or an abstract alike, enough.
    """

    def __init__(self) -> None:
        self._papers: dict[str, list[_Compared]] = {}
        self._ids: dict[str, dict[str, str]] = {}
        """The ids that the files of a paper give it."""
        self._keys_of_sign: dict[tuple[str, str], dict[str, None]] = {}
        self._abstracts = DuplicateIndex()

    def add(self, key: str, record: Record, *, known_as: str = "") -> None:
        """Add a record of the paper `key`; `known_as` is an id of it that no file gives."""
        added = _compared(record)
        records = self._papers.setdefault(key, [])
        if len(records) < _MOST_COMPARED:
            records.append(added)
        if record.given_id:
            self._ids.setdefault(key, {}).update((s.file, record.given_id) for s in record.sources)
        for sign in (*_signs(added), ("id", known_as)):
            keys = self._keys_of_sign.setdefault(sign, {})
            if len(keys) < _MOST_ALIKE:
                keys[key] = None
        self._abstracts.add(key, added.mark)

    def find(
        self,
        record: Record,
        kinds: Sequence[str] = ("id", "doi", "title", "abstract"),
        wanted: Callable[[str], bool] = lambda _: True,
    ) -> Iterator[str]:
        """Keys of papers that the record is a copy of, by the kinds of signs in their order."""
        sought = _compared(record)
        for kind in kinds:
            if kind == "abstract":
                yield from self._by_abstract(sought, wanted)
            for sign in _signs(sought) if kind != "abstract" else ():
                for key in self._keys_of_sign.get(sign, ()) if sign[0] == kind else ():
                    others = self._papers[key] if wanted(key) else ()
                    if any(_AGREE[kind](sought, other) for other in others):
                        yield key

    def _by_abstract(self, sought: _Compared, wanted: Callable[[str], bool]) -> Iterator[str]:
        def may_be(key: str) -> bool:
            return wanted(key) and not self._are_told_apart(sought.record, key)

        for key in self._abstracts.find(sought.mark, may_be):
            if not any(_contradict(sought, other) for other in self._papers[key]):
                yield key

    def _are_told_apart(self, record: Record, key: str) -> bool:
        """Whether one file gives both an id, two different ones: then texts do not count."""
        given = self._ids.get(key, {})
        files = {source.file for source in record.sources}
        if not record.given_id or not given or not given.keys() <= files:
            return False
        return record.given_id not in given.values()


def signs_of(record: Record, known_as: str = "") -> list[str]:
    """Hashes of all that a copy of the record may share with it, to look copies up in an index.

    What `PaperIndex` finds shares at least one of them, and so does a record of the same name in
    one of its files; `known_as` is an id of it that no file gives.
    """
    compared = _compared(record)
    signs = [*_signs(compared), *(("name", f"{file} {name}") for file, name in names_of(record))]
    signs += [("abstract", str(value)) for value in compared.mark.sketch]
    if known_as:
        signs.append(("id", known_as))
    return [
        hashlib.blake2b(f"{kind} {value}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        for kind, value in dict.fromkeys(signs)
    ]


def names_of(record: Record) -> list[tuple[str, str]]:
    """The name of a record in each of its files: its title, or the beginning of its abstract."""
    name = letters(record.title) or letters(record.abstract)[:100]
    return [(source.file, name) for source in record.sources]


def _signs(compared: _Compared) -> Iterator[tuple[str, str]]:
    record = compared.record
    if record.given_id:
        yield "id", record.given_id
    if record.doi:
        yield "doi", record.doi.lower()
    if record.publication.arxiv:
        yield "doi", f"10.48550/arxiv.{record.publication.arxiv.lower()}"
    if compared.title:
        yield "title", compared.title


def _agree_with_id(left: _Compared, right: _Compared) -> bool:
    if left.title and left.title == right.title:
        if left.surnames and right.surnames:
            return not left.surnames.isdisjoint(right.surnames) and not _are_yearly(left, right)
        return len(left.title) >= _LONG_TITLE or _like_abstracts(left, right)
    return _like_abstracts(left, right) and not _titles_differ(left, right)


def _agree_with_doi(left: _Compared, right: _Compared) -> bool:
    return not _titles_differ(left, right) or _like_abstracts(left, right)


def _are_published(*both: _Compared) -> bool:
    """Whether both are known to be no preprints, which have DOIs of their own."""
    return all(each.record.publication.kind not in {"", PREPRINT} for each in both)


def _agree_with_title(left: _Compared, right: _Compared) -> bool:
    shared = len(left.surnames & right.surnames)
    if not shared or 2 * shared < min(len(left.surnames), len(right.surnames)):
        return False  # surveys share titles, and their many authors a common surname
    if _like_abstracts(left, right):
        return True
    if _are_published(left, right):
        is_other = dois_differ(left.record, right.record) or years_differ(left.record, right.record)
    else:
        arxiv = {each.record.publication.arxiv for each in (left, right)} - {""}
        is_other = len(arxiv) > 1 or _are_yearly(left, right)
    return len(left.title) >= _LONG_TITLE and not is_other


def _are_yearly(left: _Compared, right: _Compared) -> bool:
    """Whether years and texts differ: a report of every year has the same title and authors."""
    is_related = _likeness(left.mark.letters, right.mark.letters) >= _RELATED
    return years_differ(left.record, right.record) and not is_related


_AGREE = {"id": _agree_with_id, "doi": _agree_with_doi, "title": _agree_with_title}
"""Whether two records that share a sign are of one paper."""


def _contradict(left: _Compared, right: _Compared) -> bool:
    """Whether titles differ although the abstracts are alike, as those of corrections are."""
    is_short = len(left.mark.letters) < SHORT_ABSTRACT
    return (is_short or dois_differ(left.record, right.record)) and _titles_differ(left, right)


def dois_differ(left: Record, right: Record) -> bool:
    """Whether both have a DOI, and not the same."""
    return bool(left.doi and right.doi) and left.doi.lower() != right.doi.lower()


def years_differ(left: Record, right: Record) -> bool:
    """Whether both have a year, and not the same."""
    return bool(left.year and right.year) and left.year != right.year


def _titles_differ(left: _Compared, right: _Compared) -> bool:
    if not left.title or not right.title or left.title in right.title or right.title in left.title:
        return False
    return fuzz.ratio(left.title, right.title) < _LIKE_TITLE


def _like_abstracts(left: _Compared, right: _Compared) -> bool:
    return same_paper(left.mark.letters, right.mark.letters)


def fold(records: Iterable[Record]) -> list[Record]:
    """One record for every paper, in the order of first appearance; see `PaperIndex`."""
    groups: list[list[Record]] = []
    index = PaperIndex()
    for record in records:
        at = int(next(index.find(record), len(groups)))
        if at == len(groups):
            groups.append([])
        groups[at].append(record)
        index.add(str(at), record)
    return [_union(group) for group in groups]


def _union(group: Sequence[Record]) -> Record:
    places = {source for record in group for source in record.sources}
    united = reduce(combine, (replace(record, sources=()) for record in group))
    return replace(united, sources=_in_order(places))


def combine(first: Record, second: Record) -> Record:
    """The union of two records of one paper: the fuller text, and every field that either has."""
    names = max(first, second, key=_names_told)
    lead, rest = (second, first) if _appeared_later(first, second) else (first, second)
    return replace(
        first,
        abstract=max(first.abstract, second.abstract, key=_fullness),
        title=first.title or second.title,
        authors=names.authors,
        venue=fuller_venue(lead.venue, rest.venue),
        year=lead.year or rest.year,
        decision=first.decision or second.decision,
        url=first.url or second.url,
        doi=lead.doi or rest.doi,
        given_id=first.given_id or second.given_id,
        sources=_in_order({*first.sources, *second.sources}),
        publication=replace(
            _filled(lead.publication, rest.publication), surnames=names.publication.surnames
        ),
    )


def _names_told(record: Record) -> tuple[int, int, bool]:
    """More authors, then names written out rather than initials, are fuller."""
    told = sum(len(letters(name)) for name in record.authors)
    return len(record.authors), told, bool(record.publication.surnames)


def _appeared_later(first: Record, second: Record) -> bool:
    """Whether the first is the preprint of the second."""
    return first.publication.kind == PREPRINT and second.publication.kind not in {"", PREPRINT}


def _filled(first: Publication, second: Publication) -> Publication:
    return Publication(*(getattr(first, f.name) or getattr(second, f.name) for f in fields(first)))


def _in_order(places: Iterable[Source]) -> tuple[Source, ...]:
    return tuple(sorted(places, key=lambda place: (place.file, place.line)))


def _fullness(abstract: str) -> tuple[bool, int, str]:
    is_cut = abstract.rstrip().endswith(("…", "..."))
    return not is_cut, len(_WORD.findall(abstract)), abstract


def paper_of(record: Record) -> Paper:
    """The library's paper for a record; without a given id it gets a readable one."""
    id_ = record.given_id or readable_id(record)
    return Paper(id=id_, id_is_given=bool(record.given_id), **_shared(record))


def record_of(paper: Paper) -> Record:
    """The record of a paper, to be combined with new ones."""
    return Record(given_id=paper.id if paper.id_is_given else "", **_shared(paper))


def _shared(source: Record | Paper) -> dict[str, Any]:
    """The fields that records and papers have in common."""
    return {f.name: getattr(source, f.name) for f in fields(Record) if f.name != "given_id"}


def readable_id(record: Record) -> str:
    """Six words of the title and a hash, which separates papers of the same title."""
    shown = unicodedata.normalize("NFKD", record.title or record.abstract[:80]).lower()
    words = re.findall(r"[a-z0-9]+", shown.encode("ascii", "ignore").decode())[:6]
    identity = f"{letters(record.title)}|{letters(record.abstract)[:100]}"
    return "-".join([*words, hashlib.sha256(identity.encode()).hexdigest()[:8]])
