"""Readers of pages laid out like those in seeds/: four layouts.

- A conference's list: title, authors, and `abstract@…(Decision)…: text`; titles are plain or links,
  the abstract's mark varies, and an abstract may have several paragraphs.
- An oral session: time slot, award, title, authors, abstract.
- Awards: award, sometimes a title, abstract; papers repeat.
- Titles with abstracts among navigation text.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from retrieval.formats.fields import ParsedPage
from retrieval.formats.merge import fold
from retrieval.text.markup import clean
from retrieval.types import Record, Skipped, Source

LONG_PARAGRAPH = 200
"""Characters from which a paragraph counts as an abstract, not a title."""
NAVIGATION = "navigation text, not part of a paper"
AWARDS = ("Outstanding Paper", "Honorable Mention")


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line that is not blank, without its surrounding space."""

    number: int
    """From 1."""
    text: str
    after_blank: bool
    """Whether it follows a blank line or is the first."""


def lines_of(text: str) -> Iterator[PageLine]:
    """The lines of `text` that are not blank."""
    after_blank = True
    for number, raw in enumerate(text.split("\n"), start=1):
        stripped = raw.strip()
        if stripped:
            yield PageLine(number, stripped, after_blank)
        after_blank = not stripped


def _blocks(
    text: str, opens: Callable[[PageLine], bool]
) -> tuple[list[PageLine], list[list[PageLine]]]:
    """The lines before the first one that opens a block, and the lines of each block."""
    lines = list(lines_of(text))
    starts = [at for at, line in enumerate(lines) if opens(line)]
    ends = [*starts, len(lines)]
    return lines[: ends[0]], [lines[start:end] for start, end in pairwise(ends)]


def _left_out(lines: Iterable[PageLine], reason: str, file: str) -> Iterator[Skipped]:
    return (Skipped(file, line.number, reason) for line in lines)


def _page(outcomes: Iterable[Record | Skipped]) -> ParsedPage:
    found = list(outcomes)
    skipped = (each for each in found if isinstance(each, Skipped))
    return ParsedPage(
        tuple(each for each in found if isinstance(each, Record)),
        tuple(sorted(skipped, key=lambda each: each.line)),
    )


_ABSTRACT = re.compile(
    r"^[-•*]\s+\[?abstract@\[?open-review\\?\((?P<decision>[A-Za-z ]+)\\?\)\]\([^)]*\):?\s*"
    r"(?P<text>.*)$",
    re.IGNORECASE,
)
_LINKED_TITLE = re.compile(r"^\[(?P<title>.+)\]\(#\)$")
_LIST_MARK = re.compile(r"^[-•*]\s+")


def is_list(text: str) -> bool:
    """Whether any line of `text` opens an abstract in this way."""
    return any(_ABSTRACT.match(line.text) for line in lines_of(text))


def read_list(text: str, file: str) -> ParsedPage:
    """The papers of the list; lines that belong to none are skipped."""
    lines = list(lines_of(text))
    opens = [index for index, line in enumerate(lines) if _ABSTRACT.match(line.text)]
    heads = [_head_start(lines, index) for index in opens]
    before = lines[: heads[0] if heads else len(lines)]
    outcomes: list[Record | Skipped] = [*_left_out(before, "text before the first paper", file)]
    for index, head, following in zip(opens, heads, [*heads[1:], len(lines)], strict=True):
        body, strays = _split_strays(lines[index + 1 : following])
        record = _listed(lines[head:index], lines[index], body, file)
        empty = _left_out([lines[index]], "the abstract is empty", file)
        outcomes += [record] if record.abstract else empty
        outcomes += _left_out(strays, "title or authors of a paper without an abstract", file)
    return _page(outcomes)


def _head_start(lines: list[PageLine], opening: int) -> int:
    """Index of the first line of the paper whose abstract opens at `opening`: title, authors."""
    start = opening
    if start > 0 and _is_authors(lines[start - 1]):
        start -= 1
    if start > 0 and _may_be_title(lines[start - 1]):
        start -= 1
    return start


def _is_authors(line: PageLine) -> bool:
    return bool(_LIST_MARK.match(line.text)) and not _ABSTRACT.match(line.text)


def _may_be_title(line: PageLine) -> bool:
    return line.after_blank and not _LIST_MARK.match(line.text)


def _split_strays(lines: list[PageLine]) -> tuple[list[PageLine], list[PageLine]]:
    """Further paragraphs of an abstract, and lines of papers without one."""
    for position, line in enumerate(lines):
        if _LINKED_TITLE.match(line.text):
            return lines[:position], lines[position:]
    return lines, []


def _listed(head: list[PageLine], opening: PageLine, body: list[PageLine], file: str) -> Record:
    found = _ABSTRACT.match(opening.text)
    assert found is not None  # noqa: S101 - `opening` was chosen by this expression
    title = ""
    authors: tuple[str, ...] = ()
    for line in head:
        if _is_authors(line):
            authors = _names(line.text)
        else:
            linked = _LINKED_TITLE.match(line.text)
            title = clean(linked["title"] if linked else line.text)
    return Record(
        title=title,
        authors=authors,
        decision=found["decision"].strip().lower(),
        abstract=clean(" ".join([found["text"], *(line.text for line in body)])),
        sources=(Source(file, (head[0] if head else opening).number),),
    )


def _names(text: str) -> tuple[str, ...]:
    names = (clean(name) for name in _LIST_MARK.sub("", text).split(","))
    return tuple(name for name in names if name)


_SLOT = re.compile(r"^[A-Z][a-z]{2} \d{1,2} [A-Z][a-z]+ \d{1,2}:\d{2} - \d{1,2}:\d{2} [A-Z]{2,5}$")
_AUTHOR_MARK = " · "


def _is_slot(line: PageLine) -> bool:
    return bool(_SLOT.match(line.text))


def is_session(text: str) -> bool:
    """Whether any line of `text` is a time slot."""
    return any(map(_is_slot, lines_of(text)))


def read_session(text: str, file: str) -> ParsedPage:
    """The talks of the session; a talk without an award has the decision `oral`."""
    before, talks = _blocks(text, _is_slot)
    outcomes = (each for talk in talks for each in _talk(talk, file))
    return _page([*_left_out(before, NAVIGATION, file), *outcomes])


def _talk(talk: list[PageLine], file: str) -> Iterator[Record | Skipped]:
    slot, *rest = talk
    abstract = [line for line in rest if len(line.text) >= LONG_PARAGRAPH]
    if not abstract:
        yield from _left_out(talk, "a talk without an abstract", file)
        return
    award, title = "", ""
    authors: tuple[str, ...] = ()
    for line in (line for line in rest if line not in abstract):
        if line.text in AWARDS and not award:
            award = line.text.lower()
        elif _AUTHOR_MARK in line.text and not authors:
            authors = tuple(clean(name) for name in line.text.split(_AUTHOR_MARK) if name.strip())
        elif not title and not authors:
            title = clean(line.text)
        else:
            yield Skipped(file, line.number, "neither title, authors nor abstract")
    yield Record(
        title=title,
        authors=authors,
        decision=award or "oral",
        abstract=clean(" ".join(line.text for line in abstract)),
        sources=(Source(file, slot.number),),
    )


_PRESENTATION = re.compile(r"^\[\s*[A-Z][a-z]+\s*\]\s*")
"""`[ Virtual ]`: the form of the talk."""


def _is_award(line: PageLine) -> bool:
    return line.text in AWARDS


def is_awards(text: str) -> bool:
    """Whether any line of `text` is an award."""
    return any(map(_is_award, lines_of(text)))


def read_awards(text: str, file: str) -> ParsedPage:
    """One record for every awarded paper; such a page lists papers more than once."""
    before, awards = _blocks(text, _is_award)
    outcomes = (each for award in awards for each in _awarded(award, file))
    page = _page([*_left_out(before, NAVIGATION, file), *outcomes])
    return ParsedPage(tuple(fold(page.records)), page.skipped)


def _awarded(lines: list[PageLine], file: str) -> Iterator[Record | Skipped]:
    """The paper of an award: perhaps a title, its abstract, then other text."""
    award, *rest = lines
    at = next((at for at, line in enumerate(rest) if len(line.text) >= LONG_PARAGRAPH), len(rest))
    titles, abstract, others = rest[:at], rest[at : at + 1], rest[at + 1 :]
    if abstract:
        yield Record(
            title=clean(_PRESENTATION.sub("", titles[0].text)) if titles else "",
            decision=award.text.lower(),
            abstract=clean(_PRESENTATION.sub("", abstract[0].text)),
            sources=(Source(file, award.number),),
        )
    else:
        yield from _left_out([award, *titles[:1]], "an award without an abstract", file)
    yield from _left_out(titles[1:], "neither title nor abstract", file)
    yield from _left_out(others, NAVIGATION, file)


MINIMUM_SHARE = 0.6
"""Least share of lines in pairs of title and abstract."""


def is_titles(text: str) -> bool:
    """Whether most of `text` is titles, each followed by a long paragraph."""
    lines = list(lines_of(text))
    return bool(lines) and 2 * len(_pairs(lines)) >= MINIMUM_SHARE * len(lines)


def read_titles(text: str, file: str) -> ParsedPage:
    """The papers of the page; lines that are neither title nor abstract are skipped."""
    lines = list(lines_of(text))
    pairs = _pairs(lines)
    used = {line for pair in pairs for line in pair}
    records = (
        Record(
            title=clean(title.text),
            abstract=clean(abstract.text),
            sources=(Source(file, title.number),),
        )
        for title, abstract in pairs
    )
    unused = (line for line in lines if line not in used)
    return _page([*records, *_left_out(unused, NAVIGATION, file)])


def _pairs(lines: list[PageLine]) -> list[tuple[PageLine, PageLine]]:
    return [
        (first, second)
        for first, second in pairwise(lines)
        if len(first.text) < LONG_PARAGRAPH <= len(second.text)
    ]


PAGE_READERS: tuple[tuple[Callable[[str], bool], Callable[[str, str], ParsedPage]], ...] = (
    (is_list, read_list),
    (is_session, read_session),
    (is_awards, read_awards),
    (is_titles, read_titles),
)
"""Each reader, after the question whether it fits a text; the most specific first."""
