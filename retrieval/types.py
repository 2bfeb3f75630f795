"""The records that retrieval works with: papers, chunks, hits and passages."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Source:
    """Where a record was read."""

    file: str
    """Name of the file, without its folder."""
    line: int
    """Line on which the record starts, from 1."""


@dataclass(frozen=True, slots=True)
class Record:
    """One paper as files give it; empty fields are unknown."""

    abstract: str
    sources: tuple[Source, ...]
    """Where it was read; several once records of the same paper are folded."""
    title: str = ""
    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    decision: str = ""
    url: str = ""
    doi: str = ""
    given_id: str = ""
    """The id that the file gives the paper; kept as it is."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A place in a file that could not be read as part of a paper."""

    source: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper of the library: the fuller text and every field that any source gives."""

    id: str
    title: str
    """Empty where no source gives one; see `shown_title`."""
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
    """Whether the id came with the paper; such an id is never changed."""

    @property
    def shown_title(self) -> str:
        """The title, or the first words of the abstract in its place, fit to stand in “…”."""
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


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found by one retriever; a higher score is better, scales differ by retriever."""

    chunk_id: str
    paper_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A paper found for a query, with the chunk that matched best."""

    paper: Paper
    chunk: Chunk
    score: float
    """Fused score in [0, 1] and what reading adds, relative to the other passages of the query."""
    similarity: float
    """Cosine of the query and the paper's best chunk, comparable between queries."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did; the fields of the command's JSON."""

    papers: int
    added: int
    updated: int
    unchanged: int
    merged: int
    """Records that another record of the same paper absorbed."""
    chunks: int
    seconds: float
    skipped: tuple[Skipped, ...] = field(default=())


def first_words(text: str, limit: int = 80) -> str:
    """The beginning of `text`, cut between words, with an ellipsis if anything was cut."""
    if len(text) <= limit:
        return text
    return text[:limit].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def nested(text: str) -> str:
    """`text` as it stands within “…”: its own quotation marks single, so that none ends it."""
    return text.translate(_SINGLE)


_SINGLE = str.maketrans("“”„‟", "‘’‚‛")
