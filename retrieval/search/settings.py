"""How papers are searched for: which retrievers, and what each may take."""

from dataclasses import dataclass
from enum import StrEnum


class Retriever(StrEnum):
    """What ranks the papers; all but the default are there to be compared with it."""

    BM25 = "bm25"
    """Words in common, alone."""
    DENSE = "dense"
    """Cosine of the query and the paper's best chunk, alone."""
    RRF = "rrf"
    """Reciprocal rank fusion of both."""
    HYBRID = "hybrid"
    """Convex sum of both."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How papers are found and scored; chosen by cross-validation, see ranking.md."""

    retriever: Retriever = Retriever.HYBRID
    """What ranks the papers."""
    dense_weight: float = 0.55
    """Share of the dense score in the convex sum, from 0 to 1."""
    dense_depth: int = 100
    """Chunks asked of the dense retriever."""
    filtered_depth: int = 1000
    """Chunks asked of it where many papers pass a filter, and most of the nearest may not."""
    lexical_depth: int = 30
    """Papers taken up because of their lexical score alone, where both retrievers count."""
    lexical_reach: int = 1000
    """Papers whose lexical score counts once they are candidates; a shorter list would score
    papers just behind its end as if no word had matched."""
    few: int = 200
    """Papers passing a filter up to which all of them are compared with the query."""
