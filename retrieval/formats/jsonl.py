"""Reader of JSONL: one paper a line; BEIR's `_id` and `text` work too."""

import json

from retrieval.formats.fields import checked, page_of
from retrieval.formats.seed_pages.pages import ParsedPage, ReadProgress, no_progress
from retrieval.types import Record, Skipped, Source


def matches(text: str) -> bool:
    """Whether the text, or most of its lines, opens with a JSON object."""
    if text.lstrip().startswith("{"):
        return True
    lines = [line for line in text.split("\n") if line.strip()]
    return 2 * sum(line.startswith('{"') for line in lines) > len(lines)


def read(text: str, file: str, progress: ReadProgress = no_progress) -> ParsedPage:
    """The papers of the file; other lines are skipped with the reason."""
    lines = [(at, raw) for at, raw in enumerate(text.split("\n"), start=1) if raw.strip()]
    return page_of((_outcome(raw, Source(file, at)) for at, raw in lines), len(lines), progress)


def _outcome(raw: str, source: Source) -> Record | Skipped:
    try:
        value = json.loads(raw)
    except json.JSONDecodeError as error:
        reason = f"not valid JSON ({error.msg} at column {error.colno})"
    except (ValueError, RecursionError) as error:  # numbers and nesting have limits
        reason = f"not valid JSON ({error})"
    else:
        return checked(value, source)
    return Skipped(source.file, source.line, reason)
