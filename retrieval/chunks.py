"""Abstracts into chunks: windows of whole sentences, counted in the embedder's tokens."""

from collections.abc import Callable
from dataclasses import dataclass

from retrieval.sentences import Sentence, split_sentences
from retrieval.types import Chunk, Paper

CHUNKER_VERSION = "sentence-windows-1"
"""Changes whenever the same abstract would be cut otherwise."""


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How abstracts are cut; part of what a library remembers about itself."""

    tokens: int = 128
    """Most tokens of a chunk's text."""


def chunk_paper(paper: Paper, count: Callable[[str], int], settings: ChunkSettings) -> list[Chunk]:
    """The chunks of a paper's abstract, in order.

    Args:
        paper: its abstract may be empty, which gives no chunk.
        count: tokens of a text for the embedder.
        settings: the size of a window.

    A sentence is never cut unless it alone is longer than a chunk; then it is cut between words.
    """
    spans = _windows(_fitting_sentences(paper.abstract, count, settings.tokens), settings.tokens)
    return [
        Chunk(
            id=f"{paper.id}:{ordinal}",
            paper_id=paper.id,
            ordinal=ordinal,
            start=start,
            end=end,
            text=paper.abstract[start:end],
        )
        for ordinal, (start, end) in enumerate(spans)
    ]


def embedded_text(paper: Paper, chunk: Chunk) -> str:
    """What is embedded for a chunk: the title says what its sentences are about.

    Measured on the seeds (tests/benchmarks/ranking.md): chunks with their title rank better
    than whole abstracts, and far better for questions about several papers.
    """
    return f"{paper.title}. {chunk.text}" if paper.title else chunk.text


def _fitting_sentences(
    abstract: str, count: Callable[[str], int], limit: int
) -> list[tuple[Sentence, int]]:
    """The sentences with their tokens, those that are too long in pieces."""
    fitting: list[tuple[Sentence, int]] = []
    for sentence in split_sentences(abstract):
        tokens = count(sentence.text)
        if tokens <= limit:
            fitting.append((sentence, tokens))
        else:
            fitting += [(piece, count(piece.text)) for piece in _pieces(sentence, count, limit)]
    return fitting


def _pieces(sentence: Sentence, count: Callable[[str], int], limit: int) -> list[Sentence]:
    """Halve at the space nearest to the middle until every piece fits.

    A single word may stay too long only if it cannot be halved (one character).
    """
    text = sentence.text
    if count(text) <= limit or len(text) == 1:
        return [sentence]
    middle = len(text) // 2
    spaces = (text.rfind(" ", 0, middle + 1), text.find(" ", middle))
    inner = [at for at in spaces if 0 < at < len(text) - 1]
    cut = min(inner, key=lambda at: abs(at - middle)) if inner else middle
    halves = ((0, text[:cut].rstrip()), (cut, text[cut:]))
    pieces: list[Sentence] = []
    for offset, raw in halves:
        stripped = raw.lstrip()
        start = sentence.start + offset + len(raw) - len(stripped)
        if stripped:
            half = Sentence(start, start + len(stripped), stripped)
            pieces += _pieces(half, count, limit)
    return pieces


def _windows(sentences: list[tuple[Sentence, int]], limit: int) -> list[tuple[int, int]]:
    """Start and end of every window, each as full as it can be."""
    windows: list[tuple[int, int]] = []
    room = 0
    for sentence, tokens in sentences:
        if tokens <= room:
            windows[-1] = (windows[-1][0], sentence.end)
            room -= tokens
        else:
            windows.append((sentence.start, sentence.end))
            room = limit - tokens
    return windows
