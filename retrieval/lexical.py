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

_ANALYZER = "english"
_WRITER_BYTES = 64_000_000


class LexicalIndex:
    """A BM25 index in a folder; it can be rebuilt from the papers at any time."""

    def __init__(self, folder: Path) -> None:
        """Open the index in `folder`; see `revision` for whether it holds what it should."""
        self._folder = folder
        self._stamp = folder / "revision"
        self._schema = _schema()
        self._analyzer = _analyzer()
        self._index: tantivy.Index | None = None

    @property
    def revision(self) -> str:
        """The library's revision that the index was built from; empty if it has to be built."""
        try:
            version, _, revision = self._stamp.read_text("utf-8").partition(" ")
            self._usable()
        except (OSError, ValueError):
            return ""
        return revision if version == INDEX_VERSION else ""

    def rebuild(self, papers: Iterable[Paper], revision: str) -> None:
        """Index `papers` anew.

        The revision is written last, so an interrupted build counts as none.

        Raises:
            LibraryError: the folder cannot be written.
        """
        self._index = None
        try:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            index = self._opened(create=True)
            writer = index.writer(_WRITER_BYTES, 1)
            for paper in papers:
                writer.add_document(self._document(paper))
            writer.commit()
            writer.wait_merging_threads()
            self._stamp.write_text(f"{INDEX_VERSION} {revision}", "utf-8")
        except (OSError, ValueError) as error:
            raise LibraryError(
                f"The lexical index in {self._folder} cannot be written ({error}); "
                "check that the folder is writable and the disk has room."
            ) from error

    def search(self, query: str, limit: int) -> list[tuple[str, float]]:
        """Ids of the papers that match best, with their BM25 scores, best first."""
        terms = dict.fromkeys(self._analyzer.analyze(query))
        if not terms:
            return []
        searcher = self._usable().searcher()
        wanted = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, "text", term))
                for term in terms
            ]
        )
        found = searcher.search(wanted, limit, count=False)
        return [(searcher.doc(address)["id"][0], score) for score, address in found.hits]

    def _usable(self) -> tantivy.Index:
        """The index, opened once.

        Raises:
            ValueError: files of it are missing or damaged.
        """
        if self._index is None:
            if not tantivy.Index.exists(str(self._folder)):  # tantivy would make an empty one
                raise ValueError("there is no index")
            index = self._opened(create=False)
            index.searcher()
            self._index = index
        return self._index

    def _opened(self, *, create: bool) -> tantivy.Index:
        index = tantivy.Index(self._schema, str(self._folder), reuse=not create)
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
