"""Reader of BibTeX: LaTeX in its fields becomes plain text, formulas stay `$…$`."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bibtexparser.entrypoint import parse_string
from bibtexparser.library import Library
from bibtexparser.middlewares.names import parse_single_name_into_parts
from bibtexparser.model import Block, Entry, ImplicitComment, ParsingFailedBlock

from retrieval.formats.authors import Person, people, person
from retrieval.formats.fields import (
    ParsedPage,
    ReadProgress,
    checked,
    names_of,
    no_progress,
    page_of,
)
from retrieval.text.latex import decode, unescaped
from retrieval.text.names import GENERATION
from retrieval.text.names import surname as surname_of
from retrieval.types import Record, Skipped, Source

# Broken entries are reported as skipped; without a handler Python would print them, too.
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())

_ENTRY = re.compile(r"^[ \t]*@[A-Za-z]+[ \t]*[{(]", re.MULTILINE)
_OF_VOLUME = ("venue", "year", "month", "publisher", "issn")
"""Fields that a paper has from the volume that it is in."""
_COMMAS = 2
"""Most commas in a name of BibTeX."""
_TOKEN = re.compile(r'\\.|[{}"#]', re.DOTALL)
_PART = re.compile(r"\s*\b(family|given|prefix|suffix)(?:-i)?\s*=\s*(\"[^\"]*\"|[^,]*),?")

_AND = re.compile(r"\\.|[{}]|(?<=\s)and(?=\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry with its fields in LaTeX."""

    key: str
    type: str
    line: int
    fields: dict[str, str]
    """By name in lower case; the first one if a field is repeated, as in BibTeX."""


def matches(text: str) -> bool:
    """Whether at least one line opens an entry."""
    return bool(_ENTRY.search(text))


def read(text: str, file: str, progress: ReadProgress = no_progress) -> ParsedPage:
    """The papers of the file; broken entries and those without an abstract are skipped."""
    library = parse_string(text, parse_stack=[])
    strings = _strings(library)
    blocks = [_entry_or_fault(block, strings, file) for block in _blocks(library)]
    entries = {
        block.key.lower(): block
        for block in reversed(blocks)
        if isinstance(block, _Entry) and block.key
    }
    parents = {_parent(block) for block in blocks if isinstance(block, _Entry)}
    blocks = [block for block in blocks if not _is_only_parent(block, parents)]
    outcomes = (
        block if isinstance(block, Skipped) else _outcome(block, entries, file) for block in blocks
    )
    return page_of(outcomes, len(blocks), progress)


def references(text: str) -> tuple[dict[str, Record], list[Skipped]]:
    """The readable entries of a file by their keys, also those without an abstract; the others."""
    library = parse_string(text, parse_stack=[])
    strings = _strings(library)
    blocks = [_entry_or_fault(block, strings, "") for block in _blocks(library)]
    entries = {each.key.strip(): _reference(each) for each in blocks if isinstance(each, _Entry)}
    return entries, [each for each in blocks if isinstance(each, Skipped)]


def _reference(entry: _Entry) -> Record:
    fields = entry.fields
    doi = _address(fields.get("doi", "")).lower()
    year = re.search(r"\d{4}", fields.get("year", "") or fields.get("date", ""))
    return Record(
        abstract="",
        sources=(),
        title=_title(fields),
        authors=tuple(whole for whole, _ in _authors(fields.get("author", ""))),
        year=int(year[0]) if year else None,
        doi=re.sub(r"^(?:https?://)?(?:dx\.)?doi\.org/", "", doi),
    )


def _blocks(library: Library) -> Iterator[Block]:
    """Entries, faults, and text left outside its entry by a closing brace too many."""
    before: Block | None = None
    for block in library.blocks:
        if isinstance(block, Entry | ParsingFailedBlock) or _is_torn_off(block, before):
            yield block
        before = block


def _is_torn_off(block: Block, before: Block | None) -> bool:
    return (
        isinstance(block, ImplicitComment)
        and isinstance(before, Entry)
        and block.comment.startswith((",", "}"))
    )


def _entry_or_fault(block: Block, strings: Mapping[str, str], file: str) -> _Entry | Skipped:
    line = (block.start_line or 0) + 1
    if isinstance(block, ImplicitComment):
        return Skipped(file, line, "text outside an entry, which one closing brace too many ends")
    whole = block.ignore_error_block if isinstance(block, ParsingFailedBlock) else block
    if not isinstance(whole, Entry):
        return Skipped(file, line, f"a broken entry ({_fault(block)})")
    fields: dict[str, str] = {}
    for field in whole.fields:
        fields.setdefault(field.key.lower(), _value(str(field.value), strings))
    return _Entry(whole.key, whole.entry_type.lower(), line, fields)


def _fault(block: Block) -> str:
    error = block.error if isinstance(block, ParsingFailedBlock) else None
    why = str(getattr(error, "abort_reason", error))
    return " ".join(why.replace("`", "'").split()).rstrip(".")


def _strings(library: Library) -> dict[str, str]:
    """The `@string` definitions by name in lower case; each may use earlier ones."""
    strings: dict[str, str] = {}
    for string in library.strings:
        strings[string.key.lower()] = _value(string.value, strings)
    return strings


def _value(value: str, strings: Mapping[str, str]) -> str:
    """A field's value without its delimiters: `"A " # name # { B}` joined, names looked up."""
    return "".join(_part(part.strip(), strings) for part in _parts(value))


def _part(part: str, strings: Mapping[str, str]) -> str:
    if len(part) > 1 and (part[0], part[-1]) in {("{", "}"), ('"', '"')}:
        return part[1:-1]
    return strings.get(part.lower(), part)


def _parts(value: str) -> Iterator[str]:
    """`value` cut at each `#` outside braces and quotes."""
    depth = start = 0
    is_quoted = False
    for token in _TOKEN.finditer(value):
        if token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
        elif depth == 0 and token[0] == '"':
            is_quoted = not is_quoted
        elif depth == 0 and token[0] == "#" and not is_quoted:
            yield value[start : token.start()]
            start = token.end()
    yield value[start:]


def _parent(entry: _Entry) -> str:
    return entry.fields.get("crossref", "").strip().lower()


def _is_only_parent(entry: _Entry | Skipped, parents: Iterable[str]) -> bool:
    """Whether the entry is not a paper but a volume that others refer to."""
    if isinstance(entry, Skipped):
        return False
    return entry.key.lower() in parents and "abstract" not in entry.fields


def _outcome(entry: _Entry, entries: Mapping[str, _Entry], file: str) -> Record | Skipped:
    fields = _inherited(entry, entries)
    values: dict[str, object] = {
        field: [
            decode(fields[name])
            for name in names
            if fields.get(name, "").strip() and not _is_address(name, fields[name])
        ]
        for field, names in names_of("bibtex").items()
    }
    venue = fields.get("journal", "").strip("{} ").removeprefix("\\")
    keywords = (fields.get(name) for name in ("author_keywords", "keywords", "keywords-plus"))
    arxiv = fields.get("archiveprefix", fields.get("eprinttype", "arxiv")).lower() == "arxiv"
    values |= {
        "id": entry.key.strip(),
        "title": _title(fields),
        "authors": list(_authors(fields.get("author", ""))),
        "venue": names_of("journals").get(venue) or values["venue"],
        "kind": [entry.type, decode(fields.get("type", ""))],
        "url": [
            _address(fields[name])
            for name in ("url", "howpublished")
            if (name == "url" and name in fields) or _is_address(name, fields.get(name, ""))
        ],
        "doi": _address(fields.get("doi", "")),
        "keywords": decode(next(filter(None, keywords), "")),
        "arxiv": fields.get("eprint", "") if arxiv else "",
    }
    return checked(values, Source(file, entry.line))


def _is_address(name: str, value: str) -> bool:
    """Whether an entry says by its address how it was published, rather than by its venue."""
    return name == "howpublished" and ("://" in value or "\\url" in value)


def _title(fields: Mapping[str, str]) -> str:
    parts = (decode(fields.get(name, "")) for name in ("title", "subtitle"))
    return ": ".join(filter(None, parts))


def _inherited(entry: _Entry, entries: Mapping[str, _Entry]) -> dict[str, str]:
    """The entry's fields, completed by its volume's; the volume's title is a venue."""
    volume = entries.get(_parent(entry))
    if volume is None:
        return entry.fields
    of_volume = {name for field in _OF_VOLUME for name in names_of("bibtex")[field]}
    given = {name: value for name, value in volume.fields.items() if name in of_volume}
    if "title" in volume.fields:
        given.setdefault("booktitle", volume.fields["title"])
    return {**given, **entry.fields}


def _authors(names: str) -> Iterator[Person]:
    """`Last, First and …` as `First Last`; `and others` is left out."""
    names = " ".join(names.split())
    listed = list(map(_in_parts, _people(names)))
    if len(listed) == 1 and listed[0].count(",") > _COMMAS and "{" not in listed[0]:
        yield from people(decode(names))
        return
    for name in listed:
        parts = parse_single_name_into_parts(name, strict=False)
        surname = decode(" ".join((*parts.von, *parts.last)))
        whole = decode(parts.merge_first_name_first)
        surname = surname_of(whole) if GENERATION.fullmatch(surname) else surname
        turned = person(whole) if "," not in name and whole.endswith(".") else (whole, surname)
        if whole and whole.lower() != "others":
            yield turned if turned[1] else (whole, surname)


def _in_parts(name: str) -> str:
    """`family=Berg, given=Anna, prefix=van den` of biblatex as `van den Berg, Anna`."""
    if not _PART.match(name):
        return name
    part = {found[1]: found[2].strip(' "') for found in _PART.finditer(name)}
    family = " ".join(filter(None, (part.get("prefix"), part.get("family"))))
    return ", ".join(filter(None, (f"{{{family}}}", part.get("suffix"), part.get("given"))))


def _people(names: str) -> Iterator[str]:
    r"""`names` cut at each `and` outside braces.

    The parser's own function loses an accent at the beginning of a name: `\'Elan`.
    """
    depth = start = 0
    for token in _AND.finditer(names):
        if token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
        elif depth == 0 and token[0].lower() == "and":
            yield names[start : token.start()]
            start = token.end()
    yield names[start:]


def _address(text: str) -> str:
    r"""A URL or DOI without `\url{…}` or braces around it and without escapes."""
    bare = re.sub(r"\\url\s*\{([^{}]*)\}", r"\1", text).strip()
    return unescaped(bare.removeprefix("{").removesuffix("}") if bare.startswith("{") else bare)
