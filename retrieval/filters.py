"""What a paper's record and text must and must not say to be found, in the library's own values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that all must hold; an empty one asks nothing."""

    authors: tuple[tuple[str, ...], ...] = ()
    """Of each group one must be an author: indexed names (`du, yilun`) of one or several people."""
    venues: tuple[str, ...] = ()
    """The venue is one of these."""
    years: tuple[int, ...] = ()
    """The year is one of these."""
    decisions: tuple[str, ...] = ()
    """The decision is one of these."""
    excluded: tuple["Filters", ...] = ()
    """Papers that pass any of these are left out."""
    excluded_words: tuple[str, ...] = ()
    """Papers whose title or abstract has any of these words or phrases are left out."""

    def __bool__(self) -> bool:
        """Whether anything is asked."""
        return self.selects or bool(self.excluded or self.excluded_words)

    @property
    def selects(self) -> bool:
        """Whether the record must say something, beside what it must not say."""
        return bool(self.authors or self.venues or self.years or self.decisions)

    def also(self, other: "Filters") -> "Filters":
        """Both; venues, years and decisions of `self` replace those of `other`."""
        return Filters(
            authors=tuple(dict.fromkeys((*self.authors, *other.authors))),
            venues=self.venues or other.venues,
            years=self.years or other.years,
            decisions=self.decisions or other.decisions,
            excluded=tuple(dict.fromkeys((*self.excluded, *other.excluded))),
            excluded_words=tuple(dict.fromkeys((*self.excluded_words, *other.excluded_words))),
        )

    def merged(self, other: "Filters") -> "Filters":
        """Both, where venues, years and decisions are alternatives: `2022 or 2023`."""
        return (
            Filters(
                venues=tuple(dict.fromkeys((*self.venues, *other.venues))),
                years=tuple(dict.fromkeys((*self.years, *other.years))),
                decisions=tuple(dict.fromkeys((*self.decisions, *other.decisions))),
            )
            .also(self)
            .also(other)
        )


NO_FILTERS = Filters()
"""Every paper passes."""
