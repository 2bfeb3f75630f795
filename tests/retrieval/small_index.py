"""Small libraries of records that one can count, with the real lexical index."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from retrieval.index.lexical import LexicalIndex
from retrieval.query.lookup import Lookup
from retrieval.types import Paper, Source


def record(
    id_: str,
    *authors: str,
    title: str = "",
    abstract: str = "An abstract.",
    venue: str = "",
    year: int | None = None,
    decision: str = "",
) -> Paper:
    return Paper(id_, title or id_, authors, venue, year, decision, abstract, (Source("a", 1),))


def indexed(papers: Iterable[Paper], folder: Path) -> LexicalIndex:
    index = LexicalIndex(folder / "lexical")
    index.rebuild(papers, "1")
    return index


def lookup_in(papers: Sequence[Paper], index: LexicalIndex) -> Lookup:
    by_id = {paper.id: paper for paper in papers}

    def read(ids: Sequence[str]) -> Mapping[str, Paper]:
        return {id_: by_id[id_] for id_ in ids}

    return Lookup(index, read)
