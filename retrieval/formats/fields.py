"""Makes records of the values that files give, alike for every format."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from retrieval.formats.authors import Person, given_names, listed, people
from retrieval.text.markup import clean, unescaped, visible
from retrieval.text.splitting import LONGEST_SEARCHED
from retrieval.types import Publication, Record, Skipped, Source

ReadProgress = Callable[[int, int], None]
"""Called while a file is read: records done, and their total."""
NO_ABSTRACT = "the paper has no abstract"
LONGEST_RECORD = 1_000_000
"""Characters of a record."""
PROGRESS_EVERY = 50
"""Records between two reports of progress."""
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")
"""Halves of surrogate pairs, such as a lone `\\ud83d`: valid in JSON, but not in text."""
_YEAR = re.compile(r"(?<!\d)\d{4}(?=(?:[01]\d[0-3]\d)?(?!\d))")
_SHORT_NUMBER = re.compile(r"\s*[0-9]{1,3}\s*")
_LAST_YEAR = 9999
_EMPTY = frozenset(("NA", "N/A", "n/a", "#N/A", "null", "NULL", "nan", "NaN", "None", "<NA>"))
"""Values by which programs say that there is none."""
_PLACEHOLDER = re.compile(
    r"\W*(?:no abstract(?: is)?(?: available| provided)?|abstract (?:is )?not available"
    r"|not available|n/a|none|null|nan)\W*",
    re.IGNORECASE,
)
"""Placeholders of databases for a missing abstract."""

_ATTRIBUTES = r"""(?:\s+[\w:.-]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))?)*\s*/?>"""
_PREFIX = r"(?:jats:|mml:|m:|ce:|xhtml:)?"
_INLINE = re.compile(
    rf"</?(?:mml:\w+|{_PREFIX}(?:i|b|u|em|strong|sub|sup|tt|sc|scp|inf|italic|bold|small|span|font|a"
    rf"|underline|monospace|math|inline-formula|tex-math|named-content|xref|ext-link)){_ATTRIBUTES}"
    r"|<!\[CDATA\[|\]\]>",
    re.IGNORECASE,
)
_BLOCK = re.compile(
    rf"</?{_PREFIX}(?:p|br|div|li|ul|ol|list|list-item|sec|title|h[1-6]|abstract|abstracttext"
    rf"|section|disp-formula|label){_ATTRIBUTES}",
    re.IGNORECASE,
)
_HEADING = re.compile(
    rf"<{_PREFIX}(title|h[1-6]){_ATTRIBUTES}([^<>]{{1,200}})</{_PREFIX}\1>", re.IGNORECASE
)
_TEX_SOURCE = re.compile(r"<(?:jats:)?tex-math\b[^<>]*>[^<]*</(?:jats:)?tex-math>")
"""Given beside MathML for the same formula; IEEE gives nothing else."""

_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")
_DOI_PREFIX = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:?\s*)", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?:arxiv(?:\.org/(?:abs|pdf)/|[:.\s]\s*)|^)"
    r"(\d{4}\.\d{4,5}|[a-z-]{2,10}(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?!\d)",
    re.IGNORECASE,
)
_ISSN = re.compile(r"(?<!\d)(\d{4})[-–]?(\d{3}[\dXx])(?![\dXx-])")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = re.compile(rf"\b({'|'.join(MONTHS)})[a-z]*\b", re.IGNORECASE)
_MONTH_NUMBER = re.compile(r"^\s*(?:\d{4}[-/](\d{1,2})\b|\d{4}(\d\d)\d\d\b|(\d{1,2})\s*$)")
_LAST_MONTH = 12
_DASHES = re.compile(r"\s*[-‐‑‒–—]+\s*")
_PAGE_SIGN = re.compile(r"^pp?\.\s*")

PREPRINT, PROCEEDINGS, CHAPTER, JOURNAL = (
    *("article", "paper-conference", "chapter", "article-journal"),
)


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """The result of reading a file."""

    records: tuple[Record, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[Skipped, ...] = ()
    """Remarks on records, such as a missing title."""


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf-8"))


def names_of(table: str) -> Mapping[str, Any]:
    """A table of `names.toml`: the names that a format gives to each field, the best one first."""
    return _tables()[table]


def no_progress(done: int, total: int) -> None:
    """Report nothing."""


def checked(values: object, source: Source) -> Record | Skipped:
    """The record of a paper's values, or the reason why it is skipped.

    Args:
        values: values by field; each a text, a number, a list (the best first) or empty. The fields
            are those of `Record` and `Publication` (`id` or `_id`, `abstract` or `text`), and
            `first_page`, `last_page`, `date`; others are ignored. Authors are a text, a list of
            texts or JSON objects, or `Person`s.
        source: where they were read.
    """
    if not isinstance(values, Mapping):
        return Skipped(source.file, source.line, "not a JSON object")
    length = sum(len(text) for value in values.values() for text in texts(value))
    if length > LONGEST_RECORD:
        reason = f"the record has {length:,} characters; at most {LONGEST_RECORD:,} are read"
        return Skipped(source.file, source.line, reason)
    abstract = prose(values.get("abstract") or values.get("text"))
    if not abstract or _PLACEHOLDER.fullmatch(abstract):
        return Skipped(source.file, source.line, NO_ABSTRACT)
    names = _authors(values.get("authors"))
    given_id = next(iter(texts(values.get("id") or values.get("_id"))), "")
    return Record(
        given_id=given_id.removeprefix("https://openalex.org/"),
        title=prose(values.get("title")),
        authors=tuple(name for name, _ in names),
        venue=_venue(values.get("venue")),
        year=_first(_year, values.get("year")),
        decision=line(values.get("decision")).lower(),
        abstract=abstract,
        url=_url(values.get("url")),
        doi=_doi(values),
        sources=(source,),
        publication=_publication(values, names),
    )


def _publication(values: Mapping[str, Any], names: list[Person]) -> Publication:
    arxiv = _arxiv(values)
    are_told = any(surname for _, surname in names)  # then a name without one is an institution's
    return Publication(
        kind=_kind(values, arxiv),
        volume=_number(values.get("volume")),
        issue=_number(values.get("issue")),
        pages=_pages(values),
        month=_first(_month, values.get("month")),
        publisher=prose(values.get("publisher")),
        issn=_issn(values.get("issn")),
        keywords=tuple(dict.fromkeys(_keywords(values.get("keywords")))),
        arxiv=arxiv,
        surnames=tuple(surname or name for name, surname in names) if are_told else (),
    )


def page_of(outcomes: Iterable[Record | Skipped], total: int, progress: ReadProgress) -> ParsedPage:
    """The papers of a file, and what was skipped.

    Args:
        outcomes: each record or why it is skipped, in the order of the file.
        total: number of outcomes.
        progress: called as outcomes are consumed.
    """
    records: list[Record] = []
    skipped: list[Skipped] = []
    for done, outcome in enumerate(outcomes, start=1):
        if done % PROGRESS_EVERY == 0 or done == total:
            progress(done, total)
        if isinstance(outcome, Skipped):
            skipped.append(outcome)
        else:
            records.append(outcome)
    return ParsedPage(tuple(records), tuple(skipped), tuple(_remarks(records)))


def _remarks(records: list[Record]) -> Iterable[Skipped]:
    """What papers lack, a remark for each field and file."""
    for field in ("title", "authors"):
        lacking = [record.sources[0] for record in records if not getattr(record, field)]
        if lacking:
            count = len(lacking)
            who = "the paper has" if count == 1 else f"{count:,} papers, the first here, have"
            yield Skipped(lacking[0].file, lacking[0].line, f"{who} no {field}")
    for record in records:
        if len(record.abstract) > LONGEST_SEARCHED:
            source, length = record.sources[0], len(record.abstract)
            reason = f"of its {length:,} characters the first {LONGEST_SEARCHED:,} can be searched"
            yield Skipped(source.file, source.line, reason)


def texts(value: Any) -> list[str]:
    """All texts in a value, without those that say that there is none."""
    if isinstance(value, Mapping):
        keys = ("value", "text", "#text", "name", "content", "en", "$t")
        return texts(next((value[key] for key in keys if value.get(key)), None))
    if isinstance(value, list | tuple):
        return [text for each in value for text in texts(each)]
    if value is None or isinstance(value, bool):
        return []
    text = _HALF_CHARACTER.sub("", str(value)).strip()
    return [text] if text and text not in _EMPTY else []


def line(value: Any) -> str:
    """The first text of a value on one line."""
    return " ".join(visible(next(iter(texts(value)), "")).split())


def prose(value: Any) -> str:
    """The first text of a value as a person would read it: no tags, escapes or LaTeX commands."""
    return clean(untagged(next(iter(texts(value)), "")))


def untagged(text: str) -> str:
    """`text` without the tags of HTML, JATS and PubMed; headings end in a colon."""
    text = unescaped(text)
    if "<" not in text:
        return text
    if "math>" in text.replace("tex-math>", ""):
        text = _TEX_SOURCE.sub("", text)
    text = _HEADING.sub(_as_words, text)
    return _BLOCK.sub(" ", _INLINE.sub("", text))


def _as_words(heading: re.Match[str]) -> str:
    words = heading[2].strip()
    if words.lower() == "abstract":
        return " "
    return f" {words} " if words.endswith((":", ".", "?", "!")) else f" {words}: "


def _authors(value: Any) -> list[Person]:
    if isinstance(value, list) and value and all(isinstance(each, tuple) for each in value):
        names: list[Person] = value
    elif isinstance(value, list):
        names = given_names(value)
    else:
        names = people(next(iter(texts(value)), ""))
    cleaned = ((prose(name), prose(surname)) for name, surname in names)
    return [each for each in cleaned if each[0] and each[0] not in _EMPTY]


def _venue(value: Any) -> str:
    """The first name of the journal, or the one that it abbreviates."""
    names = [prose(text) for text in texts(value)]
    venue = names[0] if names else ""
    for name in names[1:]:
        venue = fuller_venue(venue, name)
    return venue


def fuller_venue(first: str, second: str) -> str:
    """`second` if `first` is empty or its abbreviation, otherwise `first`."""
    return second if not first or abbreviates(first, second) else first


def abbreviates(short: str, full: str) -> bool:
    """Whether each word of `short` begins a word of `full`, in order: `Int. J. Ind. Organ.`.

    One of them must be shortened: `Nature` does not abbreviate `Nature Medicine`.
    """
    words = re.findall(r"\w+", full.casefold())
    parts, following = re.findall(r"\w+", short.casefold()), iter(words)
    return not set(parts) <= set(words) and all(
        any(word.startswith(part) for word in following) for part in parts
    )


def _first(parse: Callable[[Any], int | None], value: Any) -> int | None:
    """The first number that `parse` finds in a value."""
    found = map(parse, value if isinstance(value, list | tuple) else [value])
    return next((number for number in found if number is not None), None)


def _year(value: Any) -> int | None:
    """The year in a number or a text such as `2023-05-01`; None for anything else."""
    if isinstance(value, str) and _DOI.search(value):  # its numbers are no years
        return None
    if isinstance(value, str):
        found = _SHORT_NUMBER.fullmatch(value) or _YEAR.search(value)
        value = int(found[0]) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= _LAST_YEAR and value == int(value) else None


def _month(value: Any) -> int | None:
    """The month in a number, a name, or a date such as `2023-05-01`, `5 Dec 2026`, `MAR-APR`."""
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if name := _MONTH_NAME.search(text):
        return MONTHS.index(name[1].lower()) + 1
    number = _MONTH_NUMBER.search(text)
    month = int(number[1] or number[2] or number[3]) if number else 0
    return month if 1 <= month <= _LAST_MONTH else None


def _number(value: Any) -> str:
    """A volume or an issue; some programs write the identifier of a preprint there."""
    text = line(value)
    return "" if text.startswith("abs/") or _ARXIV.match(text) else text


def _pages(values: Mapping[str, Any]) -> str:
    first, last = line(values.get("first_page")), line(values.get("last_page"))
    pages = line(values.get("pages"))
    if not pages or (first and last):
        pages = f"{first}-{last}" if first and last and first != last else first
    return _DASHES.sub("-", _PAGE_SIGN.sub("", pages or line(values.get("number")))).strip("- ")


def _issn(value: Any) -> str:
    found = (_ISSN.search(text) for text in texts(value))
    return next((f"{each[1]}-{each[2].upper()}" for each in found if each), "")


def _keywords(value: Any) -> Iterable[str]:
    for text in map(unescaped, texts(value)):
        if (parts := listed(text)) is not None:
            yield from map(prose, parts)
            continue
        mark = next((mark for mark in (";", "|", "\n") if mark in text), ",")
        # A list gives one a text, and the commas in it are its own: `Societies, Medical`.
        parts = [text] if mark == "," and isinstance(value, list | tuple) else text.split(mark)
        yield from filter(None, (prose(part).strip(" .*") for part in parts))


def _url(value: Any) -> str:
    given = (visible(text).split() for text in texts(value))  # some give several in one text
    addresses = [words[0].rstrip(";,") for words in given if words]
    web = (address for address in addresses if address.lower().startswith(("http:", "https:")))
    return next(web, next((each for each in addresses if "://" not in each), ""))


def _doi(values: Mapping[str, Any]) -> str:
    """The DOI without an address before it; also one that is only in the paper's address."""
    for text in texts(values.get("doi")):
        bare = _DOI_PREFIX.sub("", text).strip()
        if bare.startswith("10."):
            return bare.split()[0].rstrip(".,;")
        if found := _DOI.search(text):
            return found[0]
    address = _url(values.get("url"))
    found = _DOI.search(address) if _DOI_PREFIX.match(address) else None
    return found[0].rstrip(".,;") if found else ""


def _arxiv(values: Mapping[str, Any]) -> str:
    for name in ("arxiv", "doi", "url", "venue"):
        for text in texts(values.get(name)):
            if found := _ARXIV.search(text) if name == "arxiv" or "arxiv" in text.lower() else None:
                return found[1]
    return ""


def _kind(values: Mapping[str, Any], arxiv: str) -> str:
    venue = line(values.get("venue")).lower()
    if arxiv and (not venue or "arxiv" in venue):
        return PREPRINT
    kinds = filter(None, map(_kind_of, texts(values.get("kind"))))
    is_serial = line(values.get("volume")) and values.get("issn")
    return next(kinds, JOURNAL if line(values.get("issue")) or is_serial else "")


def _kind_of(text: str) -> str:
    """The rarest type of those that a text lists: `Review; Conference Paper`."""
    words = {" ".join(word.lower().split()) for word in re.split(r"[;|,]", text)}
    kinds = names_of("kinds").items()
    return next((kind for kind, names in kinds if not words.isdisjoint(names)), "")
