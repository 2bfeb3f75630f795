"""Papers and chunks as Chroma stores them: ids, fields, checksums."""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from retrieval.encoders.embedder import Vector
from retrieval.types import Chunk, Paper, Publication, Source


@dataclass(frozen=True, slots=True)
class StoredPaper:
    """A paper in the store."""

    paper: Paper
    chunk_count: int
    is_old: bool = False
    """Whether it was written when papers of different files were one if they had the same id."""


@dataclass(frozen=True, slots=True)
class NewPaper:
    """A paper to write, with its chunks and their vectors, each of shape (dimensions,)."""

    paper: Paper
    chunks: tuple[Chunk, ...]
    vectors: tuple[Vector, ...]
    is_old: bool = False
    """See `StoredPaper`."""


def chunk_ids(paper_id: str, ordinals: Iterable[int]) -> list[str]:
    """The ids of a paper's chunks."""
    return [f"{paper_id}:{ordinal}" for ordinal in ordinals]


def paper_of(chunk_id: str) -> str:
    """The id of the paper that a chunk belongs to."""
    return chunk_id.rpartition(":")[0]


def chunk_fields(chunk: Chunk) -> dict[str, str | int]:
    """The stored fields of a chunk, besides its id and text."""
    fields = asdict(chunk)
    return {name: fields[name] for name in ("paper_id", "ordinal", "start", "end")}


def read_chunk(id_: str, fields: Mapping[str, Any], text: str) -> Chunk:
    """A stored chunk; `ValueError` if it is damaged."""
    try:
        return Chunk(id=id_, text=text, **fields)
    except TypeError as error:
        raise ValueError(f"the chunk {id_!r} is damaged: {error}") from error


def paper_fields(stored: StoredPaper) -> dict[str, str | int | bool]:
    """The stored fields of a paper, besides its id and abstract."""
    paper = stored.paper
    fields: dict[str, str | int | bool] = {
        "title": paper.title,
        "authors": json.dumps(paper.authors, ensure_ascii=False),
        "venue": paper.venue,
        "year": paper.year or 0,
        "decision": paper.decision,
        "url": paper.url,
        "doi": paper.doi,
        "sources": json.dumps([asdict(source) for source in paper.sources], ensure_ascii=False),
        "id_is_given": paper.id_is_given,
        "chunks": stored.chunk_count,
    }
    if not stored.is_old:
        fields["publication"] = json.dumps(asdict(paper.publication), ensure_ascii=False)
    return {**fields, "checksum": _checksum({**fields, "id": paper.id}, paper.abstract)}


def read_paper(id_: str, fields: dict[str, Any], abstract: str) -> StoredPaper:
    """The paper of a record; `ValueError` if it is damaged. The first records lack some fields."""
    known = fields.pop("checksum", None)
    # The first checksums are without the id.
    if known is not None and known not in (
        _checksum(each, abstract) for each in ({**fields, "id": id_}, fields)
    ):
        raise ValueError(f"the record of the paper {id_!r} is damaged")
    try:
        fields["year"] = fields["year"] or None
        fields["authors"] = tuple(json.loads(fields["authors"]))
        fields["sources"] = tuple(Source(**source) for source in json.loads(fields["sources"]))
        chunk_count, is_old = int(fields.pop("chunks")), "publication" not in fields
        publication = json.loads(fields.pop("publication", "{}"))
        lists = {name: tuple(value) for name, value in publication.items() if type(value) is list}
        fields["publication"] = Publication(**publication | lists)
        return StoredPaper(Paper(id=id_, abstract=abstract, **fields), chunk_count, is_old)
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"the record of the paper {id_!r} is damaged: {error}") from error


def are_whole(chunks: Iterable[Chunk], paper: Paper) -> bool:
    """Whether the chunks are of this paper's abstract and cover all of it."""
    found = list(chunks)
    together = "".join(chunk.text for chunk in found)
    covered = "".join(together.split()) == "".join(paper.abstract.split())
    return covered and all(chunk.fits(paper.abstract) for chunk in found)


def _checksum(fields: Mapping[str, Any], abstract: str) -> int:
    return zlib.crc32(json.dumps([fields, abstract], sort_keys=True).encode())
