"""The run record as tables: a group per part, a line per value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_LOOSE = "run"
"""The group of the values that are not in a part."""


@dataclass(frozen=True, slots=True)
class Group:
    """A part of the record."""

    name: str
    values: tuple[tuple[str, str], ...]
    """Names, nested ones with dots, and values."""


def groups(record: Mapping[str, Any]) -> list[Group]:
    """The record in its own order, loose values last."""
    nested = {key: value for key, value in record.items() if isinstance(value, Mapping)}
    loose = {key: value for key, value in record.items() if key not in nested}
    parts = {**nested, _LOOSE: loose} if loose else nested
    return [Group(_words(name), tuple(_lines("", part))) for name, part in parts.items()]


def _lines(name: str, part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in part.items():
        inner = f"{name}.{key}" if name else str(key)
        if isinstance(value, Mapping) and value:
            yield from _lines(inner, value)
        else:
            yield _words(inner), _said(value)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _said(value: Any) -> str:
    match value:
        case None | "":
            return "–"
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return "none"
        case list() | tuple():
            return ", ".join(_said(each) for each in value) or "none"
        case int():
            return f"{value:,}"
        case _:
            return str(value)
