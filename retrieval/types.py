"""The types shared by both packages: papers and passages, filters, settings of search, errors."""

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Source:
    """Where a record was read."""

    file: str
    """Name of the file, without its folder."""
    line: int
    """Line on which the record starts, from 1."""


@dataclass(frozen=True, slots=True)
class Publication:
    """How a paper was published, besides venue and year; empty fields are unknown."""

    kind: str = ""
    """The type in CSL: `article-journal`, `paper-conference`, `article` (a preprint), …"""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    """`12-34`, or the number of the article."""
    month: int | None = None
    publisher: str = ""
    issn: str = ""
    keywords: tuple[str, ...] = ()
    arxiv: str = ""
    """Identifier in arXiv, without a version."""
    surnames: tuple[str, ...] = ()
    """Surnames of all authors, if the file tells them from given names."""


UNPUBLISHED = Publication()
"""Nothing is known of the publication."""


@dataclass(frozen=True, slots=True)
class Record:
    """One paper as read from files; empty fields are unknown."""

    abstract: str
    sources: tuple[Source, ...]
    """Where it was read; several after records of the same paper are merged."""
    title: str = ""
    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    decision: str = ""
    url: str = ""
    doi: str = ""
    given_id: str = ""
    """The paper's id in the file; two papers of different files may share one."""
    publication: Publication = UNPUBLISHED


@dataclass(frozen=True, slots=True)
class Skipped:
    """A place in a file that is not part of any paper that could be read."""

    source: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper of the library: the fullest text, and every field that any source gives."""

    id: str
    title: str
    """Empty if no source gives one; see `shown_title`."""
    authors: tuple[str, ...]
    venue: str
    year: int | None
    decision: str
    """`oral`, `spotlight`, `poster`, `outstanding paper`, … or empty."""
    abstract: str
    sources: tuple[Source, ...]
    url: str = ""
    doi: str = ""
    id_is_given: bool = False
    """Whether the id comes from a file; such an id never changes."""
    publication: Publication = UNPUBLISHED

    @property
    def shown_title(self) -> str:
        """The title, or else the first words of the abstract, for use within “…”."""
        return nested(self.title or first_words(self.abstract))


@dataclass(frozen=True, slots=True)
class Chunk:
    """A window of whole sentences of an abstract: `abstract[start:end] == text`."""

    id: str
    paper_id: str
    ordinal: int
    """Position among the chunks of its paper, from 0."""
    start: int
    end: int
    text: str

    def fits(self, abstract: str) -> bool:
        """Whether it is of this abstract; an interrupted update may leave others."""
        return abstract[self.start : self.end] == self.text


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found by one retriever; a higher score is better, scales differ."""

    chunk_id: str
    paper_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A paper found for a query, with the chunk that matched best."""

    paper: Paper
    chunk: Chunk
    score: float
    """Fused score in [0, 1] plus the reader's, relative to the other passages of the query."""
    similarity: float
    """Cosine of the query and the paper's best chunk, comparable between queries."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on a paper, all of which must hold; empty ones pass every paper.

    The venue must be one of `venues`, the year one of `years`, the decision one of `decisions`.
    """

    authors: tuple[tuple[str, ...], ...] = ()
    """Groups of indexed names (`du, yilun`); one of each group must be an author."""
    venues: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    decisions: tuple[str, ...] = ()
    excluded: tuple["Filters", ...] = ()
    """Papers that pass any of these are left out."""
    excluded_words: tuple[str, ...] = ()
    """Papers whose title or abstract has any of these words or phrases are left out."""

    def __bool__(self) -> bool:
        """Whether there is any condition."""
        return self.selects or bool(self.excluded or self.excluded_words)

    @property
    def selects(self) -> bool:
        """Whether there is any condition besides exclusions."""
        return bool(self.authors or self.venues or self.years or self.decisions)

    def also(self, other: "Filters") -> "Filters":
        """Both filters; venues, years and decisions of `self` replace those of `other`."""
        return replace(
            self.merged(other),
            venues=self.venues or other.venues,
            years=self.years or other.years,
            decisions=self.decisions or other.decisions,
        )

    def merged(self, other: "Filters") -> "Filters":
        """Both filters, with venues, years and decisions as alternatives: `2022 or 2023`."""
        names = [each.name for each in fields(self)]
        pairs = {name: (*getattr(self, name), *getattr(other, name)) for name in names}
        return Filters(**{name: tuple(dict.fromkeys(pair)) for name, pair in pairs.items()})


NO_FILTERS = Filters()
"""Every paper passes."""


class Retriever(StrEnum):
    """Ways to rank papers; all but the default exist for comparison."""

    BM25 = "bm25"
    """Lexical scores only."""
    DENSE = "dense"
    """Only the cosine of the query and the paper's best chunk."""
    RRF = "rrf"
    """Reciprocal rank fusion of both."""
    HYBRID = "hybrid"
    """Convex sum of both."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How papers are found and scored, by cross-validation; see tests/benchmarks/ranking.md."""

    retriever: Retriever = Retriever.HYBRID
    dense_weight: float = 0.55
    """Share of the dense score in the convex sum, from 0 to 1."""
    dense_depth: int = 100
    """Chunks requested from the dense retriever."""
    filtered_depth: int = 1000
    """Chunks requested if many papers pass a filter, since the nearest may not."""
    lexical_depth: int = 30
    """Papers that become candidates by lexical score alone, if both retrievers count."""
    lexical_reach: int = 1000
    """Papers with a lexical score; a candidate beyond them counts as without any match."""
    few: int = 200
    """Papers passing a filter up to which all are compared with the query."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Result of an ingest; the fields of the command's JSON."""

    papers: int
    added: int
    updated: int
    unchanged: int
    merged: int
    """Records merged into another record of the same paper."""
    chunks: int
    seconds: float
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[Skipped, ...] = ()
    """Remarks on papers that were read, such as a missing title."""


def first_words(text: str, limit: int = 80) -> str:
    """The beginning of `text`, cut between words and ended by an ellipsis if it is longer."""
    if len(text) <= limit:
        return text
    return text[:limit].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 word`, `1,643 words`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def nested(text: str) -> str:
    """`text` for use within “…”: its own quotation marks become single."""
    return text.translate(str.maketrans("“”„‟", "‘’‚‛"))


class UserError(Exception):
    """An error that the person can fix; the root of the error tree."""


class InputError(UserError):
    """A file, an argument or a question cannot be used."""


class LibraryError(UserError):
    """The library on disk cannot be used as asked."""


class LibraryInUseError(LibraryError):
    """Another process is writing to the library."""


class ModelError(UserError):
    """A model file is missing, broken, or too large."""


class ModelFetchError(ModelError):
    """A model could not be fetched, checked, unpacked or converted."""


class ModelServerError(ModelError):
    """A model server cannot be reached, refused a request, or broke off."""

    def __init__(self, message: str, status: int = 0) -> None:
        """`status` is the HTTP status of the server's reply; 0 if there was none."""
        super().__init__(message)
        self.status = status


class ServeError(UserError):
    """The browser app could not be started."""


class BusyError(UserError):
    """Too many requests are waiting for the model."""


class NotReadyError(UserError):
    """The first start is not complete: models or papers are still being fetched or read."""


class EvaluationError(UserError):
    """An evaluation is worse than its baseline, or a replay differs from its run."""


class Cancelled(Exception):  # noqa: N818 - a wish, not an error
    """The person stopped the work; nothing is left half-done."""


class Progress(Protocol):
    """Called as work advances; may raise `Cancelled` to stop it."""

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        """Report that `done` of `total` units of `stage` are finished."""


def silent(stage: str, done: int, total: int, unit: str) -> None:
    """Report nothing."""


def never() -> bool:
    """Return False: for work that cannot be stopped."""
    return False
