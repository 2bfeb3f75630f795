"""The lexical index over papers, derived from the store: built, updated, opened, searched.

It ranks by BM25 over title and abstract together; a query is the OR of its terms. It also has the
records (names, venues, years, decisions), the titles and the nicknames of methods, so that filters
and lookup need not load the papers. This module and `lexical_fields` alone import tantivy.
"""

import json
import math
import os
import shutil
import threading
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

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

_STEMS = 50_000
"""Words whose stems are kept."""
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
_FEW_PAPERS = 10
"""A word that a library of this size lacks says half as much as in a large one."""
_RARE, _FEW = 20, 3
"""One text in how many may have a rare word; texts that may have it in a small library."""
_MOST_SHARING = 100
"""Papers that may be copies of a record; more share only boilerplate."""
_MOST_DELETED = 0.05
"""Share of deleted papers up to which an index is updated: they count in the scores of words."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """The state of an index when it was opened."""

    stamp: str
    searcher: tantivy.Searcher
    ids: list[str | None]
    """Ids of all papers by number, None for a deleted one: to load documents would take longer."""

    @property
    def has_deleted(self) -> bool:
        """Whether counts of words include deleted papers."""
        return int(self.searcher.num_docs) < len(self.ids)

    def ids_of(self, addresses: list[tantivy.DocAddress]) -> list[str]:
        numbers = self.searcher.fast_field_values("number", addresses)
        ids = (self.ids[int(number)] for number in numbers if number is not None)
        return [id_ for id_ in ids if id_ is not None]

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
        self.stem = lru_cache(maxsize=_STEMS)(self._stem)
        """The term of a single word; empty for a stop word."""
        self._known: dict[tuple[str, int, int, int], int] = {}
        """Checksums of files, which are read once: they do not change after they are written."""

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
        self._replace(papers, (), [], revision)

    def can_update(self, touched: Collection[str]) -> bool:
        """Whether to update the index for these papers; else rebuild it."""
        ids = self._reading().ids
        deleted = sum(id_ is None or id_ in touched for id_ in ids)
        return bool(ids) and deleted <= len(ids) * _MOST_DELETED

    def update(self, papers: Iterable[Paper], touched: Collection[str], revision: str) -> None:
        """Index only the `touched` papers again; `papers` are those of them that still exist.

        Until it is whole, the index before stays. Raises `LibraryError` if it cannot be read or
        written.
        """
        ids = [None if id_ in touched else id_ for id_ in self._reading().ids]
        self._replace(papers, touched, ids, revision)

    def _replace(
        self,
        papers: Iterable[Paper],
        touched: Collection[str],
        ids: list[str | None],
        revision: str,
    ) -> None:
        """Replace the index by one of `papers`, after the papers with `ids` of the one before."""
        new = self._folder.with_name(f"{self._folder.name}.new")
        try:
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
            if ids:
                self._link_files(new)
            self._fill(new, papers, touched, ids)
            stamp = f"{INDEX_VERSION} {self._checksum_of(new)} {revision}"
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
        weights = {term: self.rarity(term) for term in self.terms(topic)}
        if not weights:
            return []
        words = [Query.const_score_query(self._text_word(term), w) for term, w in weights.items()]
        total = sum(weights.values())
        found = self._ids(_joined(Occur.Should, words), limit, filters)
        return [(id_, min(score / total, 1.0)) for id_, score in found]

    def unknown_share(self, text: str) -> float:
        """The share of a text's words that no paper has, in [0, 1]; 0 for a text of none.

        A long word counts as known if a paper has one that differs in a letter: papers write
        `recognize` where a question writes `recognise`.

        Words are weighted by their squared inverse document frequency, as in the length of a TF-IDF
        vector (Salton and Buckley 1988). A few papers lack many common words, so the share is
        lowered for them.
        """
        weights = {term: self.rarity(term) ** 2 for term in self.terms(text)}
        unknown = sum(weight for term, weight in weights.items() if not self._is_known(term))
        trust = self.size / (self.size + _FEW_PAPERS)
        return trust * unknown / sum(weights.values()) if weights else 0.0

    def _is_known(self, term: str) -> bool:
        if self._frequency("text", term):
            return True
        like = Query.fuzzy_term_query(self._schema, "text", term, 1)
        return len(term) >= _LONG_WORD and _counted(self._reading().searcher, like) > 0

    def with_rare_words(
        self, question: str, filters: Filters | None = None, *, also: Sequence[Paper] = ()
    ) -> int:
        """Number of papers that have a rare word of `question`, and of those in `also`.

        A word is rare if at most one text in `_RARE` has it. Filters leave out papers, but none of
        `also`. Papers are counted, not read.
        """
        most = max(_FEW, self.size // _RARE)
        rare = [word for word in self.terms(question) if self._frequency("text", word) <= most]
        having = [Query.term_query(self._schema, "text", word) for word in rare]
        query = self._filtered(_joined(Occur.Should, having), filters)
        matched = _counted(self._reading().searcher, query) if having else 0
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

    def sharing(self, signs: Sequence[str]) -> list[str]:
        """Ids of papers that have any of the signs, those that share most of them first."""
        each = [Query.term_query(self._schema, "sign", sign) for sign in signs]
        once = [Query.const_score_query(query, 1.0) for query in each]
        return [id_ for id_, _ in self._ids(_joined(Occur.Should, once), _MOST_SHARING, None)]

    def terms(self, text: str) -> list[str]:
        """The different words of `text`, analysed like texts: stemmed, without stop words."""
        return list(dict.fromkeys(self._text.analyze(text)))[:MOST_TERMS]

    def _stem(self, word: str) -> str:
        return next(iter(self.terms(word)), "")

    def share(self, topic: str, text: str) -> float:
        """The share of `topic` that a text has, by inverse document frequency of its words."""
        weights = {term: self.rarity(term) for term in self.terms(topic)}
        had = sum(weights[term] for term in weights.keys() & set(self.terms(text)))
        return had / (sum(weights.values()) or 1.0)

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
        return [id_ for id_ in self._reading().ids if id_ is not None]

    @property
    def size(self) -> int:
        """Number of papers."""
        return int(self._reading().searcher.num_docs)

    def texts_with(self, word: str) -> int:
        """Number of papers with `word` in title or abstract; all of them for a stop word."""
        having = (self._frequency("text", term) for term in self.terms(word))
        return min(having, default=self.size)

    def terms_starting(self, start: str) -> dict[str, int]:
        """The stems of texts that start with `start`, with the number of papers that have each."""
        return self._starting("text", start)

    def title_words_starting(self, start: str) -> dict[str, int]:
        """The words of titles that start with `start`, with the number of papers that have each."""
        return self._starting("title", start)

    def nicknamed(self, name: str) -> int:
        """Number of papers that introduce or mention a nickname (joined)."""
        return self._frequency("nickname", name)

    def introducing(self, name: str, limit: int) -> list[str]:
        """Ids of the papers that introduce a nickname (joined)."""
        return self._having("introduced", name, limit)

    def is_name_word(self, word: str) -> bool:
        """Whether an author's name has this folded word."""
        return self._frequency("author", word) > 0

    def names_starting(self, start: str) -> list[str]:
        """The indexed names that start with `start`."""
        return list(self._starting("name", start))

    def names_like(self, name: str, limit: int = 50) -> list[str]:
        """All authors of papers with a name at most two letters from `name` (in indexed form)."""
        return self._names_of(Query.fuzzy_term_query(self._schema, "name", name, 2), limit)

    def names_with_word_like(self, word: str, limit: int = 100) -> list[str]:
        """All authors of papers with a name that has a word similar to `word`."""
        return self._names_of(self._like("author", word), limit)

    def values(self, field: str) -> list[str]:
        """The different values of `venue`, `year` or `decision`, in alphabetical order."""
        return sorted(filter(None, self._starting(field, "")))

    def _starting(self, field: str, start: str) -> dict[str, int]:
        """The terms of a field that start with `start`, with the number of papers with each."""
        opened = self._reading()
        found = dict(opened.searcher.terms_with_prefix(field, start))
        if opened.has_deleted:
            found = {term: self._frequency(field, term) for term in found}
        return {term: papers for term, papers in found.items() if papers}

    def _frequency(self, field: str, term: str) -> int:
        opened = self._reading()
        if not opened.has_deleted:
            return int(opened.searcher.doc_freq(field, term))
        having = Query.term_query(self._schema, field, term)
        return _counted(opened.searcher, having)

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

    def rarity(self, term: str) -> float:
        """The inverse document frequency of a term, as in BM25."""
        having = self._frequency("text", term)
        return math.log(1 + (self.size - having + 0.5) / (having + 0.5))

    def _weighted(self, field: str, term: str, weight: float) -> Query:
        having = Query.term_query(self._schema, field, term)
        return having if weight == 1 else Query.boost_query(having, weight)

    def _text_word(self, term: str) -> Query:
        if len(term) >= _LONG_ENOUGH and not self._frequency("text", term):
            return self._like("text", term)
        return Query.term_query(self._schema, "text", term)

    def _title_word(self, word: str) -> Query:
        spelled = Query.term_query(self._schema, "title", word)
        titles = self._frequency("title", word)
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
                if crc != str(self._checksum_of(self._folder)):
                    raise ValueError("its files are damaged")
                index = opened_index(self._schema, self._folder, create=False)
                ids = json.loads((self._folder / _IDS).read_text("utf-8"))
                self._opened = _Opened(stamp, index.searcher(), ids)
            return self._opened

    def _link_files(self, new: Path) -> None:
        """Give `new` the files of the index: tantivy adds and replaces files, and changes none."""
        for file in self._folder.iterdir():
            if file.suffix != ".lock" and file.name not in {_STAMP, _IDS}:
                try:
                    os.link(file, new / file.name)
                except OSError:  # not every file system has links
                    shutil.copy2(file, new / file.name)

    def _fill(
        self, folder: Path, papers: Iterable[Paper], touched: Iterable[str], ids: list[str | None]
    ) -> None:
        index = opened_index(self._schema, folder, create=not ids)
        writer = index.writer(_WRITER_BYTES, 1)
        for id_ in touched:
            writer.delete_documents_by_term("paper", id_)
        for paper in papers:
            writer.add_document(document(paper, len(ids), self._text))
            ids.append(paper.id)
        writer.commit()
        writer.wait_merging_threads()
        (folder / _IDS).write_text(json.dumps(ids), "utf-8")

    def _checksum_of(self, folder: Path) -> int:
        """The checksum of the files of an index, which do not change once it is built."""
        files = sorted(file for file in folder.iterdir() if file.suffix != ".lock")
        known, self._known = self._known, {}
        for file in files:
            stat = file.stat()
            stamp = (file.name, stat.st_ino, stat.st_size, stat.st_mtime_ns)
            if file.name != _STAMP:
                self._known[stamp] = known[stamp] if stamp in known else checksum(file)
        names = [f"{stamp[0]} {crc}" for stamp, crc in self._known.items()]
        return zlib.crc32("\n".join(names).encode())


def _counted(searcher: tantivy.Searcher, query: Query) -> int:
    found: Any = searcher.search(query, 1, count=True)  # the type of its result leaves `count` out
    return found.count or 0


def _joined(occur: Occur, queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(occur, query) for query in queries])
