"""Counts of papers by venue, year and decision among those that a search found."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence

from retrieval.index.lexical import LexicalIndex
from retrieval.types import Filters

FIELDS = ("venue", "year", "decision")
Record = tuple[str, str, str]
"""Venue, year and decision, as text; unknown ones are empty."""
_UNKNOWN: Record = ("", "", "")


class Facets:
    """The venue, year and decision of every paper, read once for each revision of the index."""

    def __init__(self) -> None:
        self._reading = threading.Lock()
        self._revision = ""
        self._records: dict[str, Record] = {}

    def records(self, index: LexicalIndex) -> Mapping[str, Record]:
        """The records of all papers by their ids."""
        with self._reading:
            if not self._records or self._revision != index.revision:
                self._revision = index.revision
                self._records = _records(index)
            return self._records


def passing(
    ids: Sequence[str], records: Mapping[str, Record], chosen: Mapping[str, str]
) -> list[str]:
    """The papers that have every chosen value, in their order; empty values choose nothing."""
    wanted = [(at, chosen[name]) for at, name in enumerate(FIELDS) if chosen.get(name)]
    if not wanted:
        return list(ids)
    return [
        id_ for id_ in ids if all(records.get(id_, _UNKNOWN)[at] == value for at, value in wanted)
    ]


def counted(
    ids: Sequence[str], records: Mapping[str, Record], chosen: Mapping[str, str]
) -> dict[str, dict[str, int]]:
    """Numbers of papers by value of each field, of those that pass the choices in other fields.

    So the counts of a field say what each of its values would give in place of the chosen one.
    Most papers come first, years in descending order.
    """
    counts: dict[str, dict[str, int]] = {}
    for at, name in enumerate(FIELDS):
        others = {field: value for field, value in chosen.items() if field != name}
        having = Counter(records.get(id_, _UNKNOWN)[at] for id_ in passing(ids, records, others))
        having.pop("", None)
        pairs = sorted(having.items(), key=lambda each: (-each[1], each[0]))
        counts[name] = dict(sorted(pairs, reverse=True) if name == "year" else pairs)
    return counts


def _records(index: LexicalIndex) -> dict[str, Record]:
    columns = [_column(index, "venue"), _column(index, "year"), _column(index, "decision")]
    venues, years, decisions = columns
    return {
        id_: (venues.get(id_, ""), years.get(id_, ""), decisions.get(id_, "")) for id_ in index.ids
    }


def _column(index: LexicalIndex, name: str) -> dict[str, str]:
    """The value of a field by paper."""
    return {
        id_: value
        for value in index.values(name)
        for id_ in index.matching(_having(name, value), index.size)
    }


def _having(name: str, value: str) -> Filters:
    if name == "venue":
        return Filters(venues=(value,))
    return Filters(years=(int(value),)) if name == "year" else Filters(decisions=(value,))
