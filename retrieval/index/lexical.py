"""The lexical index over papers, derived from the store: built, opened, searched.

It ranks by BM25 over title and abstract together; a query is the OR of its terms. It also has the
records (names, venues, years, decisions), the titles and the nicknames of methods, so that filters
and lookup need not load the papers. This module and `lexical_fields` alone import tantivy.
"""

import json
import math
import shutil
import threading
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import tantivy
from tantivy import Occur, Query

from retrieval.index.files import checksum
from retrieval.index.lexical_fields import (
    INDEX_VERSION,
    Card,
    document,
    opened_index,
    pieces,
    read_card,
    schema,
    text_analyzer,
    word_analyzer,
)
from retrieval.text.names import name_terms
from retrieval.types import Filters, LibraryError, Paper

MOST_TERMS = 300
"""Most different words of a query that are searched for."""

_STAMP = "revision"
_IDS = "ids.json"
_WRITER_BYTES = 64_000_000
_SHORT_WORD = 4
"""Letters below which a word must match exactly."""
_LONG_ENOUGH = 6
"""Letters from which a word of a topic may be misspelled."""
_LONG_WORD = 8
"""Letters from which a word may have two wrong letters."""
_LIKE_TITLE = 5.0
"""Score of a word that is only similar to one of a title; a rare word has more."""
_INTRODUCED, _NICKNAMED = 3.0, 1.5
"""Weights of a nickname for papers that introduce it, and for those that mention it."""
_MOST_WITH_KEY = 10_000
_RARE, _FEW = 20, 3
"""One text in how many may have a rare word; texts that may have it in a small library."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """The state of an index when it was opened."""

    stamp: str
    searcher: tantivy.Searcher
    ids: list[str]
    """Ids of all papers by number: loading documents would take longer than the search."""

    def ids_of(self, addresses: list[tantivy.DocAddress]) -> list[str]:
        numbers = self.searcher.fast_field_values("number", addresses)
        return [self.ids[int(number)] for number in numbers if number is not None]

    def cards(self, query: Query, limit: int) -> list[Card]:
        hits = self.searcher.search(query, limit, count=False).hits
        return [read_card(self.searcher.doc(address)["card"][0]) for _, address in hits]


class LexicalIndex:
    """An index in a folder; it can be rebuilt from the papers at any time.

    Methods that read it raise `LibraryError` if it cannot be read; see `revision`.
    """

    def __init__(self, folder: Path) -> None:
        """Open the index in `folder`; `revision` says whether it is up to date."""
        self._folder = folder
        self._schema, self._text, self._words = schema(), text_analyzer(), word_analyzer()
        self._opened: _Opened | None = None
        self._changing = threading.Lock()
        """Held while the index is opened or replaced."""

    @property
    def revision(self) -> str:
        """The revision of the library that the index was built from; empty if it must be built."""
        try:
            return self._usable().stamp.split(" ", 2)[2]
        except (OSError, ValueError):
            return ""

    def rebuild(self, papers: Iterable[Paper], revision: str) -> None:
        """Index `papers` anew; the new index replaces the old one once it is whole.

        Raises `LibraryError` if the folder cannot be written.
        """
        new = self._folder.with_name(f"{self._folder.name}.new")
        try:
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
            self._fill(new, papers)
            stamp = f"{INDEX_VERSION} {_checksum_of(new)} {revision}"
            (new / _STAMP).write_text(stamp, "utf-8")
            with self._changing:
                shutil.rmtree(self._folder, ignore_errors=True)
                new.rename(self._folder)
                self._opened = None
        except (OSError, ValueError) as error:
            raise LibraryError(
                f"The lexical index in {self._folder} cannot be written ({error}); "
                "check that the folder is writable and the disk has room."
            ) from error

    def search(
        self, query: str, limit: int, filters: Filters | None = None
    ) -> list[tuple[str, float]]:
        """Ids of the papers that match best, with their BM25 scores, best first.

        Pieces of words are matched (see `pieces`); a word that a query repeats counts each time.
        Filters leave papers out and change no score.
        """
        weights: dict[str, int] = {}
        for term, count in islice(Counter(self._text.analyze(query)).items(), MOST_TERMS):
            for piece in pieces([term]):
                weights[piece] = max(count, weights.get(piece, 0))
        terms = [self._weighted("pieces", piece, float(n)) for piece, n in weights.items()]
        return self._ids(_joined(Occur.Should, terms), limit, filters) if terms else []

    def covered(
        self, topic: str, limit: int, filters: Filters | None = None
    ) -> list[tuple[str, float]]:
        """Ids of papers whose text has words of `topic`, with the share of it that they cover.

        Words are weighted by inverse document frequency. If no text has a word, similar words count
        instead.
        """
        weights = {term: self._rarity(term) for term in self.terms(topic)}
        if not weights:
            return []
        words = [Query.const_score_query(self._text_word(term), w) for term, w in weights.items()]
        total = sum(weights.values())
        found = self._ids(_joined(Occur.Should, words), limit, filters)
        return [(id_, min(score / total, 1.0)) for id_, score in found]

    def with_rare_words(
        self, question: str, filters: Filters | None = None, *, also: Sequence[Paper] = ()
    ) -> int:
        """Number of papers that have a rare word of `question`, and of those in `also`.

        A word is rare if at most one text in `_RARE` has it. Filters leave out papers, but none of
        `also`. Papers are counted, not read.
        """
        searcher = self._reading().searcher
        most = max(_FEW, self.size // _RARE)
        rare = [word for word in self.terms(question) if searcher.doc_freq("text", word) <= most]
        having = [Query.term_query(self._schema, "text", word) for word in rare]
        query = self._filtered(_joined(Occur.Should, having), filters)
        matched = (searcher.search(query, 1).count or 0) if having else 0
        texts = (self._text.analyze(f"{each.title}. {each.abstract}") for each in also)
        return matched + sum(set(rare).isdisjoint(text) for text in texts)

    def titled(
        self, words: Sequence[str], names: Sequence[str], limit: int, filters: Filters | None = None
    ) -> list[Card]:
        """Papers with `words` or similar ones in their title, or with a nickname of `names`.

        The best match comes first.
        """
        clauses = [self._title_word(word) for word in words[:MOST_TERMS]]
        for name in names[:MOST_TERMS]:
            for field, weight in (("introduced", _INTRODUCED), ("nickname", _NICKNAMED)):
                clauses.append(self._weighted(field, name, weight))
        wanted = self._filtered(_joined(Occur.Should, clauses), filters)
        return self._reading().cards(wanted, limit) if clauses else []

    def matching(self, filters: Filters, limit: int) -> list[str]:
        """Ids of the papers that pass the filters, the latest first."""
        opened = self._reading()
        wanted = self._filtered(Query.all_query(), filters)
        found = opened.searcher.search(wanted, limit, count=False, order_by_field="when")
        return opened.ids_of([address for _, address in found.hits])

    def papers_with_key(self, key: str) -> list[str]:
        """Ids of the papers with the base citation key `key`, in alphabetical order."""
        return self._having("key", key, _MOST_WITH_KEY)

    def terms(self, text: str) -> list[str]:
        """The different words of `text`, analysed like texts: stemmed, without stop words."""
        return list(dict.fromkeys(self._text.analyze(text)))[:MOST_TERMS]

    def title_words(self, text: str) -> list[str]:
        """The different words of `text`, analysed like titles."""
        return list(dict.fromkeys(self._words.analyze(text)))[:MOST_TERMS]

    def titles_with(self, start: str, limit: int) -> list[str]:
        """Titles that have the words of `start` in a row, the last one perhaps only begun."""
        if not (words := self._words.analyze(start)[:MOST_TERMS]):
            return []
        phrase = Query.phrase_prefix_query(self._schema, "title", list(words))
        return [card.title for card in self._reading().cards(phrase, limit)]

    @property
    def ids(self) -> list[str]:
        """The ids of all papers."""
        return list(self._reading().ids)

    @property
    def size(self) -> int:
        """Number of papers."""
        return len(self._reading().ids)

    def texts_with(self, word: str) -> int:
        """Number of papers with `word` in title or abstract; all of them for a stop word."""
        searcher = self._reading().searcher
        having = (searcher.doc_freq("text", term) for term in self.terms(word))
        return min(having, default=self.size)

    def terms_starting(self, start: str) -> dict[str, int]:
        """The stems of texts that start with `start`, with the number of papers that have each."""
        return dict(self._reading().searcher.terms_with_prefix("text", start))

    def nicknamed(self, name: str) -> int:
        """Number of papers that introduce or mention a nickname (joined)."""
        return self._reading().searcher.doc_freq("nickname", name)

    def introducing(self, name: str, limit: int) -> list[str]:
        """Ids of the papers that introduce a nickname (joined)."""
        return self._having("introduced", name, limit)

    def is_name_word(self, word: str) -> bool:
        """Whether an author's name has this folded word."""
        return self._reading().searcher.doc_freq("author", word) > 0

    def names_starting(self, start: str) -> list[str]:
        """The indexed names that start with `start`."""
        return [name for name, _ in self._reading().searcher.terms_with_prefix("name", start)]

    def names_like(self, name: str, limit: int = 50) -> list[str]:
        """All authors of papers with a name at most two letters from `name` (in indexed form)."""
        return self._names_of(Query.fuzzy_term_query(self._schema, "name", name, 2), limit)

    def names_with_word_like(self, word: str, limit: int = 100) -> list[str]:
        """All authors of papers with a name that has a word similar to `word`."""
        return self._names_of(self._like("author", word), limit)

    def values(self, field: str) -> list[str]:
        """The different values of `venue`, `year` or `decision`, in alphabetical order."""
        return list(self.counts(field))

    def counts(self, field: str) -> dict[str, int]:
        """Number of papers with each value of `venue`, `year` or `decision`."""
        found = self._reading().searcher.terms_with_prefix(field, "")
        return {value: papers for value, papers in sorted(found) if value}

    def _having(self, field: str, value: str, limit: int) -> list[str]:
        having = Query.term_query(self._schema, field, value)
        return sorted(id_ for id_, _ in self._ids(having, limit, None))

    def _names_of(self, query: Query, limit: int) -> list[str]:
        authors = {name for card in self._reading().cards(query, limit) for name in card.authors}
        return sorted({term for name in authors for term in name_terms(name)})

    def _ids(self, query: Query, limit: int, filters: Filters | None) -> list[tuple[str, float]]:
        opened = self._reading()
        hits = opened.searcher.search(self._filtered(query, filters), limit, count=False).hits
        ids = opened.ids_of([address for _, address in hits])
        return [(id_, float(score)) for id_, (score, _) in zip(ids, hits, strict=True)]

    def _filtered(self, query: Query, filters: Filters | None) -> Query:
        """`query` restricted to papers that pass the filters; scores do not change."""
        if not filters:
            return query
        passing = [Query.const_score_query(each, 0.0) for each in self._conditions(filters)]
        left_out = [
            *(_joined(Occur.Must, self._conditions(each)) for each in filters.excluded),
            *filter(None, map(self._phrase, filters.excluded_words)),
        ]
        required = [(Occur.Must, each) for each in (query, *passing)]
        return Query.boolean_query([*required, *((Occur.MustNot, each) for each in left_out)])

    def _conditions(self, filters: Filters) -> list[Query]:
        """One query for each condition on the record."""
        wanted = (
            *(("name", list(names)) for names in filters.authors),
            ("venue", list(filters.venues)),
            ("year", [str(year) for year in filters.years]),
            ("decision", list(filters.decisions)),
        )
        return [
            Query.term_set_query(self._schema, field, values) for field, values in wanted if values
        ]

    def _phrase(self, words: str) -> Query | None:
        """A query for texts with the words in this order; None if all are stop words."""
        terms = self._text.analyze(words)[:MOST_TERMS]
        if len(terms) < 2:  # noqa: PLR2004 - tantivy refuses a phrase of one word
            return Query.term_query(self._schema, "text", terms[0]) if terms else None
        dropped = max(0, len(words.split()) - len(terms))  # stop words leave gaps
        return Query.phrase_query(self._schema, "text", list(terms), dropped)

    def _rarity(self, term: str) -> float:
        """The inverse document frequency of a term, as in BM25."""
        searcher = self._reading().searcher
        having = searcher.doc_freq("text", term)
        return math.log(1 + (searcher.num_docs - having + 0.5) / (having + 0.5))

    def _weighted(self, field: str, term: str, weight: float) -> Query:
        having = Query.term_query(self._schema, field, term)
        return having if weight == 1 else Query.boost_query(having, weight)

    def _text_word(self, term: str) -> Query:
        if len(term) >= _LONG_ENOUGH and not self._reading().searcher.doc_freq("text", term):
            return self._like("text", term)
        return Query.term_query(self._schema, "text", term)

    def _title_word(self, word: str) -> Query:
        spelled = Query.term_query(self._schema, "title", word)
        titles = self._reading().searcher.doc_freq("title", word)
        # A word of many titles is no misspelling, and similar words cost time.
        if len(word) < _SHORT_WORD or word.isdecimal() or titles > max(3, self.size // 1000):
            return spelled
        like = Query.const_score_query(self._like("title", word), _LIKE_TITLE)
        return Query.disjunction_max_query([spelled, like])

    def _like(self, field: str, word: str) -> Query:
        distance = 2 if len(word) >= _LONG_WORD else 1
        return Query.fuzzy_term_query(self._schema, field, word, distance)

    def _reading(self) -> _Opened:
        try:
            return self._opened or self._usable()
        except (OSError, ValueError) as error:
            raise LibraryError(
                f"The lexical index in {self._folder} cannot be read ({error}); search again."
            ) from error

    def _usable(self) -> _Opened:
        """The index, opened again if another process has rebuilt it.

        Raises `OSError` if there is no index, and `ValueError` if it has another version, or its
        files are missing or damaged.
        """
        with self._changing:
            stamp = (self._folder / _STAMP).read_text("utf-8")
            if self._opened is None or self._opened.stamp != stamp:
                version, crc, _ = stamp.split(" ", 2)
                if version != INDEX_VERSION:
                    raise ValueError("another version of this program made it")
                # Of missing files tantivy would make an empty index; damaged ones can crash it.
                if crc != str(_checksum_of(self._folder)):
                    raise ValueError("its files are damaged")
                index = opened_index(self._schema, self._folder, create=False)
                ids = json.loads((self._folder / _IDS).read_text("utf-8"))
                self._opened = _Opened(stamp, index.searcher(), ids)
            return self._opened

    def _fill(self, folder: Path, papers: Iterable[Paper]) -> None:
        writer = opened_index(self._schema, folder, create=True).writer(_WRITER_BYTES, 1)
        ids: list[str] = []
        for paper in papers:
            writer.add_document(document(paper, len(ids), self._text))
            ids.append(paper.id)
        writer.commit()
        writer.wait_merging_threads()
        (folder / _IDS).write_text(json.dumps(ids), "utf-8")


def _checksum_of(folder: Path) -> int:
    """The checksum of the files of an index, which do not change once it is built."""
    files = sorted(file for file in folder.iterdir() if file.suffix != ".lock")
    names = [f"{file.name} {checksum(file)}" for file in files if file.name != _STAMP]
    return zlib.crc32("\n".join(names).encode())


def _joined(occur: Occur, queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(occur, query) for query in queries])
