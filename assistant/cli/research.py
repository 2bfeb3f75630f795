"""The commands `table` and `pinned`."""

import argparse
import sys
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assistant.cli.evaluate import Flags
from assistant.cli.output import print_text, progress_bars
from assistant.pipeline.startup import open_assistant, open_library
from assistant.research.pinned import Change, ask_due, named, pin_json, pin_question, unread
from assistant.research.pinned_store import Pin, Pins
from assistant.research.table import (
    MOST_ROWS,
    EvidenceTable,
    checked_columns,
    fill,
    table_json,
)
from assistant.research.table_files import export
from assistant.server.auth import ANYONE
from assistant.settings import Settings, load_settings
from assistant.storage.database import database_of
from assistant.types import dumps
from retrieval.formats.writers import where
from retrieval.library.library import Library
from retrieval.types import InputError


def run_table(options: argparse.Namespace, flags: Flags) -> None:
    """Print an evidence table."""
    columns = checked_columns(options.columns.split(","))
    if options.k > MOST_ROWS:
        raise InputError(f"A table has at most {MOST_ROWS} papers, not {options.k}; lower -k.")
    with progress_bars() as progress:
        assistant = open_assistant(load_settings(flags), progress)
        for table in fill(assistant, options.question, columns, options.k):
            progress("filling the table", table.filled, table.size, "cells")
    if options.format == "json":
        print(dumps(table_json(table)))
    elif options.format == "table":
        Console().print(_drawn(table))
    else:
        print(export(table, options.format), end="")


def _drawn(table: EvidenceTable) -> Table:
    drawn = Table("paper", *table.columns, box=SIMPLE, pad_edge=False, show_lines=True)
    for row in table.rows:
        paper = Text(row.paper.shown_title, style="bold").append(f"\n{where(row.paper)}", "dim")
        cells = (Text(each.shown, style="" if each.text else "dim") for each in row.cells)
        drawn.add_row(paper, *cells)
    return drawn


def run_pinned(options: argparse.Namespace, flags: Flags) -> None:
    """Add, remove or list pinned questions, or ask those again that the library may change."""
    if (options.question is not None) != (options.action in ("add", "remove")):
        needed = "a QUESTION" if options.action in ("add", "remove") else "no QUESTION"
        raise InputError(f"`assistant pinned {options.action}` takes {needed}.")
    settings = load_settings(flags)
    pins = Pins(database_of(settings))
    shown: Sequence[tuple[Pin, Change | None]]
    match options.action:
        case "add":
            pin = pin_question(pins, ANYONE, options.question)
            print(f"Pinned: {pin.question}", file=sys.stderr)
            _asked(pins, settings)
            shown = [(each, None) for each in pins.listed(ANYONE) if each.id == pin.id]
        case "remove":
            pin = named(pins.listed(ANYONE), options.question)
            pins.remove(ANYONE, pin.id)
            print(f"No longer pinned: {pin.question}", file=sys.stderr)
            return
        case "run":
            shown = _asked(pins, settings)
        case _:
            shown = [(pin, unread(pin)) for pin in pins.listed(ANYONE)]
            for pin, _ in shown:
                pins.mark_seen(ANYONE, pin.id)
            if not shown:
                print("No question is pinned; `assistant pinned add` does it.", file=sys.stderr)
    if options.json:
        print(dumps([pin_json(pin, changed) for pin, changed in shown]))
    else:
        for line in _lines(shown):
            print_text(Console(), line)


def _asked(pins: Pins, settings: Settings) -> list[tuple[Pin, Change]]:
    """Ask what is due; returns the pins of the command line whose evidence changed.

    Models are loaded only if something is due.
    """
    with progress_bars() as progress:
        due = pins.due(open_library(settings, progress).revision)
        if not due:
            return []
        assistant = open_assistant(settings, progress)
        changed = []
        for done, (pin, how) in enumerate(ask_due(pins, assistant), start=1):
            progress("asking pinned questions", done, len(due), "questions")
            changed += [(pin, how)] if how else []
    if others := sum(pin.owner != ANYONE for pin, _ in changed):
        print(f"note: {others} pins of users of the page changed, too", file=sys.stderr)
    return [(pin, how) for pin, how in changed if pin.owner == ANYONE]


def _lines(shown: Sequence[tuple[Pin, Change | None]]) -> Iterator[str]:
    for pin, changed in shown:
        answer = pin.latest
        state = "not asked yet" if answer is None else answer.outcome.value.replace("_", " ")
        yield f"{pin.question} ({'changed, ' if changed else ''}{state}; {pin.id})"
        for line in changed.lines if changed else ():
            yield f"  {line}"


def note_waiting(library: Library, settings: Settings) -> None:
    """Say how many pinned questions have not been asked since the library changed."""
    waiting = len(Pins(database_of(settings)).due(library.revision))
    if waiting:
        questions = (
            "1 pinned question waits" if waiting == 1 else f"{waiting} pinned questions wait"
        )
        print(
            f"note: {questions} to be asked again: `assistant pinned run`",
            file=sys.stderr,
        )
