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
    by_focus,
    papers_named_in,
    place_in,
    seeks_others,
)
from assistant.types import Outcome, Turn
from retrieval.search.reader import MessageRead
from retrieval.text.markup import visible
from retrieval.text.names import WORD
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

_PRONOUNS = frozenset("that them there these they this those their theirs".split())
"""Words that a rewrite is to replace."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

Find = Callable[..., Sequence[Passage]]
"""`find(text, also=ids)` gives the papers found for a text and those with the ids, best first."""


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
        history: the turns about papers, oldest first.
        message: the question as the reader sees it after the one before.
        find: called only if no place, mark or name tells the paper.
        named: the papers of the library that it may name.
        filtered: whether it gives authors, a venue or a year.

    Raises:
        LibraryError: `find` cannot search.
    """
    if not history:
        return StandaloneQuestion(question, question)
    mentioned, cited = _mentioned(history), cited_papers(history)
    alone = StandaloneQuestion(question, question, history_papers=mentioned)
    place = place_in(question)
    if place and (paper := _at(place, history)):
        before, behind = question[: place.start], question[place.end :]
        text = f"{before}{_titled(paper)}{behind}"
        return replace(alone, question=f"{before}it{behind}", text=text, focus_papers=(paper,))
    is_alone = message.focus == "alone"
    if not cited:
        return alone if is_alone else replace(alone, text=f"{_last_alone(history)} {question}")
    if own := papers_named_in(question, named):
        return _named(alone, own, cited[0], message)
    is_list = message.kind == "list"
    if (filtered and (is_list or is_alone or message.kind == "several")) or (is_list and is_alone):
        return replace(alone, excluded=tuple(cited)) if seeks_others(message) else alone
    return _focused(alone, cited, message, find, [paper.id for paper in named])


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
    title, last = standalone.focus_papers[0].shown_title, history[-1].answer
    before = last.standalone_question
    messages = standalone_messages(before, title, asked)
    if model.count(messages) + REWRITE_TOKENS > model.context:
        return standalone
    with closing(model.write(messages, REWRITE_TOKENS, stopped)) as pieces:
        text = visible("".join(without_thinking(pieces))).strip()
    if keeps(text, asked, title, f"{before} {last.text}"):
        return replace(standalone, text=text, found=())
    return standalone


def keeps(rewrite: str, question: str, title: str, known: str) -> bool:
    """Whether a rewrite asks what `question` asks.

    It must be one question on one line, keep the numbers and content words of `question`, have a
    word of the paper's title, and add only words of the title and of the text `known`.
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
    for turn in reversed(history):
        papers = _papers_of(turn)
        if papers or _stood_alone(turn):
            return papers
    return []


def _named(
    alone: StandaloneQuestion, own: Sequence[Paper], last: Paper, message: MessageRead
) -> StandaloneQuestion:
    """A question that names papers: about these, or about them and the paper cited last."""
    compares = message.kind == "several" or message.focus == "both"
    if compares and message.focus != "alone" and last not in own:
        return replace(alone, text=_about(alone.question, last), focus_papers=(last, *own))
    known = {paper.id for paper in alone.history_papers}
    return replace(alone, focus_papers=tuple(own)) if {each.id for each in own} <= known else alone


def _focused(
    alone: StandaloneQuestion,
    cited: Sequence[Paper],
    message: MessageRead,
    find: Find,
    named: Sequence[str],
) -> StandaloneQuestion:
    """A question about the likeliest paper of the conversation, besides it, or about neither."""
    question, mentioned = alone.question, alone.history_papers
    both = tuple(cited[:MOST_NAMED] if len(cited) > 1 else mentioned[-2:])
    if message.focus == "both" and len(both) > 1:
        return replace(alone, text=_about(question, *both), focus_papers=both)
    latest = {paper.id: paper for paper in (*cited, *reversed(mentioned))}
    known = dict(list(latest.items())[: 1 + MOST_EARLIER])
    also = [*known, *named]
    typed = tuple(find(question, also=also))
    beside = find(_about(question, cited[0]), also=also)
    found = tuple(by_focus(typed, beside, list(known.values()), message))
    if found and (paper := known.get(found[0].paper.id)):
        text = _about(question, paper)
        return replace(alone, text=text, focus_papers=(paper,), found=found)
    if seeks_others(message):
        text = f"Besides {_titled(cited[0])}: {question}"
        return replace(alone, text=text, excluded=tuple(cited), found=found)
    return replace(alone, found=typed)


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


def _mentioned(history: Sequence[Turn]) -> tuple[Paper, ...]:
    """All papers of the conversation, in the order in which they were first cited."""
    return tuple({paper.id: paper for turn in history for paper in _papers_of(turn)}.values())


def _at(place: OrdinalPlace, history: Sequence[Turn]) -> Paper | None:
    last = history[-1].answer
    if place.by_mark:
        return _ranked([citation.paper for citation in last.citations], int(place.rank) - 1)
    cited, mentioned = _papers_of(history[-1]), _mentioned(history)
    if not place.rank.isdigit():
        return _relative(place.rank, cited if len(cited) > 1 else mentioned, cited_papers(history))
    offered = [passage.paper for passage in last.passages]
    lists = [papers for papers in (cited or offered, mentioned, offered) if len(papers) > 1]
    found = (_ranked(papers, int(place.rank)) for papers in lists)
    return next(filter(None, found), None)


def _relative(rank: str, papers: Sequence[Paper], focus: Sequence[Paper]) -> Paper | None:
    """The `former`, `latter`, `last`, `previous` or `other` of papers, oldest first."""
    if rank in {"previous", "other"}:
        papers = [paper for paper in papers if paper not in focus[:1]]
    return _ranked(papers, len(papers) - (2 if rank == "former" else 1))


def _ranked(papers: Sequence[Paper], at: int) -> Paper | None:
    return papers[at] if 0 <= at < len(papers) else None


def _about(question: str, *papers: Paper) -> str:
    return f"About {' and '.join(map(_titled, papers))}: {question}"


def _titled(paper: Paper) -> str:
    """The title in quotation marks, or the beginning of the abstract if there is none."""
    return f"“{first_words(nested(paper.title or paper.abstract), _LONGEST_TITLE)}”"


def _stems(text: str) -> set[str]:
    words = (word for word in WORD.findall(text.casefold()) if len(word) >= _SHORTEST_WORD)
    return {word[:_STEM_LETTERS] for word in words if word not in _PRONOUNS}
