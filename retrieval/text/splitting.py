"""Splits texts into sentences, and abstracts into chunks of whole sentences.

The one module that imports sentencex.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sentencex

from retrieval.types import Chunk, Paper

CHUNKER_VERSION = "sentence-windows-1"
"""Must change if many abstracts are cut differently; libraries made before are refused then."""
LONGEST_SEARCHED = 20_000
"""Characters of an abstract that are cut into chunks: each takes time to embed, and nobody writes
as many; a file with whole papers has them."""
_HIDDEN = "x"
_BLOCK = re.compile(r".{1,8000}(?!\S)|.{1,8000}", re.DOTALL)
"""Text split at once: sentencex's time grows with the square of it. No abstract is so long."""
_QUOTE = re.compile("[`“„«‘「]")
_MOST_QUOTES = 200
"""Opening marks of a block that are paired: that time grows with their square, too."""
_FORMULA = re.compile(r"\$[^$]+\$")
_URL = re.compile(r"https?://\S*[\w/]")
_ENUMERATOR = re.compile(r"(?:\(|(?<![\w-]))(?:\d{1,2}|[ivx]{1,4}|[a-hA-H])\)")
"""`(1)`, `ii)`; the end of `(T-F)` is none."""
_NUMBERED = re.compile(r"(?<=[\s:;])\d{1,2}\.(?=\s+[a-z])")
_ABBREVIATION = re.compile(
    r"\b(?:[Ee]qs?|[Ff]igs?|[Ss]ecs?|[Tt]hms?|[Tt]abs?|[Aa]lgs?|[Rr]efs?|[Cc]f|[Rr]esp|approx"
    r"|et al|e\.g|i\.e|vs|w\.r\.t|s\.t|a\.k\.a|i\.i\.d|aka|[Nn]o)\.(?=\s+[^A-Z\s]|\s+[A-Z]\w*\s*\d)"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without surrounding space: `whole[start:end] == text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How abstracts are cut; recorded in the library's manifest."""

    tokens: int = 128
    """Most tokens of a chunk's text."""


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of `text` in order; together they have all its characters except space."""
    sentences: list[Sentence] = []
    at = 0
    for block in _BLOCK.findall(_disguise(text)):
        if len(_QUOTE.findall(block)) > _MOST_QUOTES:
            block = _QUOTE.sub(_HIDDEN, block)  # noqa: PLW2901
        for piece in sentencex.segment("en", block):
            sentences += _stripped(at, text[at : at + len(piece)])
            at += len(piece)
    return sentences


def chunk_paper(paper: Paper, count: Callable[[str], int], settings: ChunkSettings) -> list[Chunk]:
    """The chunks of a paper's abstract, in order; none if it is empty.

    Of a text far longer than an abstract the beginning is taken. Only a sentence that is longer
    than a chunk is cut, between words.

    Args:
        paper: the paper.
        count: counts the embedder's tokens of a text.
        settings: the size of a chunk.
    """
    abstract = paper.abstract[:LONGEST_SEARCHED]
    sentences = _fitting_sentences(abstract, count, settings.tokens)
    runs = windows([tokens for _, tokens in sentences], settings.tokens)
    spans = [(sentences[run[0]][0].start, sentences[run[-1]][0].end) for run in runs if run]
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


def windows(lengths: Sequence[int], room: int) -> list[range]:
    """Consecutive sentences in windows of at most `room` tokens, at least one sentence each.

    >>> windows([4, 4, 4], 8)
    [range(0, 2), range(2, 3)]
    """
    found, start, used = [], 0, 0
    for at, length in enumerate(lengths):
        if at > start and used + length > room:
            found.append(range(start, at))
            start, used = at, 0
        used += length
    return [*found, range(start, len(lengths))]


def embedded_text(paper: Paper, chunk: Chunk) -> str:
    """The text that is embedded for a chunk: title and sentences.

    Measured on the seeds (tests/benchmarks/ranking.md): chunks with their title rank better
    than whole abstracts, and far better for questions about several papers.
    """
    return f"{paper.title}. {chunk.text}" if paper.title else chunk.text


def _stripped(start: int, raw: str) -> list[Sentence]:
    """The sentence that begins at `start`, without surrounding space; none if it is only space."""
    text = raw.strip()
    start += len(raw) - len(raw.lstrip())
    return [Sentence(start, start + len(text), text)] if text else []


def _disguise(text: str) -> str:
    """`text` with an `x` for every character of a formula, a URL or an abbreviation."""
    text = _FORMULA.sub(_hide_formula, text)
    text = _URL.sub(_hide, text)
    text = _ENUMERATOR.sub(_hide, text)
    text = _NUMBERED.sub(_hide, text)
    return _ABBREVIATION.sub(_hide, text)


def _hide(found: re.Match[str]) -> str:
    return _HIDDEN * len(found.group())


def _hide_formula(found: re.Match[str]) -> str:
    """Hide a formula except for a full stop at its end, which may end the sentence: `$x = 1.$`."""
    formula = found.group()
    end = "." if formula[-2] in ".!?" else _HIDDEN
    return _HIDDEN * (len(formula) - 1) + end


def _fitting_sentences(
    abstract: str, count: Callable[[str], int], limit: int
) -> list[tuple[Sentence, int]]:
    """The sentences with their numbers of tokens, the too long ones in pieces."""
    fitting: list[tuple[Sentence, int]] = []
    for sentence in split_sentences(abstract):
        tokens = count(sentence.text)
        if tokens <= limit:
            fitting.append((sentence, tokens))
        else:
            fitting += [(piece, count(piece.text)) for piece in _pieces(sentence, count, limit)]
    return fitting


def _pieces(sentence: Sentence, count: Callable[[str], int], limit: int) -> list[Sentence]:
    """Halve a sentence at the space nearest to its middle until every piece fits.

    A word is halved too if it does not fit, down to single characters.
    """
    text = sentence.text
    if count(text) <= limit or len(text) == 1:
        return [sentence]
    middle = len(text) // 2
    spaces = (text.rfind(" ", 0, middle + 1), text.find(" ", middle))
    inner = [at for at in spaces if 0 < at < len(text) - 1]
    cut = min(inner, key=lambda at: abs(at - middle)) if inner else middle
    start = sentence.start
    halves = [*_stripped(start, text[:cut]), *_stripped(start + cut, text[cut:])]
    return [piece for half in halves for piece in _pieces(half, count, limit)]
