"""Reader of a conference's list of papers: title, authors, and `abstract@…(Decision)…: text`.

Titles are plain or links; the abstract's mark varies; an abstract may have several paragraphs.
"""

import re

from retrieval.formats.seed_pages.pages import PageLine, ParsedPage, lines_of
from retrieval.text.markup import clean
from retrieval.types import Record, Skipped, Source

_ABSTRACT = re.compile(
    r"^[-•*]\s+\[?abstract@\[?open-review\\?\((?P<decision>[A-Za-z ]+)\\?\)\]\([^)]*\):?\s*"
    r"(?P<text>.*)$",
    re.IGNORECASE,
)
_LINKED_TITLE = re.compile(r"^\[(?P<title>.+)\]\(#\)$")
_LIST_MARK = re.compile(r"^[-•*]\s+")


def matches(text: str) -> bool:
    """Whether any line of `text` opens an abstract in this way."""
    return any(_ABSTRACT.match(line.text) for line in lines_of(text))


def read(text: str, file: str) -> ParsedPage:
    """The papers of the list; lines that belong to none are skipped."""
    lines = list(lines_of(text))
    opens = [index for index, line in enumerate(lines) if _ABSTRACT.match(line.text)]
    heads = [_head_start(lines, index) for index in opens]
    records: list[Record] = []
    skipped = [
        Skipped(file, line.number, "text before the first paper")
        for line in lines[: heads[0] if heads else len(lines)]
    ]
    for index, head, following in zip(opens, heads, [*heads[1:], len(lines)], strict=True):
        body, strays = _split_strays(lines[index + 1 : following])
        record = _record(lines[head:index], lines[index], body, file)
        if record.abstract:
            records.append(record)
        else:
            skipped.append(Skipped(file, lines[index].number, "the abstract is empty"))
        skipped += [
            Skipped(file, line.number, "title or authors of a paper without an abstract")
            for line in strays
        ]
    return ParsedPage(tuple(records), tuple(skipped))


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


def _record(head: list[PageLine], opening: PageLine, body: list[PageLine], file: str) -> Record:
    found = _ABSTRACT.match(opening.text)
    assert found is not None  # noqa: S101 - `opening` was chosen by this expression
    title = ""
    authors: tuple[str, ...] = ()
    for line in head:
        if _is_authors(line):
            authors = _authors(line.text)
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


def _authors(text: str) -> tuple[str, ...]:
    names = (clean(name) for name in _LIST_MARK.sub("", text).split(","))
    return tuple(name for name in names if name)
