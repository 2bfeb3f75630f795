"""What a query says about the records of papers, by the library's own values."""

from retrieval.understanding.query import (
    Given,
    KnownValues,
    Missing,
    Understood,
    given_filters,
    understand,
)

__all__ = ["Given", "KnownValues", "Missing", "Understood", "given_filters", "understand"]
