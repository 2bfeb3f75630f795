"""The one place that imports tantivy: the lexical index over papers, derived from the store.

BM25 over title and abstract together: lower case, accents folded, English stop words out,
stemmed; a query is the OR of its terms.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

import tantivy

from retrieval.errors import LibraryError
from retrieval.types import Paper

INDEX_VERSION = "1"
"""Changes whenever the fields or the analysis of text do."""

_STAMP = "revision"
_ANALYZER = "english"
_WRITER_BYTES = 64_000_000


class LexicalIndex:
    """A BM25 index in a folder; it can be rebuilt from the papers at any time."""

    def __init__(self, folder: Path) -> None:
        """Open the index in `folder`; see `revision` for whether it holds what it should."""
        self._folder = folder
        self._schema = _schema()
        self._analyzer = _analyzer()
        self._opened: tuple[str, tantivy.Index] | None = None

    @property
    def revision(self) -> str:
        """The library's revision that the index was built from; empty if it has to be built."""
        try:
            version, _, revision = self._usable()[0].partition(" ")
        except (OSError, ValueError):
            return ""
        return revision if version == INDEX_VERSION else ""

    def rebuild(self, papers: Iterable[Paper], revision: str) -> None:
        """Index `papers` anew.

        It is built beside the present one and takes its place when it is whole.

        Raises:
            LibraryError: the folder cannot be written.
        """
        new = self._folder.with_name(f"{self._folder.name}.new")
        try:
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
            writer = self._open(new, create=True).writer(_WRITER_BYTES, 1)
            for paper in papers:
                writer.add_document(self._document(paper))
            writer.commit()
            writer.wait_merging_threads()
            (new / _STAMP).write_text(f"{INDEX_VERSION} {revision}", "utf-8")
            shutil.rmtree(self._folder, ignore_errors=True)
            new.rename(self._folder)
            self._opened = None
        except (OSError, ValueError) as error:
            raise LibraryError(
                f"The lexical index in {self._folder} cannot be written ({error}); "
                "check that the folder is writable and the disk has room."
            ) from error

    def search(self, query: str, limit: int) -> list[tuple[str, float]]:
        """Ids of the papers that match best, with their BM25 scores, best first.

        Raises:
            LibraryError: the index cannot be read; see `revision`.
        """
        terms = dict.fromkeys(self._analyzer.analyze(query))
        if not terms:
            return []
        try:
            _, index = self._opened or self._usable()
        except (OSError, ValueError) as error:
            raise LibraryError(
                f"The lexical index in {self._folder} cannot be read ({error}); search again."
            ) from error
        searcher = index.searcher()
        wanted = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, "text", term))
                for term in terms
            ]
        )
        found = searcher.search(wanted, limit, count=False)
        return [(searcher.doc(address)["id"][0], score) for score, address in found.hits]

    def _usable(self) -> tuple[str, tantivy.Index]:
        """The stamp and the index, opened once and whenever another process has rebuilt it.

        Raises:
            OSError: there is no index.
            ValueError: files of it are missing or damaged.
        """
        stamp = (self._folder / _STAMP).read_text("utf-8")
        if self._opened is None or self._opened[0] != stamp:
            if not tantivy.Index.exists(str(self._folder)):  # tantivy would make an empty one
                raise ValueError("files of the index are missing")
            index = self._open(self._folder, create=False)
            index.searcher()
            self._opened = stamp, index
        return self._opened

    def _open(self, folder: Path, *, create: bool) -> tantivy.Index:
        index = tantivy.Index(self._schema, str(folder), reuse=not create)
        index.register_tokenizer(_ANALYZER, self._analyzer)
        return index

    def _document(self, paper: Paper) -> tantivy.Document:
        document = tantivy.Document()
        document.add_text("id", paper.id)
        document.add_text("text", f"{paper.title}. {paper.abstract}")
        return document


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", stored=False, tokenizer_name=_ANALYZER)
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(60))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stopword("english"))
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )
