"""Messages that ask nothing of the papers: each kind has a fixed reply.

Which kind a message is, the reader says, which learned it from examples (`MessageRead`).
"""

import re
from collections.abc import Sequence

from assistant.types import Answer, Turn
from retrieval.search.reader import MessageRead

GREETING = "Hello. Ask about the papers of this library."
THANKS = "You're welcome. Ask another question."
ABILITY = (
    "This assistant answers questions about the papers of this library from their abstracts, finds "
    "papers by title, author, venue or year, and says so when no abstract answers."
)
SURE = 0.7
"""Probability from which a message is taken to ask nothing of the papers: a question that gets a
courtesy in reply is lost, a courtesy that gets an abstention is only clumsy."""
_REPLIES = {"greeting": GREETING, "thanks": THANKS, "ability": ABILITY}
_SIZE = re.compile(r"This library has [\d,]+ papers?\.")


def fixed_reply(read: MessageRead, papers: int) -> str:
    """The reply to a message that asks nothing of the papers; empty if it may ask something.

    Args:
        read: the message as the reader sees it.
        papers: how many the library has.
    """
    if read.kinds[read.kind] < SURE:
        return ""
    if read.kind == "count":
        return f"This library has {papers:,} {'paper' if papers == 1 else 'papers'}."
    return _REPLIES.get(read.kind, "")


def is_fixed(answer: Answer) -> bool:
    """Whether an answer is such a reply."""
    if answer.sentences or answer.passages:
        return False
    return answer.text in _REPLIES.values() or bool(_SIZE.fullmatch(answer.text))


def about_papers(history: Sequence[Turn]) -> list[Turn]:
    """The turns of a conversation that are about papers."""
    return [turn for turn in history if not is_fixed(turn.answer)]
