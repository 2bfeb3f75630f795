"""Turns a message of a conversation into a standalone question and finds the papers it is about.

`condense` does so without a language model; `reworded` then lets the chat model word the question.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from assistant.generation.citations import without_thinking
from assistant.generation.prompts import standalone_messages
from assistant.models.chat import ChatModel
from assistant.pipeline.intent import (
    OrdinalPlace,
    about_papers,
    by_focus,
    papers_named_in,
    place_in,
    seeks_others,
)
from assistant.types import Outcome, Turn
from retrieval.search.reader import MessageRead
from retrieval.text.markup import visible
from retrieval.types import Paper, Passage, first_words, nested

MOST_NAMED = 3
"""Papers of the last answer that a standalone question names at most."""
MOST_EARLIER = 6
"""Papers of the conversation, besides the one cited last, that compete with those found."""
_LONGEST_TITLE = 200
"""Characters of a title in a standalone question."""
REWRITE_TOKENS = 96
_LENGTH_FACTOR = 3
"""Times the words of the question that a rewrite may have, besides the title's."""
_STEM_LETTERS, _SHORTEST_WORD = 5, 4
"""Letters; shorter words say little and may come and go."""
_WORD = re.compile(r"[^\W_]+")
_PRONOUNS = frozenset("that them there these they this those their theirs".split())
"""Words that a rewrite is to replace."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

Find = Callable[[str, Sequence[Paper]], Sequence[Passage]]
"""Searches for a text; the papers given are among those found, which are best first."""


@dataclass(frozen=True, slots=True)
class StandaloneQuestion:
    """A question as it can be understood without the conversation, and the papers it is about."""

    question: str
    """As asked, but with `it` for a paper named by its place in the conversation."""
    text: str
    """With the titles of the papers that the conversation adds."""
    focus_papers: tuple[Paper, ...] = ()
    """The papers of the conversation that it is about."""
    excluded: tuple[Paper, ...] = ()
    """The papers besides which it seeks others."""
    history_papers: tuple[Paper, ...] = ()
    """All papers of the conversation; they stay candidates."""
    found: tuple[Passage, ...] = ()
    """The papers found while `condense` searched, best first; empty if it did not."""


def condense(
    question: str,
    history: Sequence[Turn],
    message: MessageRead,
    find: Find,
    named: Sequence[Paper] = (),
    *,
    filtered: bool = False,
) -> StandaloneQuestion:
    """`question` as it can be understood without `history`.

    Args:
        question: as asked.
        history: the conversation so far, oldest turn first.
        message: the question as the reader sees it after the one before.
        find: searches the library; called only if no place, mark or name tells the paper.
        named: the papers of the library that it may name.
        filtered: whether it gives authors, a venue or a year; then it is not about the paper cited
            last.

    Raises:
        LibraryError: `find` cannot search.
    """
    history = about_papers(history)
    if not history:
        return StandaloneQuestion(question, question)
    mentioned, cited = tuple(_mentioned(history)), cited_papers(history)
    place = place_in(question)
    if place and (paper := _at(place, history)):
        it, titled = (_with_place(question, place, text) for text in ("it", _titled(paper)))
        return StandaloneQuestion(it, titled, (paper,), history_papers=mentioned)
    if not cited:
        text = question if message.focus == "alone" else f"{_last_alone(history)} {question}"
        return StandaloneQuestion(question, text, history_papers=mentioned)
    if own := papers_named_in(question, named):
        return _named(question, own, cited[0], mentioned, message)
    is_list, is_alone = message.kind == "list", message.focus == "alone"
    if (filtered and (is_list or is_alone or message.kind == "several")) or (is_list and is_alone):
        excluded = tuple(cited) if seeks_others(message) else ()
        return StandaloneQuestion(question, question, (), excluded, mentioned)
    return _focused(question, cited, mentioned, message, find)


def reworded(
    model: ChatModel,
    standalone: StandaloneQuestion,
    history: Sequence[Turn],
    stopped: Callable[[], bool],
) -> StandaloneQuestion:
    """The question in the model's words if it is about one paper and they keep its meaning.

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
    if model.count(messages) + REWRITE_TOKENS > model.context:
        return standalone
    with closing(model.write(messages, REWRITE_TOKENS, stopped)) as pieces:
        text = visible("".join(without_thinking(pieces))).strip()
    known = f"{before} {title} {last.text}"
    if not keeps(text, asked, title, known):
        return standalone
    return replace(standalone, text=text, found=())


def keeps(rewrite: str, question: str, title: str, known: str) -> bool:
    """Whether a rewrite asks what `question` asks.

    It must be one question on one line, keep the numbers and content words of `question`, have a
    word of the title, and add only words of the title and the conversation.

    Args:
        rewrite: written by a model.
        question: as asked.
        title: of the paper that it is about.
        known: the conversation.
    """
    words, said = _stems(rewrite), _stems(question)
    allowed = said | _stems(title) | _stems(known)
    return (
        rewrite.endswith("?")
        and rewrite.count("?") == 1
        and "\n" not in rewrite
        and len(rewrite.split()) <= _LENGTH_FACTOR * len(question.split()) + len(title.split())
        and said <= words <= allowed
        and sorted(_NUMBER.findall(question)) == sorted(_NUMBER.findall(rewrite.replace(title, "")))
        and not words.isdisjoint(_stems(title) - said)
    )


def cited_papers(history: Sequence[Turn]) -> list[Paper]:
    """The papers that the conversation is about: those cited last, in the order of the answer.

    After an answer that cites none, those cited before it, unless its question stood alone.
    """
    for turn in reversed(about_papers(history)):
        if papers := _papers_of(turn):
            return papers
        if _stood_alone(turn):
            return []
    return []


def _named(
    question: str,
    own: Sequence[Paper],
    last: Paper,
    mentioned: tuple[Paper, ...],
    message: MessageRead,
) -> StandaloneQuestion:
    """A question that names papers: about these, or about them and the paper cited last."""
    compares = message.kind == "several" or message.focus == "both"
    if compares and message.focus != "alone" and last not in own:
        text = f"About {_titled(last)}: {question}"
        return StandaloneQuestion(question, text, (last, *own), history_papers=mentioned)
    known = {paper.id for paper in mentioned}
    focus = tuple(own) if known.issuperset(paper.id for paper in own) else ()
    return StandaloneQuestion(question, question, focus, history_papers=mentioned)


def _focused(
    question: str,
    cited: Sequence[Paper],
    mentioned: Sequence[Paper],
    message: MessageRead,
    find: Find,
) -> StandaloneQuestion:
    """A question about the likeliest paper of the conversation, besides it, or about neither."""
    history = tuple(mentioned)
    both = tuple(cited[:MOST_NAMED] if len(cited) > 1 else mentioned[-2:])
    if message.focus == "both" and len(both) > 1:
        text = f"About {' and '.join(map(_titled, both))}: {question}"
        return StandaloneQuestion(question, text, both, history_papers=history)
    latest = dict.fromkeys(paper.id for paper in (*cited, *reversed(mentioned)))
    papers = {paper.id: paper for paper in (*mentioned, *cited)}
    known = {id_: papers[id_] for id_ in list(latest)[: 1 + MOST_EARLIER]}
    alone = find(question, list(known.values()))
    beside = find(_about(cited[0], question), list(known.values()))
    found = by_focus(alone, beside, list(known.values()), message)
    if found and (paper := known.get(found[0].paper.id)):
        text = _about(paper, question)
        return StandaloneQuestion(question, text, (paper,), (), history, tuple(found))
    if seeks_others(message):
        text = f"Besides {_titled(cited[0])}: {question}"
        return StandaloneQuestion(question, text, (), tuple(cited), history, tuple(found))
    return StandaloneQuestion(question, question, (), (), history, tuple(alone))


def _last_alone(history: Sequence[Turn]) -> str:
    """The last question that stood alone, shortened if it is very long."""
    alone = (turn.question for turn in reversed(history) if _stood_alone(turn))
    return first_words(next(alone, history[0].question), _LONGEST_TITLE)


def _stood_alone(turn: Turn) -> bool:
    return turn.answer.standalone_question == turn.question


def _papers_of(turn: Turn) -> list[Paper]:
    """The papers that an answer cites, or the paper whose abstract is silent."""
    answer = turn.answer
    cited = {citation.paper.id: citation.paper for citation in answer.citations}
    if not cited and answer.outcome is Outcome.ABSTRACT_SILENT:
        return [passage.paper for passage in answer.passages[:1]]
    return list(cited.values())


def _mentioned(history: Sequence[Turn]) -> list[Paper]:
    """All papers of the conversation, in the order in which they were first cited."""
    found = {paper.id: paper for turn in reversed(history) for paper in _papers_of(turn)}
    order = dict.fromkeys(paper.id for turn in history for paper in _papers_of(turn))
    return [found[id_] for id_ in order]


def _at(place: OrdinalPlace, history: Sequence[Turn]) -> Paper | None:
    """The paper at a place, if there is one."""
    last = history[-1].answer
    if place.by_mark:
        marked = [citation.paper for citation in last.citations]
        return _ranked(marked, int(place.rank) - 1)
    cited, mentioned = _papers_of(history[-1]), _mentioned(history)
    offered = [passage.paper for passage in last.passages]
    if not place.rank.isdigit():
        return _relative(place.rank, cited if len(cited) > 1 else mentioned, cited_papers(history))
    lists = [cited, mentioned, offered] if cited else [offered, mentioned]
    at = int(place.rank)
    return next((papers[at] for papers in lists if at < len(papers) and len(papers) > 1), None)


def _relative(rank: str, papers: Sequence[Paper], focus: Sequence[Paper]) -> Paper | None:
    """The `former`, `latter`, `last`, `previous` or `other` of papers, oldest first."""
    if rank in {"last", "latter"}:
        return _ranked(papers, len(papers) - 1)
    if rank == "former":
        return papers[-2] if len(papers) > 1 else None
    rest = [paper for paper in papers if paper not in focus[:1]]
    return _ranked(rest, len(rest) - 1)


def _ranked(papers: Sequence[Paper], at: int) -> Paper | None:
    return papers[at] if 0 <= at < len(papers) else None


def _with_place(question: str, place: OrdinalPlace, text: str) -> str:
    return f"{question[: place.start]}{text}{question[place.end :]}"


def _about(paper: Paper, question: str) -> str:
    return f"About {_titled(paper)}: {question}"


def _titled(paper: Paper) -> str:
    """The title in quotation marks, or the beginning of the abstract if there is none."""
    return f"“{first_words(nested(paper.title or paper.abstract), _LONGEST_TITLE)}”"


def _stems(text: str) -> set[str]:
    """The beginnings of the content words."""
    words = (word for word in _WORD.findall(text.casefold()) if len(word) >= _SHORTEST_WORD)
    return {word[:_STEM_LETTERS] for word in words if word not in _PRONOUNS}
