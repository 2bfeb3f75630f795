"""The fields of the lexical index, and how text is analysed for them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import tantivy
from tantivy import Filter, Tokenizer

from retrieval.formats.citation_keys import base_key
from retrieval.formats.merge import record_of, signs_of
from retrieval.text.names import name_terms
from retrieval.text.titles import introduced, nicknames
from retrieval.types import Paper

INDEX_VERSION = "5"
"""Must change whenever the fields or the analysis of text do."""

_TEXT, _WORDS, _PIECES, _RAW = "text", "words", "pieces", "raw"
_LONGEST_WORD = 60
_PIECE_LETTERS = 5


@dataclass(frozen=True, slots=True)
class Card:
    """A paper's title and names, stored in the index."""

    id: str
    title: str
    authors: tuple[str, ...]
    introduced: frozenset[str]
    """Nicknames of methods that the paper introduces, joined: `gitrebasin`."""
    mentioned: frozenset[str]
    """Nicknames that it only mentions."""


def text_analyzer() -> tantivy.TextAnalyzer:
    """The analyzer of title and abstract: folds accents, drops stop words, stems."""
    return _analyzer(Filter.stopword("english"), Filter.stemmer("english"))


def word_analyzer() -> tantivy.TextAnalyzer:
    """The analyzer of titles and names: keeps whole words, so that misspellings are close."""
    return _analyzer()


def _analyzer(*more: Filter) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(Tokenizer.simple())
    for each in (Filter.remove_long(_LONGEST_WORD), Filter.lowercase(), Filter.ascii_fold(), *more):
        builder = builder.filter(each)
    return builder.build()


def pieces(stems: Iterable[str]) -> list[str]:
    """Stems cut into overlapping pieces of five letters, their ends marked: `_diff diffu iffus …`.

    Words that stemming keeps apart (diffuse and diffusion) share pieces, and long words, which say
    more, count more (McNamee and Mayfield 2004, "Character N-Gram Tokenization for European
    Language Text Retrieval"). Measured in tests/benchmarks/ranking.md.
    """
    return [
        marked[at : at + _PIECE_LETTERS]
        for marked in (f"_{stem}_" for stem in stems)
        for at in range(max(1, len(marked) - _PIECE_LETTERS + 1))
    ]


def opened_index(fields: tantivy.Schema, folder: Path, *, create: bool) -> tantivy.Index:
    """The index in `folder`, with the analyzers of its fields."""
    index = tantivy.Index(fields, str(folder), reuse=not create)
    index.register_tokenizer(_TEXT, text_analyzer())
    index.register_tokenizer(_WORDS, word_analyzer())
    index.register_tokenizer(_PIECES, tantivy.TextAnalyzerBuilder(Tokenizer.whitespace()).build())
    return index


def schema() -> tantivy.Schema:
    """The fields of the index.

    `text` has the words of title and abstract, `pieces` their pieces; `key`, `venue`, `year`
    and `decision` are those of the record; `name` has every author as `du, yilun`, `author` every
    word of the names; `nickname` and `introduced` are joined names of methods; `number` is the
    paper's index among the ids, `when` its year, for sorting. `paper` is its id; `sign` has what
    its copies share, see `signs_of`.
    """
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name=_TEXT)
    builder.add_text_field("pieces", tokenizer_name=_PIECES, index_option="freq")
    builder.add_text_field("title", tokenizer_name=_WORDS)
    builder.add_text_field("author", tokenizer_name=_WORDS)
    for name in (
        "key",
        "name",
        "venue",
        "year",
        "decision",
        "nickname",
        "introduced",
        "paper",
        "sign",
    ):
        builder.add_text_field(name, tokenizer_name=_RAW, index_option="basic")
    builder.add_unsigned_field("number", fast=True)
    builder.add_unsigned_field("when", fast=True)
    builder.add_bytes_field("card", stored=True)
    return builder.build()


def document(paper: Paper, number: int, analyzer: tantivy.TextAnalyzer) -> tantivy.Document:
    """A paper as a document, with its `number` among the papers, from 0."""
    text = f"{paper.title}. {paper.abstract}"
    gives = introduced(paper.title, paper.abstract)
    has = nicknames(f"{paper.title} {paper.abstract}")
    names = [term for author in paper.authors for term in name_terms(author)]
    texts = {
        "text": [text],
        "pieces": [" ".join(pieces(analyzer.analyze(text)))],
        "title": [paper.title],
        "name": names,
        "author": names,
        "key": [base_key(paper)],
        "venue": [paper.venue],
        "year": [str(paper.year or "")],
        "decision": [paper.decision],
        "nickname": has,
        "introduced": gives,
        "paper": [paper.id],
        "sign": signs_of(record_of(paper), paper.id),
    }
    made = tantivy.Document()
    for name, values in texts.items():
        for value in values:
            made.add_text(name, value)
    made.add_unsigned("number", number)
    made.add_unsigned("when", max(paper.year or 0, 0))
    card = [paper.id, paper.title, paper.authors, gives, has]
    made.add_bytes("card", json.dumps(card, ensure_ascii=False).encode("utf-8", "replace"))
    return made


def read_card(stored: bytes) -> Card:
    """The card that `document` stored."""
    id_, title, authors, gives, has = json.loads(bytes(stored))
    return Card(id_, title, tuple(authors), frozenset(gives), frozenset(has) - frozenset(gives))
