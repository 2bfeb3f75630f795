"""Reader of JSONL: one paper a line, BEIR's `_id` and `text` understood as well."""

import json
import re
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from retrieval.errors import InputError
from retrieval.markup import clean
from retrieval.readers.pages import Page
from retrieval.types import Record, Skipped, Source

_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")
"""What JSON can spell, `\\ud83d` alone, but no text can hold."""


def _author_list(value: Any) -> Any:
    if isinstance(value, str):
        mark = ";" if ";" in value else " and " if " and " in value else ","
        return [name.strip() for name in value.split(mark) if name.strip()]
    return value or []


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF_CHARACTER.sub("", value)
    return "" if value is None else str(value) if isinstance(value, int) else value


def _year(value: Any) -> Any:
    return value or None


class _Line(BaseModel):
    """The fields of a line; others are ignored."""

    id: Annotated[str, BeforeValidator(_text)] = Field(
        default="", validation_alias=AliasChoices("id", "_id")
    )
    abstract: Annotated[str, BeforeValidator(_text)] = Field(
        min_length=1, validation_alias=AliasChoices("abstract", "text")
    )
    title: Annotated[str, BeforeValidator(_text)] = ""
    authors: Annotated[list[str], BeforeValidator(_author_list)] = []
    venue: Annotated[str, BeforeValidator(_text)] = ""
    year: Annotated[int | None, BeforeValidator(_year)] = Field(default=None, ge=0, le=9999)
    decision: Annotated[str, BeforeValidator(_text)] = ""
    url: Annotated[str, BeforeValidator(_text)] = ""
    doi: Annotated[str, BeforeValidator(_text)] = ""


def matches(text: str) -> bool:
    """Whether the first character that is not blank opens a JSON object."""
    return text.lstrip().startswith("{")


def read(text: str, file: str) -> Page:
    """The papers of the file; a line without an abstract is skipped with the reason.

    Raises:
        InputError: a line is not JSON, or two lines give the same id.
    """
    records: list[Record] = []
    skipped: list[Skipped] = []
    line_of_id: dict[str, int] = {}
    for number, raw in enumerate(text.split("\n"), start=1):
        if not raw.strip():
            continue
        outcome = _record(_parse(raw, file, number), Source(file, number))
        if isinstance(outcome, Skipped):
            skipped.append(outcome)
            continue
        first = line_of_id.setdefault(outcome.given_id, number) if outcome.given_id else number
        if first != number:
            raise InputError(
                f"{file}, line {number}: the id {outcome.given_id!r} was already given on line "
                f"{first}; give every paper an id of its own."
            )
        records.append(outcome)
    return Page(tuple(records), tuple(skipped))


def _parse(raw: str, file: str, number: int) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:  # numbers and nesting have limits
        why = str(error)
        if isinstance(error, json.JSONDecodeError):
            why = f"{error.msg} at column {error.colno}"
        raise InputError(
            f"{file}, line {number} is not valid JSON ({why}); "
            "expected one object a line: mend the line and ingest again."
        ) from error


def _record(value: Any, source: Source) -> Record | Skipped:
    try:
        line = _Line.model_validate(value)
    except ValidationError as error:
        return Skipped(source.file, source.line, _reason(error))
    abstract = clean(line.abstract)
    if not abstract:
        return Skipped(source.file, source.line, "the abstract is empty")
    return Record(
        given_id=line.id.strip(),
        title=clean(line.title),
        authors=tuple(clean(name) for name in line.authors if name.strip()),
        venue=line.venue.strip(),
        year=line.year,
        decision=line.decision.strip().lower(),
        abstract=abstract,
        url=line.url.strip(),
        doi=line.doi.strip(),
        sources=(source,),
    )


def _reason(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else "not a JSON object"
