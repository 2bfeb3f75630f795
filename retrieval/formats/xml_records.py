"""Reader of XML: PubMed, EndNote, and the feed of arXiv.

The text is cut into records before it is parsed: a broken one costs only itself.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from retrieval.formats.authors import Person, person
from retrieval.formats.fields import (
    LONGEST_RECORD,
    ParsedPage,
    ReadProgress,
    checked,
    names_of,
    no_progress,
    page_of,
)
from retrieval.types import Record, Skipped, Source


@dataclass(frozen=True, slots=True)
class Schema:
    """The elements of a file and of its records."""

    name: str
    """Its table of paths in `names.toml`."""
    root: str
    record: str


_SCHEMAS = (
    Schema("pubmed", "PubmedArticleSet|PubmedArticle", "PubmedArticle|PubmedBookArticle"),
    Schema("endnote", r"xml>\s*<records|records", "record"),
    Schema("arxiv", "feed", "entry"),
)
_HEAD = re.compile(
    r"\A\s*(?:<\?xml[^>]*\?>|<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?\s*>|<!--.*?-->|\s+)*", re.S
)
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_NAMED = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)")
"""An ampersand that is none, or of a name that XML does not know."""
_PREFIX = re.compile(r"(</?)[A-Za-z_][\w.-]*:(?=[A-Za-z_])")
_PREFIXED_ATTRIBUTE = re.compile(
    r"\s(?!xml:)[A-Za-z_][\w.-]*:[\w.-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*')"
)


def matches(text: str) -> bool:
    """Whether the text is XML of a known kind."""
    return _schema(text) is not None


def read(text: str, file: str, progress: ReadProgress = no_progress) -> ParsedPage:
    """The papers of the file; broken records are skipped with the reason."""
    schema = _schema(text)
    assert schema is not None  # noqa: S101 - `matches` is asked first
    found = list(_cut(text, schema.record))
    outcomes = (_outcome(raw, schema, Source(file, at)) for at, raw in found)
    return page_of(outcomes, len(found), progress)


def _schema(text: str) -> Schema | None:
    head = _HEAD.match(text)
    start = text[head.end() : head.end() + 500] if head else ""
    return next((each for each in _SCHEMAS if re.match(f"<(?:{each.root})[\\s>]", start)), None)


def _cut(text: str, tags: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each record; the last one may be cut off."""
    opening = re.compile(f"<(?:{tags})(?=[\\s>])")
    starts = [found.start() for found in opening.finditer(text)]
    line, counted = 1, 0
    for start, following in pairwise([*starts, len(text)]):
        line, counted = line + text.count("\n", counted, start), start
        tag = re.match(r"<([\w-]+)", text[start : start + 40])
        end = text.rfind(f"</{tag[1]}>", start, following) if tag else -1
        yield line, text[start : end + len(tag[1]) + 3] if tag and end > 0 else ""


def _outcome(raw: str, schema: Schema, source: Source) -> Record | Skipped:
    if not raw:
        return Skipped(source.file, source.line, "the record is cut off before its end")
    if len(raw) > LONGEST_RECORD:
        reason = f"the record has {len(raw):,} characters; at most {LONGEST_RECORD:,} are read"
        return Skipped(source.file, source.line, reason)
    try:
        record = fromstring(_plain(raw))
    except (ParseError, DefusedXmlException, ValueError) as error:
        return Skipped(source.file, source.line, f"not valid XML ({error})")
    paths = names_of(schema.name)
    values: dict[str, Any] = {field: list(_found(record, each)) for field, each in paths.items()}
    lists = (list(_people(each)) for path in paths["authors"] for each in record.iterfind(path))
    values["authors"] = next(filter(None, lists), [])
    kinds = values.get("kind", [])
    if record.tag == "PubmedBookArticle":
        kinds.append("book chapter" if record.find(".//ArticleTitle") is not None else "book")
    if schema.name == "arxiv" and values["venue"]:
        kinds.append("article")
    values["kind"] = "; ".join(kinds)
    return checked(values, source)


def _plain(raw: str) -> str:
    """A record that can be parsed without its document: no prefixes, no names of characters."""
    named = _NAMED.sub("&amp;", _NOT_XML.sub("", raw))
    return _PREFIXED_ATTRIBUTE.sub("", _PREFIX.sub(r"\1", named))


def _found(record: Element, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        path, _, attribute = path.partition("/@")  # noqa: PLW2901
        for element in record.iterfind(path):
            yield element.get(attribute, "") if attribute else _text(element)


def _text(element: Element) -> str:
    """The text of an element; the parts of a structured abstract begin with their labels."""
    parts = [
        f"{each.get('Label')}: {_text(each)}" if each.get("Label") else _text(each)
        for each in element.iterfind("AbstractText")
    ]
    return " ".join(parts or ["".join(element.itertext())]).strip()


def _people(names: Element) -> Iterator[Person]:
    for author in names.iterfind("Author"):  # PubMed
        part = {each.tag: _text(each) for each in author}
        family = part.get("LastName", "")
        given = part.get("ForeName") or part.get("Initials") or ""
        if family:
            yield " ".join(filter(None, (given, family, part.get("Suffix")))), family
        elif group := part.get("CollectiveName"):
            yield group, group
    for author in names.iterfind("author"):
        name = author.find("name")  # arXiv
        text = _text(author if name is None else name)
        whole = text.rstrip(",")  # EndNote marks an institution by a comma at the end
        yield (whole, whole) if whole != text else person(text)
