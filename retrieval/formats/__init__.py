"""Reads files into records; a file's contents, not its name, decide which reader is used."""

import codecs
import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from retrieval.formats import bibtex, csv_table, json_records, tagged, xml_records
from retrieval.formats.fields import ParsedPage, ReadProgress, no_progress
from retrieval.formats.seed_pages import PAGE_READERS
from retrieval.types import InputError, Skipped

# A more specific format comes before those that its files could be mistaken for.
RECORD_READERS: tuple[ModuleType, ...] = (
    json_records,
    xml_records,
    csv_table,
    tagged,
    bibtex,
)
"""Readers of files with thousands of records; they report progress."""
EXPECTED = (
    "papers with abstracts as JSON, JSONL, BibTeX, RIS, PubMed (.nbib or XML), Web of Science, "
    "EndNote (XML or tagged), or CSV whose first row names its columns, or a page as in seeds/"
)
LARGEST_FILE = 200_000_000
"""Bytes of a file."""

_REFERENCES = "export the references themselves as RIS or BibTeX with abstracts"
_SHEET = "save the sheet as CSV (UTF-8)"
_UNPACKED = "unpack it and give the files in it"
_LOOKS = (
    (rb"%PDF", "a PDF", _REFERENCES),
    (rb"PK\x03\x04(?s:.{0,8000}?)xl/", "an Excel workbook", _SHEET),
    (rb"PK\x03\x04(?s:.{0,8000}?)word/", "a Word document", _REFERENCES),
    (rb"PK\x03\x04(?s:.{0,8000}?)sdb/", "a packed EndNote library", "export it as XML or RIS"),
    (rb"PK\x03\x04|\x1f\x8b|BZh|7z\xbc\xaf|\xfd7zXZ", "a packed file", _UNPACKED),
    (rb"\xd0\xcf\x11\xe0", "an old Word or Excel file", f"{_SHEET}, or {_REFERENCES}"),
    (rb"SQLite format 3", "a database, such as Zotero keeps", "export it from there as CSL JSON"),
    (rb"\s*\{\\rtf", "rich text", _REFERENCES),
    (rb"\s*(?:<!doctype html|<html)", "a web page", _REFERENCES),
    (rb"(?s:.{0,2000})<(?:mods|modsCollection)\b", "MODS", "export RIS instead"),
    (rb"(?s:.{0,2000})<rdf:RDF", "RDF, as Zotero writes it", "export CSL JSON or RIS instead"),
    (rb"\s*(?:<\?xml|<[a-z])", "XML of an unknown kind", "export PubMed or EndNote XML, or RIS"),
    (rb"\\documentclass|\s*\\bibitem|\s*\\begin\{", "LaTeX", "give its .bib file"),
    (rb"(?s:.{0,4000})^\s*\\bibitem", "a bibliography made by BibTeX", "give its .bib file"),
    (rb"\s*1[.:] .+", "a summary of PubMed or a list", "save it in the format PubMed (.nbib)"),
)
"""How other files begin, what they are, and what to do instead."""

VENUES = {
    # list of accepted papers
    "02e27106c9e0ba9c": ("ICLR", 2023),
    # oral session
    "7b579a4fbf843e8e": ("ICLR", 2022),
    # awards
    "f43c05cd6c8746f6": ("ICLR", 2022),
}
"""Venue and year of known files, by the first 16 hexadecimal digits of their SHA-256."""

_ENCODING = re.compile(
    rb"\s*<\?xml[^>]*encoding=[\"']([\w.-]+)|(?:\xef\xbb\xbf)?% ?Encoding: *([\w.-]+)"
)
_TEXT_ENCODING = re.compile("utf|iso|cp|mac|koi8|gb|big5|shift|euc")
"""Encodings of text; Python has some of other kinds, such as `idna`."""
_UNDECODED = re.compile("[\udc80-\udcff]")
_NOT_WESTERN = re.compile(
    "[\udc81\udc8d\udc8f\udc90\udc9d]"
    "|(?=[\x80-\u07ff]{0,3}[\udc80-\udcff])[\x80-\u07ff\udc80-\udcff]{4}"
)
_READ_AS_WESTERN = "the file is not UTF-8 and was read as Windows-1252; check accents and dashes"

_BEIR_CORPUS = "corpus.jsonl"


def files_of(paths: Iterable[Path]) -> list[Path]:
    """The files to read: each path itself, or the files of a folder, hidden ones left out.

    In a BEIR folder (Thakur et al. 2021) only the corpus is read, not queries and judgements.

    Raises:
        InputError: a path does not exist or is no file, or a folder has no files.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(
                entry
                for entry in path.rglob("*")
                if not entry.is_dir()
                and not any(part.startswith(".") for part in entry.relative_to(path).parts)
            )
            if not any(map(Path.is_file, found)):
                raise InputError(f"The folder {shown(path)} has no files; expected {EXPECTED}.")
            files += _without_judgements(found)
        elif path.is_file():
            files.append(path)
        elif path.exists():
            raise InputError(f"{shown(path)} is {SPECIAL}.")
        else:
            raise InputError(f"There is no file or folder {shown(path)}; check the path.")
    return files


SPECIAL = "a pipe, a device or a socket; give a file, and save there what comes from it"


def shown(path: Path | str) -> str:
    """A path or name in characters that can be written; bytes that are none are escaped."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _without_judgements(files: list[Path]) -> list[Path]:
    corpora = [file for file in files if file.name == _BEIR_CORPUS and _is_beir(file.parent)]
    folders = {file.parent for file in corpora}
    return [file for file in files if file in corpora or folders.isdisjoint(file.parents)]


def _is_beir(folder: Path) -> bool:
    return (folder / "queries.jsonl").is_file() or (folder / "qrels").is_dir()


def read_file(
    path: Path,
    venue: str = "",
    year: int | None = None,
    progress: ReadProgress = no_progress,
    name: str = "",
) -> ParsedPage:
    """The papers of one file, and what was skipped.

    Args:
        path: a file in a known format.
        venue: venue of papers that have none in the file.
        year: year of papers that have none in the file.
        progress: called as the records of a large file are read.
        name: the file's name in sources and errors; by default its name on disk.

    Raises:
        InputError: the file cannot be read, is empty, or is in no known format.
    """
    where = name or shown(path)
    content = _contents(path, where)
    notes: tuple[Skipped, ...] = ()
    try:
        text = _decoded(content, where)
        page = _page(text, name or shown(path.name), progress)
    except _NotTextError:
        text = _western(content)
        page = _page(text, name or shown(path.name), progress) if text else None
        if page is None:
            raise
        notes = (Skipped(name or shown(path.name), 1, _READ_AS_WESTERN),)
    if page is None:
        raise InputError(f"{where} is in no format that can be read{_looks(content, text)}.")
    if not page.records:
        why = f" (line {page.skipped[0].line}: {page.skipped[0].reason})" if page.skipped else ""
        raise InputError(
            f"{where} has no paper with an abstract{why}; databases often add abstracts only if "
            "they are chosen in the export."
        )
    known, known_year = VENUES.get(hashlib.sha256(content).hexdigest()[:16], ("", None))
    records = (
        replace(
            record,
            venue=record.venue or venue or known,
            year=record.year or year or known_year,
        )
        for record in page.records
    )
    return ParsedPage(tuple(records), page.skipped, notes + page.notes)


def _page(text: str, name: str, progress: ReadProgress) -> ParsedPage | None:
    """The result of the first reader that matches the text; None if none does."""
    page: ParsedPage | None = None
    if reader := next((reader for reader in RECORD_READERS if reader.matches(text)), None):
        page = reader.read(text, name, progress)
    elif read := next((read for fits, read in PAGE_READERS if fits(text)), None):
        page = read(text, name)
    return page


def _contents(path: Path, where: str) -> bytes:
    """The file's bytes, not more of them than can be read."""
    try:
        if not path.is_file():
            raise InputError(f"{where} is {SPECIAL}.")
        with path.open("rb") as file:
            size = path.stat().st_size
            content = b"" if size > LARGEST_FILE else file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"{where} cannot be read ({error.strerror}); check the path.") from error
    if max(size, len(content)) > LARGEST_FILE:
        raise InputError(
            f"{where} has {max(size, len(content)) // 1_000_000:,} MB; files of up to "
            f"{LARGEST_FILE // 1_000_000} MB are read, so split it."
        )
    return content


class _NotTextError(InputError):
    """The file has bytes that are no text in its encoding."""


def _decoded(content: bytes, where: str) -> str:
    if not content.strip():
        raise InputError(f"{where} is empty; expected {EXPECTED}.")
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))  # tables of Web of Science and of Excel
    encoding = "utf-16" if wide else _declared(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        advice = _looks(content, "") or "; save it as UTF-8 text"
        at = f"is not {encoding.upper()} text (byte {error.start})"
        raise _NotTextError(f"{where} {at}{advice}.") from error
    if "\x00" in text:
        raise InputError(f"{where} is binary{_looks(content, text)}.")
    # Files that were joined have a byte order mark at each seam.
    return text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")


def _declared(content: bytes) -> str:
    """The encoding that XML or JabRef names in the first line, or else UTF-8."""
    found = _ENCODING.match(content)
    try:
        name = codecs.lookup((found[1] or found[2]).decode()).name if found else "utf-8"
    except LookupError:
        name = ""
    if name in {"iso8859-1", "ascii"}:  # programs that write these names mean Windows’
        name = "cp1252"
    return name if _TEXT_ENCODING.match(name) else "utf-8"


def _western(content: bytes) -> str:
    """The text if all bytes that are not UTF-8 may be Western letters of Windows; else empty.

    Such letters and signs stand alone or in twos and threes; other scripts fill whole words.
    """
    text = content.decode("utf-8-sig", "surrogateescape")
    if "\x00" in text or _NOT_WESTERN.search(text):
        return ""
    text = _UNDECODED.sub(lambda byte: bytes([ord(byte[0]) - 0xDC00]).decode("cp1252"), text)
    return text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")


def _looks(content: bytes, text: str) -> str:
    """What a file that cannot be read looks like, and how to export it instead."""
    if text and csv_table.has_titles(text):
        return (
            ": it looks like a table of papers without a column of abstracts; "
            "export it again with abstracts"
        )
    begin = content[:10_000]
    for pattern, name, instead in _LOOKS:
        if re.match(pattern, begin, re.IGNORECASE | re.MULTILINE):
            return f": it looks like {name}; {instead}"
    return f"; expected {EXPECTED}" if text else ""
