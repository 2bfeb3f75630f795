"""Files into records: the reader is chosen by what a file contains, not by its name."""

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from retrieval.errors import InputError
from retrieval.readers import (
    awards,
    bibtex,
    conference_list,
    csv_table,
    jsonl,
    oral_session,
    ris,
    title_list,
)
from retrieval.readers.pages import Page, Told, untold
from retrieval.readers.provenance import known_venue, with_provenance

# A more particular format comes before the ones that its files could also be taken for.
RECORD_READERS: tuple[ModuleType, ...] = (jsonl, csv_table, ris, bibtex)
"""Readers of files with thousands of records; they tell how far they are."""
PAGE_READERS: tuple[ModuleType, ...] = (conference_list, oral_session, awards, title_list)

EXPECTED = (
    "a page of papers as in seeds/, JSONL with one paper a line, BibTeX, RIS, or CSV whose first "
    "row names its columns"
)

_BEIR_CORPUS = "corpus.jsonl"


def files_of(paths: Iterable[Path]) -> list[Path]:
    """The files to read: each path itself, or the files of a folder, hidden ones left out.

    Of a folder laid out as BEIR does (Thakur et al. 2021) only the corpus is read; its queries
    and judgements are no papers.

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
    told: Told = untold,
    name: str = "",
) -> Page:
    """The papers of one file, and what was skipped.

    Args:
        path: a file in one of the known formats.
        venue: venue of papers for which the file names none.
        year: year of papers for which the file names none.
        told: called as the records of a large file are read.
        name: what sources and errors call the file; by default what it is called on disk.

    Raises:
        InputError: the file cannot be read, is empty, or is in no known format.
    """
    shown = name or str(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{shown} cannot be read ({error.strerror}); check the path.") from error
    text = _decoded(content, shown)
    page = _page(text, name or path.name, told)
    if page is None:
        raise InputError(f"{shown} is in no format that can be read; expected {EXPECTED}.")
    if not page.records:
        why = f" (line {page.skipped[0].line}: {page.skipped[0].reason})" if page.skipped else ""
        raise InputError(f"{shown} has no paper with an abstract{why}; expected {EXPECTED}.")
    known, known_year = known_venue(content)
    records = (
        with_provenance(record, venue or known, year or known_year) for record in page.records
    )
    return Page(tuple(records), page.skipped)


def _page(text: str, name: str, told: Told) -> Page | None:
    """What the first reader that knows the format makes of the text; nothing if none does."""
    page: Page | None = None
    if reader := next((reader for reader in RECORD_READERS if reader.matches(text)), None):
        page = reader.read(text, name, told)
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
