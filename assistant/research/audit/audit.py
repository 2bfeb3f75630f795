"""One audit from a draft's text to its judged sentences, alone or in turns with other work."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice

from assistant.pipeline.assistant import Assistant
from assistant.research.audit.citing import Resolver, read_bibliography
from assistant.research.audit.draft import Draft, read_draft
from assistant.research.audit.judge import Auditor
from assistant.research.audit.types import AuditedSentence
from retrieval.types import BusyError, Cancelled, Record

TURN = 4
"""Sentences judged in one turn: two seconds."""
_AGAIN_SECONDS = 0.5
"""Time until another attempt where all places of the queue are taken."""


@dataclass(frozen=True, slots=True)
class Audit:
    """A draft to be audited."""

    draft: Draft
    bibliography: dict[str, Record] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What in the draft or its bibliography could not be read as meant, one sentence each."""

    @classmethod
    def of(cls, text: str, name: str = "", bibliography: str = "") -> "Audit":
        """The audit of a draft; `bibliography` is the text of its .bib file, or empty.

        Raises:
            InputError: the draft or its bibliography cannot be used.
        """
        entries, notes = read_bibliography(bibliography) if bibliography.strip() else ({}, [])
        draft = read_draft(text, name)
        return cls(draft, entries, (*draft.notes, *notes))

    def notes_after(self, judged: int) -> tuple[str, ...]:
        """The notes of a report on the first sentences: it says if they are not all."""
        total = len(self.draft.sentences)
        stopped = f"Stopped: {judged:,} of {total:,} sentences are checked."
        return self.notes if judged == total else (*self.notes, stopped)


def audit_in_turns(
    assistant: Assistant,
    audit: Audit,
    turn: Callable[[], AbstractContextManager[None]],
    stopped: Callable[[], bool],
) -> Iterator[AuditedSentence]:
    """The judged sentences in order; each few are judged within a `turn` of their own.

    Raises:
        BusyError: no place was free at the start; later, a place is waited for.
        LibraryError: the library has no papers or cannot be read.
        Cancelled: `stopped()` became true.
    """
    auditor = Auditor(assistant.library, assistant.reader, assistant.verifier)
    resolver = Resolver(assistant.library, audit.bibliography)
    judged = auditor.audited(audit.draft.sentences, resolver, stopped)
    has_begun = False
    while True:
        try:
            with turn():
                some = list(islice(judged, TURN))
        except BusyError:
            if not has_begun:
                raise
            if stopped():
                raise Cancelled from None
            time.sleep(_AGAIN_SECONDS)
            continue
        has_begun = True
        yield from some
        if len(some) < TURN:
            return
