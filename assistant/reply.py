"""What of a model's reply is its answer: not what it thinks, nor what it says over and over."""

import re
from collections.abc import Iterable, Iterator

from retrieval.chat_template import THINKING

_REPEATED = 24
"""Characters that count as said again."""
_TIMES = 4
_WITHIN = 400
"""The end of a reply, in characters, in which nothing may stand `_TIMES` times."""

_END_OF = {marks.opens: f"{marks.closes}{marks.then.strip()}" for marks in THINKING}
"""What closes the thinking, by what opens it."""
_OPENS = re.compile("|".join(map(re.escape, _END_OF)))


def without_thinking(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces without what stands between marks of thinking; what is never closed is not shown.

    Models in this process think before their reply begins, or not at all. This is for others, and
    for those that do not listen.
    """
    text = end = ""
    for piece in pieces:
        text += piece
        while True:
            if end:
                _, closed, rest = text.partition(end)
                if not closed:
                    break
                text, end = rest, ""
            mark = _OPENS.search(text)
            if not mark:
                break
            yield text[: mark.start()]
            text, end = text[mark.end() :], _END_OF[mark.group()]
        if not end:
            at = len(text) - _begun(text)
            yield text[:at]
            text = text[at:]
    if not end:
        yield text


def _begun(text: str) -> int:
    """Letters at the end of `text` that may grow into a mark that opens the thinking."""
    lengths = (
        length for mark in _END_OF for length in range(1, len(mark)) if text.endswith(mark[:length])
    )
    return max(lengths, default=0)


def until_repeating(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces up to where the same is said again and again."""
    said = ""
    for piece in pieces:
        said = (said + piece)[-_WITHIN:]
        if len(said) >= _REPEATED and said.count(said[-_REPEATED:]) >= _TIMES:
            return
        yield piece
