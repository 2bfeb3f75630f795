"""Reader of JSON: one paper a line, an array, or the answer of a service.

Services name the same fields differently, and the names do not collide: one table serves the own
format, BEIR, CSL-JSON, Crossref, Europe PMC, OpenAlex, Semantic Scholar, arXiv and Zotero.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from retrieval.formats.authors import person, split_names
from retrieval.formats.fields import (
    ParsedPage,
    ReadProgress,
    checked,
    names_of,
    no_progress,
    page_of,
    texts,
)
from retrieval.text.latex import decode
from retrieval.types import Record, Skipped, Source

_ARXIV_FIELDS = frozenset(("categories", "versions", "journal-ref", "authors_parsed"))
_BETWEEN = re.compile(r"[\s,\[\]]*")
"""What stands between values; files may be several arrays or objects that were joined."""
_NO_OBJECT = "not a JSON object"
_TOO_DEEP = "the values are nested too deeply"


def matches(text: str) -> bool:
    """Whether the text is an array of objects, or it or most of its lines open with an object."""
    if re.match(r"\s*(?:\{\s*(?:[\"'}]|$)|\[\s*\{)", text):
        return True
    lines = [line for line in text.split("\n") if line.strip()]
    return 2 * sum(line.startswith('{"') for line in lines) > len(lines)


def read(text: str, file: str, progress: ReadProgress = no_progress) -> ParsedPage:
    """The papers of the file; other values are skipped with the reason."""
    try:
        found = list(_values_in(text) if text.lstrip().startswith("[") else _lines_or_object(text))
    except RecursionError:
        found = [(1, _TOO_DEEP)]
    outcomes = (
        Skipped(file, at, value) if isinstance(value, str) else _outcome(value, Source(file, at))
        for at, value in found
    )
    return page_of(outcomes, len(found), progress)


Found = Iterator[tuple[int, Any]]
"""The line of a record, from 1, and its object, or the reason why there is none."""


def _lines_or_object(text: str) -> Found:
    lines = [(at, raw) for at, raw in enumerate(text.split("\n"), start=1) if raw.strip()]
    first = _parsed(lines[0][1])
    if isinstance(first, Mapping) and len(lines) == 1:
        yield from ((lines[0][0], record) for record in _records(first))
        return
    if not isinstance(first, Mapping) and _opens_with_object(text):
        yield from _values_in(text)
        return
    for at, raw in lines:
        value = _parsed(raw)
        yield at, value if isinstance(value, str | Mapping) else _NO_OBJECT


def _opens_with_object(text: str) -> bool:
    """Whether the text begins with an object over several lines."""
    try:
        json.JSONDecoder().raw_decode(text, _next(text, 0) or 0)
    except (ValueError, RecursionError):
        return False
    return True


def _values_in(text: str) -> Found:
    """The objects of arrays, or one after the other; the last may be cut off."""
    decoder, at, line, counted = json.JSONDecoder(), 0, 1, 0
    while (next_at := _next(text, at)) is not None:
        line, counted = line + text.count("\n", counted, next_at), next_at
        try:
            value, at = decoder.raw_decode(text, next_at)
        except (ValueError, RecursionError) as error:
            yield line, f"not valid JSON ({_reason(error)})"
            return
        yield from ((line, record) for record in _records(value))


def _next(text: str, at: int) -> int | None:
    """Where the next value begins, also in an array; None at the end."""
    found = _BETWEEN.match(text, at)
    start = found.end() if found else at
    return start if start < len(text) else None


def _records(value: Any) -> Iterator[Any]:
    """The objects of papers in a value: itself, or those in it, as services answer."""
    if isinstance(value, list):
        for each in value:
            yield from _records(each)
    elif not isinstance(value, Mapping):
        yield _NO_OBJECT
    elif _is_record(value):
        yield value
    else:
        inner = [each for each in value.values() if _holds_records(each)]
        for each in inner:
            yield from _records(each)
        if not inner:
            yield value


def _is_record(value: Mapping[str, Any]) -> bool:
    if isinstance(content := value.get("content"), Mapping) and "abstract" in content:
        return True  # as OpenReview answers
    return not value.keys().isdisjoint(names_of("json")["abstract"]) or (
        bool(value.keys() & {"title", "display_name"})
        and bool(value.keys() & {"author", "authors", "authorships", "year", "doi", "DOI", "type"})
    )


def _holds_records(value: Any, depth: int = 3) -> bool:
    if isinstance(value, list):
        return any(isinstance(each, Mapping) and _holds_records(each, depth) for each in value[:3])
    if not isinstance(value, Mapping) or not depth:
        return False
    return _is_record(value) or any(_holds_records(each, depth - 1) for each in value.values())


def _parsed(raw: str) -> Any:
    """The value of a text, or the reason why it has none."""
    try:
        value = json.loads(raw)
    except json.JSONDecodeError as error:
        return f"not valid JSON ({error.msg} at column {error.colno})"
    except (ValueError, RecursionError) as error:  # numbers and nesting have limits
        return f"not valid JSON ({_reason(error)})"
    return _NO_OBJECT if isinstance(value, str) else value


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())


def _outcome(value: Any, source: Source) -> Record | Skipped:
    try:
        return checked(_values(value) if isinstance(value, Mapping) else value, source)
    except RecursionError:
        return Skipped(source.file, source.line, _TOO_DEEP)


def _values(value: Mapping[str, Any]) -> dict[str, Any]:
    paths = names_of("json")
    values: dict[str, Any] = {
        field: [found for path in places for found in _at(value, path.split("."))]
        for field, places in paths.items()
    }
    values["abstract"] = [_abstract(each) for each in values["abstract"]]
    values["authors"] = _authors(values["authors"])
    for field in ("year", "month"):
        values[field] = [_date(each) for each in values[field]]
    values["title"] = _with_subtitle(values["title"], value.get("subtitle"))
    values["kind"] = "; ".join(text for path in paths["kind"] for text in _texts(value, path))
    if isinstance(value.get("journal"), str) and texts(value["journal"]):
        values["kind"] += "; journal"
    keywords = next(filter(None, (_texts(value, path) for path in paths["keywords"])), [])
    values["keywords"] = keywords[0] if len(keywords) == 1 else keywords
    if value.keys() >= _ARXIV_FIELDS:
        values["arxiv"] = values["id"]
        for field in ("title", "abstract", "venue"):
            values[field] = [_of_latex(text) for text in texts(values[field])]
        values["keywords"] = []
        values["kind"] = "article" if value["journal-ref"] else "preprint"
    elif value.get("type") == "article" and "issued" in value and not values["volume"]:
        values["kind"] = "preprint"  # as CSL names it
    return values


def _with_subtitle(titles: list[Any], subtitle: Any) -> Any:
    title, rest = (next(iter(texts(value)), "") for value in (titles, subtitle))
    return f"{title}: {rest}" if title and rest and rest not in title else titles


def _of_latex(text: str) -> str:
    """The text of arXiv, in which `\\'e` is an accent, but `~` is not a space."""
    return decode(text.replace("~", r"{\textasciitilde}")) if "\\" in text else text


def _at(value: Any, path: list[str]) -> Iterable[Any]:
    """All values at a path; lists on the way are walked through."""
    if isinstance(value, list) and path:
        return [found for each in value for found in _at(each, path)]
    if not path:
        return [] if value in (None, "", [], {}) else [value]
    return _at(value[path[0]], path[1:]) if isinstance(value, Mapping) and path[0] in value else ()


def _texts(value: Mapping[str, Any], path: str) -> list[str]:
    found = list(_at(value, path.split(".")))
    named = [_name(each) for one in found for each in (one if isinstance(one, list) else [one])]
    return [text for each in named for text in texts(each)]


def _name(value: Any) -> Any:
    if isinstance(value, Mapping):
        names = ("display_name", "tag", "name", "keyword", "value")
        return next((value[name] for name in names if name in value), None)
    return value


def _abstract(value: Any) -> Any:
    """OpenAlex gives the places of each word instead of the text."""
    if not isinstance(value, Mapping) or not all(isinstance(at, list) for at in value.values()):
        return value
    places = [(at, word) for word, ats in value.items() for at in ats if isinstance(at, int)]
    return " ".join(word for _, word in sorted(places))


def _authors(found: list[Any]) -> Any:
    """The first list of authors that has any; a text with several names is taken apart."""
    first: Any = next(iter(found), [])
    if isinstance(first, Mapping):
        first = first.get("value", [first])
    if not isinstance(first, str):
        return first
    names = split_names(first)
    return [person(name) if "," in name else (name.strip(), "") for name in names]


def _date(value: Any) -> Any:
    """`{"date-parts": [[2020, 5]]}` as `2020-05`."""
    if isinstance(value, Mapping):
        names = ("date-parts", "raw", "literal", "value")
        value = next((value[name] for name in names if value.get(name)), None)
        value = value[0] if isinstance(value, list) and value else value
    if isinstance(value, list):
        return "-".join(f"{part:02}" if isinstance(part, int) else str(part) for part in value)
    return value
