"""A model's wording of a follow-up, used only if it keeps the words that matter.

`follow_up` says which paper a question is about, not what `that` or `those` stands for in it. A
model that is asked for whole answers says it, and the trained writer, where the reader is in doubt;
see tests/benchmarks/conversation.md.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from assistant.chat_model import ChatModel
from assistant.pipeline.follow_up import StandaloneQuestion
from assistant.prompting import standalone_messages
from assistant.reply import without_thinking
from assistant.types import Turn
from retrieval.markup import visible

MOST_TOKENS = 96
"""Tokens of a rewrite."""
_LONGEST = 3
"""Times the words of the question that a rewrite may have, beside the title's."""
_STEM_LETTERS, _SHORTEST_WORD = 5, 4
"""Shorter words say little and may come and go."""
_WORD = re.compile(r"[^\W_]+")
_PRONOUNS = frozenset("that them there these they this those their theirs".split())
"""What a rewrite is there to replace."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def reworded(
    model: ChatModel,
    standalone: StandaloneQuestion,
    history: Sequence[Turn],
    stopped: Callable[[], bool],
) -> StandaloneQuestion:
    """The question in the model's words, where it goes on about a paper and they hold.

    Raises:
        Cancelled: `stopped()` became true.
    """
    asked = standalone.question
    if len(standalone.focus_papers) != 1 or standalone.text == asked:
        return standalone
    title = standalone.focus_papers[0].shown_title
    last = history[-1].answer
    before = last.standalone_question
    messages = standalone_messages(before, title, asked)
    if model.count(messages) + MOST_TOKENS > model.context:
        return standalone
    with closing(model.write(messages, MOST_TOKENS, stopped)) as pieces:
        text = visible("".join(without_thinking(pieces))).strip()
    known = f"{before} {title} {last.text}"
    if not keeps(text, asked, title, known):
        return standalone
    return replace(standalone, text=text, found=())


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


def _tells(word: str) -> bool:
    return len(word) >= _SHORTEST_WORD and word not in _PRONOUNS


def _stems(text: str) -> set[str]:
    return {
        word.casefold()[:_STEM_LETTERS] for word in _WORD.findall(text.casefold()) if _tells(word)
    }
