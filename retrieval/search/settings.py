"""How the retrievers are combined."""

from dataclasses import dataclass
from enum import StrEnum


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
    """The way to rank papers."""
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
