"""A larger model's wording of a follow-up, used only if it keeps the words that matter.

The rules of `conversation` say which paper a question is about; what `that` or `those` stands for
in it they leave to the reader. Only models that are asked for answers are asked for this: none of
the default model's rewrites was usable, see tests/benchmarks/conversation.md.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from assistant.chat_model import ChatModel
from assistant.content_words import content_words
from assistant.conversation import Resolved, without_small_talk
from assistant.prompting import standalone_messages
from assistant.references import is_open
from assistant.reply import without_thinking
from assistant.types import Turn
from retrieval.markup import visible

MOST_TOKENS = 96
"""Tokens of a rewrite."""
_LONGEST = 3
"""Times the words of the question that a rewrite may have, beside the title's."""
_STEM_LETTERS = 5
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def reworded(
    model: ChatModel, resolved: Resolved, history: Sequence[Turn], stopped: Callable[[], bool]
) -> Resolved:
    """The question in the model's words, where it leaves something open and they hold.

    Raises:
        Cancelled: `stopped()` became true.
    """
    asked = resolved.question
    if not resolved.about or not is_open(asked):
        return resolved
    title = resolved.about[0].shown_title
    last = without_small_talk(history)[-1].answer
    before = last.standalone_question
    messages = standalone_messages(before, title, asked)
    if model.count(messages) + MOST_TOKENS > model.context:
        return resolved
    with closing(model.write(messages, MOST_TOKENS, stopped)) as pieces:
        text = visible("".join(without_thinking(pieces))).strip()
    known = f"{before} {title} {last.text}"
    return replace(resolved, standalone=text) if keeps(text, asked, title, known) else resolved


def keeps(rewrite: str, question: str, title: str, known: str) -> bool:
    """Whether a rewrite asks what `question` asks: a question of one line that has all its numbers,
    names and content words, names something of the title, and adds words of the conversation alone.

    Args:
        rewrite: what a model wrote.
        question: as asked.
        title: of the paper that it is about.
        known: what was said before.
    """
    words, said = _stems(rewrite), _stems(question)
    allowed = said | _stems(title) | _stems(known)
    return (
        rewrite.endswith("?")
        and rewrite.count("?") == 1
        and "\n" not in rewrite
        and len(rewrite.split()) <= _LONGEST * len(question.split()) + len(title.split())
        and said <= words <= allowed
        and sorted(_NUMBER.findall(question)) == sorted(_NUMBER.findall(rewrite.replace(title, "")))
        and not words.isdisjoint(_stems(title) - said)
    )


def _stems(text: str) -> set[str]:
    return {word.casefold()[:_STEM_LETTERS] for word in content_words(text)}
