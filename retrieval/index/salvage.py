"""Reads the records that are left in a damaged database of Chroma.

SQLite gives up where a page that leads to others is damaged. Here each page with rows is read by
itself (https://www.sqlite.org/fileformat2.html); the form of a row shows its table, and a record
counts only if its checksum fits. Chunks are not read: they are made again from the records.
"""

import mmap
import re
import shutil
import sqlite3
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

from retrieval.index.connection import DATABASE, alone
from retrieval.index.records import StoredPaper, read_paper
from retrieval.types import LibraryError

Row = tuple[int, list[Any]]
"""The number of a row and its values."""

BEING_REPAIRED = f"{DATABASE}.being-repaired"
"""The copy of a damaged database until the repair is complete."""
_MAGIC = b"SQLite format 3\x00"
_HEADER = 100
"""Bytes before the first page's own beginning."""
_USUAL_PAGE = 4096
_INDEX_LEAF, _TABLE_LEAF = 10, 13
_NULL, _FLOAT, _ZERO, _ONE, _BLOB = 0, 7, 8, 9, 12
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
"""Bytes of a value, by its type."""
_LONGEST_NUMBER = 9
_DOCUMENT = "chroma:document"
_KINDS = 4
"""Columns for a field's value, one for each type."""
_SEGMENT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MAIN_CODE = 0xFF
"""The bits of SQLite's codes that name the kind of an error."""
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_damaged(folder: Path) -> bool:
    """Whether SQLite finds damage in the structure of the database in `folder`."""
    with alone(folder) as connection:
        if connection.is_gone or not (folder / DATABASE).exists():
            return connection.is_gone
        try:
            with closing(sqlite3.connect(folder / DATABASE)) as opened:
                return bool(opened.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",))
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & _MAIN_CODE in _DAMAGE:
                return True
            raise LibraryError(
                f"{folder / DATABASE} cannot be read ({error}); check that the folder is writable."
            ) from error


def set_aside(folder: Path) -> Path:
    """Copy the damaged database in `folder`; return the copy, to be kept by `keep` at the end.

    Raises:
        LibraryError: the folder cannot be written.
    """
    copy = folder / BEING_REPAIRED
    try:
        folder.mkdir(exist_ok=True)
        copy.write_bytes(b"")
        if (folder / DATABASE).exists():
            shutil.copyfile(folder / DATABASE, copy)
    except OSError as error:
        raise LibraryError(
            f"{copy} cannot be written ({error.strerror}); check the folder and the disk's room."
        ) from error
    return copy


def keep(copy: Path) -> Path:
    """Give the copy of a damaged database a name to stay with, once the repair is complete."""
    names = (copy.with_name(f"{DATABASE}.damaged-{number}") for number in count(1))
    return copy.rename(next(name for name in names if not name.exists()))


def salvaged(database: Path) -> list[StoredPaper]:
    """The papers whose records are whole, by their ids, in a database damaged in any way."""
    if not database.stat().st_size:
        return []
    with database.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        pages = _Pages(memoryview(whole).toreadonly())
        try:
            return _papers(pages)
        finally:
            pages.content.release()


def _papers(pages: "_Pages") -> list[StoredPaper]:
    ids: dict[int, set[str]] = {}
    fields: dict[int, dict[str, Any]] = {}
    for number, values in pages.rows():
        match values:
            case [None, str(segment), str(id_), _, str()] if _SEGMENT.fullmatch(segment):
                ids.setdefault(number, set()).add(id_)  # embeddings
            case [str(segment), str(id_), int(row)] if _SEGMENT.fullmatch(segment):
                ids.setdefault(row, set()).add(id_)  # their index, which has the ids once more
            case [int(row), str(key), *given] if len(given) == _KINDS and key != _DOCUMENT:
                fields.setdefault(row, {})[key] = _given(*given)  # embedding_metadata
    records = {
        row: found
        for row, found in fields.items()
        if "checksum" in found and len(ids.get(row, ())) == 1
    }
    papers: dict[str, StoredPaper] = {}
    for row, text in _documents(pages, records):
        with suppress(ValueError, TypeError):  # bytes where there was a text have no checksum
            (id_,) = ids[row]
            papers[id_] = read_paper(id_, dict(records[row]), text)
    return [papers[id_] for id_ in sorted(papers)]


def _documents(pages: "_Pages", records: Mapping[int, Any]) -> Iterator[tuple[int, str]]:
    """The abstracts of records; the index of full text has each once more."""
    for number, values in pages.rows():
        match values:
            case [int(row), str(key), str(text), _, _, _] if key == _DOCUMENT and row in records:
                yield row, text
            case [None, str(text)] if number in records:
                yield number, text


def _given(text: str | None, whole: int | None, real: float | None, truth: int | None) -> Any:
    """The one value of a field."""
    if truth is not None:
        return bool(truth)
    return next((each for each in (text, whole, real) if each is not None), None)


class _Pages:
    """The pages of a database, as far as they are there."""

    def __init__(self, content: memoryview) -> None:
        self.content = content
        header = bytes(content[:_HEADER])
        knows = header.startswith(_MAGIC)
        size = int.from_bytes(header[16:18]) if knows else _USUAL_PAGE
        self._size = 65536 if size == 1 else max(512, size)
        self._usable = self._size - (header[20] if knows else 0)
        self._free = set[int]()
        with suppress(struct.error):  # the list may be damaged, too
            self._free.update(self._unused(int.from_bytes(header[32:36]) if knows else 0))

    def rows(self) -> Iterator[Row]:
        """The rows of all pages in use; those that cannot be read are left out."""
        for number in range(1, 1 - -len(self.content) // self._size):
            if number not in self._free:
                yield from self._rows_of(self._page(number), _HEADER if number == 1 else 0)

    def _rows_of(self, page: bytes, start: int) -> Iterator[Row]:
        kind = page[start] if len(page) > start else 0
        if kind not in {_INDEX_LEAF, _TABLE_LEAF}:
            return
        first, cells = start + 8, int.from_bytes(page[start + 3 : start + 5])
        for at in range(first, min(first + 2 * cells, len(page)), 2):
            with suppress(IndexError, ValueError, struct.error):
                yield self._row(page, int.from_bytes(page[at : at + 2]), kind)

    def _row(self, page: bytes, at: int, kind: int) -> Row:
        length, at = _number(page, at)
        row, at = _number(page, at) if kind == _TABLE_LEAF else (0, at)
        return row, list(_values(self._payload(page, at, length)))

    def _payload(self, page: bytes, at: int, length: int) -> bytes:
        """The bytes of a row, whose end may be on pages of its own."""
        if length > len(self.content):
            raise ValueError("longer than the file")
        least = (self._usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (self._usable - 4)
        most = self._usable - 35
        if length <= most:
            here = length
        elif here > most:
            here = least
        pieces, left = [page[at : at + here]], length - here
        following = int.from_bytes(page[at + here : at + here + 4])
        while left > 0 and following > 0:
            more = self._page(following)[: self._usable]
            following = int.from_bytes(more[:4])
            pieces.append(more[4 : 4 + left])
            left -= max(1, len(pieces[-1]))
        payload = b"".join(pieces)
        if len(payload) != length:
            raise ValueError("cut off")
        return payload

    def _page(self, number: int) -> bytes:
        return bytes(self.content[(number - 1) * self._size : number * self._size])

    def _unused(self, trunk: int) -> Iterator[int]:
        """The numbers of pages that keep only what was deleted."""
        seen = set[int]()
        while trunk and trunk not in seen:
            seen.add(trunk)
            following, leaves, *numbers = struct.unpack(f">{self._size // 4}I", self._page(trunk))
            yield from (trunk, *numbers[:leaves])
            trunk = following


def _values(payload: bytes) -> Iterator[Any]:
    end, at = _number(payload, 0)
    types = []
    while at < end:
        type_, at = _number(payload, at)
        types.append(type_)
    for type_ in types:
        size = (type_ - _BLOB) // 2 if type_ >= _BLOB else _SIZES[type_]
        yield _value(type_, payload[at : at + size])
        at += size


def _value(type_: int, content: bytes) -> Any:
    if type_ in {_NULL, _ZERO, _ONE}:
        return {_NULL: None, _ZERO: 0, _ONE: 1}[type_]
    if type_ == _FLOAT:
        return struct.unpack(">d", content)[0]
    if type_ < _BLOB:
        return int.from_bytes(content, signed=True)
    return content.decode() if type_ % 2 else content


def _number(content: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    number = 0
    for place in range(at, at + _LONGEST_NUMBER - 1):
        number = number << 7 | content[place] & 0x7F
        if content[place] < 0x80:  # noqa: PLR2004 - the last byte has no highest bit
            return number, place + 1
    return number << 8 | content[at + _LONGEST_NUMBER - 1], at + _LONGEST_NUMBER
