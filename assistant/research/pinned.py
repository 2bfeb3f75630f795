"""Living answers: pinned questions are asked again when the library has changed.

An owner is told only if the evidence changed: a paper is newly cited, or a cited sentence is gone.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace

from assistant.pipeline.assistant import Assistant, checked_question
from assistant.research.pinned_store import Cited, Pin, PinnedAnswer, Pins
from assistant.research.table import Turn
from assistant.types import Json
from retrieval.types import InputError, never


@dataclass(frozen=True, slots=True)
class Change:
    """How the evidence of an answer differs from that of an earlier one."""

    papers_added: tuple[str, ...]
    """Titles."""
    papers_removed: tuple[str, ...]
    sentences_new: tuple[Cited, ...]
    sentences_gone: tuple[Cited, ...]

    @property
    def lines(self) -> list[str]:
        """The difference, one line each, papers first."""
        return [
            *(f"+ paper: {title}" for title in self.papers_added),
            *(f"- paper: {title}" for title in self.papers_removed),
            *(f"+ “{each.quote}” ({each.title})" for each in self.sentences_new),
            *(f"- “{each.quote}” ({each.title})" for each in self.sentences_gone),
        ]


def change(before: PinnedAnswer | None, after: PinnedAnswer | None) -> Change | None:
    """The difference between two answers; None if the evidence of the first one still stands.

    A new sentence of a paper that was cited before is no change by itself.
    """
    if before is None or after is None:
        return None
    quotes = (
        {(c.paper_id, c.quote) for c in before.cited},
        {(c.paper_id, c.quote) for c in after.cited},
    )
    titles = {c.paper_id: c.title for c in before.cited}, {c.paper_id: c.title for c in after.cited}
    gone = tuple(c for c in before.cited if (c.paper_id, c.quote) not in quotes[1])
    new = tuple(c for c in after.cited if (c.paper_id, c.quote) not in quotes[0])
    added = tuple(title for id_, title in titles[1].items() if id_ not in titles[0])
    removed = tuple(title for id_, title in titles[0].items() if id_ not in titles[1])
    return Change(added, removed, new, gone) if added or gone else None


def unread(pin: Pin) -> Change | None:
    """What changed since its owner has seen it last."""
    return change(pin.seen, pin.latest)


def pin_question(pins: Pins, owner: str, question: str) -> Pin:
    """Pin a question; it is asked by the next `ask_due`.

    Raises:
        InputError: it is empty or too long, or the owner has too many pins.
    """
    return pins.add(owner, checked_question(question))


def ask_due(
    pins: Pins,
    assistant: Assistant,
    stopped: Callable[[], bool] = never,
    *,
    turn: Turn = nullcontext,
) -> Iterator[tuple[Pin, Change | None]]:
    """Ask every pin that was not asked since the library changed last, and that nobody else asks.

    Yields each pin with its new answer, and how that differs from the answer before; None if the
    evidence still stands, or if it was asked for the first time.

    Raises:
        LibraryError: the library or the pins cannot be read.
        Cancelled: `stopped()` became true.
    """
    revision = assistant.library.revision
    for pin in pins.due(revision):
        with turn():
            if not pins.claim(pin, revision):
                continue
            try:
                answer = PinnedAnswer.of(assistant.answer(pin.question, (), stopped))
            except BaseException:
                pins.release(pin)
                raise
        pins.keep(pin, answer, revision)
        asked = replace(pin, latest=answer, seen=pin.seen or answer, revision=revision)
        yield asked, change(pin.latest, answer)


def named(pins: list[Pin], name: str) -> Pin:
    """The pin with this id or question.

    Raises:
        InputError: there is none.
    """
    found = [pin for pin in pins if name.strip() in (pin.id, pin.question)]
    if not found:
        raise InputError(
            f"No pinned question is “{name.strip()[:100]}”; `assistant pinned` lists them."
        )
    return found[0]


def pin_json(pin: Pin, changed: Change | None) -> Json:
    """A pin as JSON with its latest answer, and a change of it."""
    latest = pin.latest
    return {
        "id": pin.id,
        "question": pin.question,
        "outcome": latest.outcome.value if latest else None,
        "answer": latest.text if latest else None,
        "cited": [asdict(each) for each in latest.cited] if latest else [],
        "asked": latest.asked if latest else None,
        "unread": changed is not None,
        "change": asdict(changed) if changed else None,
    }
