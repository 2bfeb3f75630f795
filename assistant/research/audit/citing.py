"""Finds the papers of the library that a draft cites, by key, by bibliography, by authors and year.

A key is one that the product exports, or one of the bibliography beside the draft.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice

from assistant.research.audit.marks import CitedWork
from retrieval.formats.bibtex import references
from retrieval.formats.citation_keys import base_key, citation_keys
from retrieval.library.library import Library
from retrieval.query.lookup import SURE_TITLE
from retrieval.query.people import surnamed
from retrieval.text.names import folded, name_words, surname
from retrieval.text.titles import plain_title, whole_likeness
from retrieval.types import Filters, InputError, Paper, Record

_MOST = 200
"""Papers that a mark may mean: several of the same authors and year."""
_CANDIDATES = 20
_LONGEST_SUFFIX = 3
"""Letters and digits that tell papers with the same base key apart: `b`, `z12`."""


def read_bibliography(text: str) -> tuple[dict[str, Record], list[str]]:
    """The entries of BibTeX by their keys, and a sentence on each that cannot be read.

    Raises:
        InputError: there are none.
    """
    found, broken = references(text)
    if not found:
        raise InputError("The bibliography has no entry of BibTeX; give the draft's .bib file.")
    return found, [f"Line {each.line} of the bibliography: {each.reason}." for each in broken]


class Resolver:
    """Finds the papers behind citations in one library."""

    def __init__(self, library: Library, bibliography: Mapping[str, Record] | None = None) -> None:
        """Use `bibliography`, the entries that belong to the draft, by key."""
        self._library = library
        self._bibliography = bibliography or {}
        self.papers = lru_cache(maxsize=512)(self._resolved)
        """The papers that a citation may mean; none if it is not here."""

    def keys(self, papers: Sequence[Paper]) -> dict[str, str]:
        """The citation key of each paper by its id: the bibliography's own, or the library's."""
        keys = citation_keys(papers, self._library.lexical.papers_with_key)
        return {id_: self._own_keys.get(id_, key) for id_, key in keys.items()}

    @cached_property
    def _own_keys(self) -> dict[str, str]:
        """The bibliography's key of each of its papers that is here."""
        entries = self._bibliography.items()
        return {paper.id: key for key, entry in entries for paper in self._of_record(entry)}

    def _resolved(self, work: CitedWork) -> tuple[Paper, ...]:
        if not work.key:
            return self._by_people(work.names, work.year)
        if record := self._bibliography.get(work.key) or self._by_lower_key.get(work.key.lower()):
            return self._of_record(record)
        return self._with_key(work.key) or self._with_key(work.key.lower())

    @cached_property
    def _by_lower_key(self) -> dict[str, Record]:
        """The bibliography; BibTeX does not tell `Smith2023` from `smith2023`."""
        return {key.lower(): entry for key, entry in self._bibliography.items()}

    def _of_record(self, record: Record) -> tuple[Paper, ...]:
        """The paper with the DOI or the title of an entry."""
        words = self._library.lexical.title_words(record.title)
        cards = self._library.lexical.titled(words, [], _CANDIDATES) if words else []
        title = plain_title(record.title)
        near = [c for c in cards if whole_likeness(title, plain_title(c.title)) >= SURE_TITLE]
        papers = self._read([card.id for card in near or cards])
        same = [paper for paper in papers if record.doi and paper.doi.lower() == record.doi]
        return tuple(same or (papers if near else []))[:1]

    def _with_key(self, key: str) -> tuple[Paper, ...]:
        bases = [key, *(key[:-cut] for cut in range(1, min(_LONGEST_SUFFIX, len(key) - 1) + 1))]
        for base in bases:
            papers = self._read(self._library.lexical.papers_with_key(base))
            known = citation_keys(papers, self._library.lexical.papers_with_key)
            exact = tuple(paper for paper in papers if known[paper.id] == key)
            same = tuple(p for p in papers if base == key and base_key(p) == key)
            if exact or same:
                return (exact or same)[:_MOST]
        return ()

    def _by_people(self, names: Sequence[str], year: int | None) -> tuple[Paper, ...]:
        """Papers of these authors, the first one first; of the year, or without one.

        A mark without a year (*in press*) means papers of any.
        """
        index = self._library.lexical
        authors = tuple(surnamed(name_words(name) or [name], index) for name in names)
        if not authors or not all(authors):
            return ()
        dated = index.matching(Filters(authors=authors, years=(year,) if year else ()), index.size)
        if found := self._led_by(names[0], dated):
            return found
        others = self._led_by(names[0], index.matching(Filters(authors=authors), index.size))
        return tuple(paper for paper in others if paper.year is None)

    def _led_by(self, name: str, ids: Sequence[str]) -> tuple[Paper, ...]:
        """The papers whose first author has this surname, or its last words: *Oord*."""
        typed = folded(name).split()
        papers = (each for each in self._read(ids) if each.authors)
        led = (p for p in papers if folded(surname(p.authors[0])).split()[-len(typed) :] == typed)
        return tuple(islice(led, _MOST))

    def _read(self, ids: Sequence[str]) -> list[Paper]:
        stored = self._library.store.stored_by_id(list(ids))
        return [stored[id_].paper for id_ in ids if id_ in stored]
