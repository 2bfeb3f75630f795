"""What a paper's record must say to be found, in the library's own values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that all must hold; an empty one asks nothing."""

    authors: tuple[tuple[str, ...], ...] = ()
    """Everyone who must be an author: each as the indexed names (`du, yilun`) that will do."""
    venues: tuple[str, ...] = ()
    """The venue is one of these."""
    years: tuple[int, ...] = ()
    """The year is one of these."""
    decisions: tuple[str, ...] = ()
    """The decision is one of these."""

    def __bool__(self) -> bool:
        """Whether anything is asked."""
        return bool(self.authors or self.venues or self.years or self.decisions)

    def also(self, other: "Filters") -> "Filters":
        """Both: what `self` asks goes before what `other` asks of the same field."""
        return Filters(
            authors=tuple(dict.fromkeys((*self.authors, *other.authors))),
            venues=self.venues or other.venues,
            years=self.years or other.years,
            decisions=self.decisions or other.decisions,
        )


NO_FILTERS = Filters()
"""Every paper passes."""
