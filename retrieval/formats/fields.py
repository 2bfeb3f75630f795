"""Checks the fields of papers, alike for every format of records."""

import re
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from retrieval.formats.seed_pages.pages import ParsedPage, ReadProgress
from retrieval.text.markup import clean, visible
from retrieval.types import Record, Skipped, Source

NO_ABSTRACT = "the paper has no abstract"
PROGRESS_EVERY = 50
"""Records between two reports of progress."""
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")
"""Halves of surrogate pairs, such as a lone `\\ud83d`: valid in JSON, but not in text."""
_FOUR_DIGITS = re.compile(r"(?<!\d)\d{4}(?!\d)")
_SHORT_NUMBER = re.compile(r"\s*[0-9]{1,3}\s*")
_LAST_YEAR = 9999
_PLACEHOLDER = re.compile(
    r"\W*(?:no abstract(?: is)?(?: available| provided)?|abstract (?:is )?not available"
    r"|not available|n/a|none|null|nan)\W*",
    re.IGNORECASE,
)
"""Placeholders of databases for a missing abstract."""


def checked(values: object, source: Source) -> Record | Skipped:
    """The record of a paper's fields, or the reason why it is skipped.

    Args:
        values: the fields by name: `id` or `_id`, `title`, `abstract` or `text`, `authors` as a
            list or one string, `venue`, `year`, `decision`, `url`, `doi`; others are ignored.
        source: where the fields were read.
    """
    try:
        fields = _Fields.model_validate(values)
    except ValidationError as error:
        return Skipped(source.file, source.line, _reason(error))
    abstract = clean(fields.abstract)
    if not abstract or _PLACEHOLDER.fullmatch(abstract):
        return Skipped(source.file, source.line, NO_ABSTRACT)
    return Record(
        given_id=fields.id.strip(),
        title=clean(fields.title),
        authors=tuple(filter(None, map(clean, fields.authors))),
        venue=_one_line(fields.venue),
        year=fields.year,
        decision=_one_line(fields.decision).lower(),
        abstract=abstract,
        url=_one_line(fields.url),
        doi=_one_line(fields.doi),
        sources=(source,),
    )


def page_of(outcomes: Iterable[Record | Skipped], total: int, progress: ReadProgress) -> ParsedPage:
    """The papers of a file, each id once, and what was skipped.

    Args:
        outcomes: each record or why it is skipped, in the order of the file.
        total: number of outcomes.
        progress: called as outcomes are consumed.
    """
    records: list[Record] = []
    skipped: list[Skipped] = []
    line_of_id: dict[str, int] = {}
    for done, outcome in enumerate(outcomes, start=1):
        if done % PROGRESS_EVERY == 0 or done == total:
            progress(done, total)
        if isinstance(outcome, Skipped):
            skipped.append(outcome)
        elif outcome.given_id in line_of_id:
            skipped.append(_repeated(outcome, line_of_id[outcome.given_id]))
        else:
            records.append(outcome)
            if outcome.given_id:
                line_of_id[outcome.given_id] = outcome.sources[0].line
    return ParsedPage(tuple(records), tuple(skipped))


def _author_list(value: Any) -> Any:
    if isinstance(value, str):
        mark = ";" if ";" in value else " and " if " and " in value else ","
        return [name.strip() for name in value.split(mark) if name.strip()]
    return value or []


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF_CHARACTER.sub("", value)
    return "" if value is None else str(value) if isinstance(value, int) else value


def _year(value: Any) -> int | None:
    """The year in a number or a text such as `2023-05-01`; None for anything else."""
    if isinstance(value, str):
        found = _SHORT_NUMBER.fullmatch(value) or _FOUR_DIGITS.search(value)
        value = int(found[0]) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= _LAST_YEAR and value == int(value) else None


Text = Annotated[str, BeforeValidator(_text)]


class _Fields(BaseModel):
    """The fields of a paper; others are ignored."""

    id: Text = Field(default="", validation_alias=AliasChoices("id", "_id"))
    abstract: Text = Field(min_length=1, validation_alias=AliasChoices("abstract", "text"))
    title: Text = ""
    authors: Annotated[list[str], BeforeValidator(_author_list)] = []
    venue: Text = ""
    year: Annotated[int | None, BeforeValidator(_year)] = None
    decision: Text = ""
    url: Text = ""
    doi: Text = ""


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _reason(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    if not where:
        return "not a JSON object"
    if where in {"abstract", "text"} and first["type"] in {"missing", "string_too_short"}:
        return NO_ABSTRACT
    return f"the field {where} cannot be used: {first['msg']}"


def _repeated(record: Record, first: int) -> Skipped:
    (source,) = record.sources
    reason = f"the id {record.given_id!r} was already given on line {first}"
    return Skipped(source.file, source.line, reason)
