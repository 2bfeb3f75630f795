"""Reads files into records; a file's contents, not its name, decide which reader is used."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from retrieval.formats import bibtex, csv_table, jsonl, ris
from retrieval.formats.seed_pages import awards, conference_list, oral_session, title_list
from retrieval.formats.seed_pages.pages import ParsedPage, ReadProgress, no_progress
from retrieval.types import InputError

# A more specific format comes before those that its files could be mistaken for.
RECORD_READERS: tuple[ModuleType, ...] = (jsonl, csv_table, ris, bibtex)
"""Readers of files with thousands of records; they report progress."""
PAGE_READERS: tuple[ModuleType, ...] = (conference_list, oral_session, awards, title_list)
"""Readers of pages laid out like those in seeds/."""

EXPECTED = (
    "a page of papers as in seeds/, JSONL with one paper a line, BibTeX, RIS, or CSV whose first "
    "row names its columns"
)

VENUES = {
    # list of accepted papers
    "02e27106c9e0ba9c": ("ICLR", 2023),
    # oral session
    "7b579a4fbf843e8e": ("ICLR", 2022),
    # awards
    "f43c05cd6c8746f6": ("ICLR", 2022),
}
"""Venue and year of known files, by the first 16 hexadecimal digits of their SHA-256."""

_BEIR_CORPUS = "corpus.jsonl"


def files_of(paths: Iterable[Path]) -> list[Path]:
    """The files to read: each path itself, or the files of a folder, hidden ones left out.

    In a BEIR folder (Thakur et al. 2021) only the corpus is read, not queries and judgements.

    Raises:
        InputError: a path does not exist, or a folder has no files.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(
                entry
                for entry in path.rglob("*")
                if entry.is_file() and not _is_hidden(entry.relative_to(path))
            )
            if not found:
                raise InputError(f"The folder {path} has no files; expected {EXPECTED}.")
            files += _without_judgements(found)
        elif path.exists():
            files.append(path)
        else:
            raise InputError(f"There is no file or folder {path}; check the path.")
    return files


def _without_judgements(files: list[Path]) -> list[Path]:
    corpora = [file for file in files if file.name == _BEIR_CORPUS and _is_beir(file.parent)]
    folders = {file.parent for file in corpora}
    return [file for file in files if file in corpora or folders.isdisjoint(file.parents)]


def _is_beir(folder: Path) -> bool:
    return (folder / "queries.jsonl").is_file() or (folder / "qrels").is_dir()


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


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
    shown = name or str(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{shown} cannot be read ({error.strerror}); check the path.") from error
    text = _decoded(content, shown)
    page = _page(text, name or path.name, progress)
    if page is None:
        raise InputError(f"{shown} is in no format that can be read; expected {EXPECTED}.")
    if not page.records:
        why = f" (line {page.skipped[0].line}: {page.skipped[0].reason})" if page.skipped else ""
        raise InputError(f"{shown} has no paper with an abstract{why}; expected {EXPECTED}.")
    known, known_year = VENUES.get(hashlib.sha256(content).hexdigest()[:16], ("", None))
    records = (
        replace(
            record,
            venue=record.venue or venue or known,
            year=record.year or year or known_year,
        )
        for record in page.records
    )
    return ParsedPage(tuple(records), page.skipped)


def _page(text: str, name: str, progress: ReadProgress) -> ParsedPage | None:
    """The result of the first reader that matches the text; None if none does."""
    page: ParsedPage | None = None
    if reader := next((reader for reader in RECORD_READERS if reader.matches(text)), None):
        page = reader.read(text, name, progress)
    elif reader := next((reader for reader in PAGE_READERS if reader.matches(text)), None):
        page = reader.read(text, name)
    return page


def _decoded(content: bytes, shown: str) -> str:
    if not content.strip():
        raise InputError(f"{shown} is empty; expected {EXPECTED}.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{shown} is not UTF-8 text (byte {error.start}); expected {EXPECTED}."
        ) from error
    if "\x00" in text:
        raise InputError(f"{shown} is binary; expected {EXPECTED}.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
