"""The command `audit`: a draft's sentences against the library."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from assistant.cli.evaluate import Flags
from assistant.cli.output import print_text, progress_bars
from assistant.pipeline.startup import open_library, open_reader, open_verifier
from assistant.research.audit.audit import Audit
from assistant.research.audit.citing import Resolver
from assistant.research.audit.draft import Draft, decoded
from assistant.research.audit.judge import Auditor
from assistant.research.audit.report import (
    counts_line,
    lines_of,
    page,
    suggested_bibtex,
    with_citations,
)
from assistant.research.audit.types import AuditedSentence, audit_json
from assistant.settings import load_settings
from assistant.types import dumps
from retrieval.index.files import write_whole
from retrieval.types import Cancelled, InputError, Progress, never

_BIBLIOGRAPHY = "the draft's bibliography in BibTeX"
_DRAFT = "a draft in text, Markdown or LaTeX, or - for standard input"


def run_audit(options: argparse.Namespace, flags: Flags) -> None:
    """Judge every sentence of a draft, and write the reports that are asked for."""
    for path in filter(None, (options.html, options.bibtex, options.insert)):
        if not path.parent.is_dir():  # known before the work, not after it
            raise InputError(f"There is no folder {path.parent}; name a file in one that exists.")
    bibliography = _text_of(options.bib, _BIBLIOGRAPHY) if options.bib else ""
    asked = Audit.of(_text_of(options.draft, _DRAFT), options.draft, bibliography)
    draft = asked.draft
    for note in asked.notes:
        print(f"note: {note}", file=sys.stderr)
    settings = load_settings(flags)
    with progress_bars() as progress:
        library = open_library(settings, progress)
        library.ready_to_search()
        reader, verifier = open_reader(settings, progress), open_verifier(settings, progress)
        auditor = Auditor(library, reader, verifier)
        resolver = Resolver(library, asked.bibliography)
        console = None if options.json else Console()
        sentences: list[AuditedSentence] = []
        # What is judged of a long draft is not lost if it is stopped.
        with suppress(KeyboardInterrupt):
            for each in _shown(auditor, draft, resolver, progress, console):
                sentences.append(each)  # noqa: PERF402 - `extend` may lose them
    if not sentences:
        raise Cancelled
    notes = asked.notes_after(len(sentences))
    if options.json:
        print(dumps(audit_json(sentences, notes)), flush=True)
    print(f"{len(sentences)} sentences: {counts_line(sentences)}", file=sys.stderr)
    _write(options.html, page(sentences, notes, Path(options.draft).name))
    _write(options.bibtex, suggested_bibtex(sentences))
    _write(options.insert, with_citations(draft, sentences))
    if len(sentences) < len(draft.sentences):
        raise Cancelled


def _shown(
    auditor: Auditor, draft: Draft, resolver: Resolver, progress: Progress, console: Console | None
) -> Iterator[AuditedSentence]:
    """The sentences as they are judged, printed unless the console is None."""
    total = len(draft.sentences)
    judged = auditor.audited(draft.sentences, resolver, never)
    for done, audited in enumerate(judged, start=1):
        if console:
            for line in lines_of(audited):
                print_text(console, line)
        progress("checking", done, total, "sentences")
        yield audited


def _text_of(name: str | Path, wanted: str) -> str:
    """The text of a file, or of standard input for `-`; `wanted` says what it should hold."""
    if name == "-":
        return decoded(sys.stdin.buffer.read(), "standard input")
    try:
        return decoded(Path(name).read_bytes(), str(name))
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror}); give {wanted}.") from error


def _write(path: Path | None, text: str) -> None:
    if path:
        write_whole(path, text)
        print(f"written: {path}", file=sys.stderr)
