"""A message in a conversation as a question of its own, and the papers that it is about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.pipeline.focus import by_focus, own_named, seeks_others
from assistant.pipeline.intent import about_papers
from assistant.pipeline.ordinals import Place, place_in
from assistant.types import Outcome, Turn
from retrieval.search.reader import MessageRead
from retrieval.types import Paper, Passage, first_words, nested

MOST_NAMED = 3
"""Papers of the last answer that a standalone question names."""
MOST_EARLIER = 6
"""Papers of a conversation before the one cited last that compete with those found."""
_LONGEST_TITLE = 200
"""Characters of a title in a standalone question."""

Find = Callable[[str, Sequence[Paper]], Sequence[Passage]]
"""The papers found for a text, best first, and among them those that are to compete."""


@dataclass(frozen=True, slots=True)
class StandaloneQuestion:
    """A question together with what the conversation says of it."""

    question: str
    """As asked; a paper named by its place in the conversation is `it`."""
    text: str
    """As it can be understood without the conversation."""
    focus_papers: tuple[Paper, ...] = ()
    """The papers that it goes on about."""
    excluded: tuple[Paper, ...] = ()
    """The papers to which it seeks another."""
    history_papers: tuple[Paper, ...] = ()
    """All papers cited before: they stay candidates."""
    found: tuple[Passage, ...] = ()
    """The papers that were found while it was understood, best first; none if none were sought."""


def condense(
    question: str,
    history: Sequence[Turn],
    read: MessageRead,
    find: Find,
    named: Sequence[Paper] = (),
    *,
    filtered: bool = False,
) -> StandaloneQuestion:
    """What `question` means after `history`.

    Args:
        question: as asked.
        history: the conversation so far, oldest turn first.
        read: the question as the reader sees it after the one before.
        find: searches the library; asked only where no place, mark or name says what is meant.
        named: the papers of the library that it may name.
        filtered: whether it says of which authors, venue or year papers are to be: then it is not
            about the one paper at hand.

    Raises:
        LibraryError: `find` cannot search.
    """
    history = about_papers(history)
    if not history:
        return StandaloneQuestion(question, question)
    mentioned, cited = tuple(_mentioned(history)), cited_papers(history)
    place = place_in(question)
    if place and (paper := _at(place, history)):
        it, titled = (_in_place(question, place, text) for text in ("it", _titled(paper)))
        return StandaloneQuestion(it, titled, (paper,), history_papers=mentioned)
    if not cited:
        text = question if read.focus == "alone" else f"{_last_alone(history)} {question}"
        return StandaloneQuestion(question, text, history_papers=mentioned)
    if own := own_named(question, named):
        return _named(question, own, cited[0], mentioned, read)
    of_several = read.kind in ("list", "several")
    if (filtered and of_several) or (read.focus == "alone" and (filtered or read.kind == "list")):
        excluded = tuple(cited) if seeks_others(read) else ()
        return StandaloneQuestion(question, question, (), excluded, mentioned)
    return _focused(question, cited, mentioned, read, find)


def _named(
    question: str,
    own: Sequence[Paper],
    last: Paper,
    mentioned: tuple[Paper, ...],
    read: MessageRead,
) -> StandaloneQuestion:
    """A question that names papers: on these, or on them and the paper cited last."""
    compares = read.kind == "several" or read.focus == "both"
    if compares and read.focus != "alone" and last not in own:
        text = f"About {_titled(last)}: {question}"
        return StandaloneQuestion(question, text, (last, *own), history_papers=mentioned)
    known = {paper.id for paper in mentioned}
    focus = tuple(own) if known.issuperset(paper.id for paper in own) else ()
    return StandaloneQuestion(question, question, focus, history_papers=mentioned)


def _focused(
    question: str,
    cited: Sequence[Paper],
    mentioned: Sequence[Paper],
    read: MessageRead,
    find: Find,
) -> StandaloneQuestion:
    """A question about the likeliest paper: one of the conversation, another, or one of its own."""
    history = tuple(mentioned)
    both = tuple(cited[:MOST_NAMED] if len(cited) > 1 else mentioned[-2:])
    if read.focus == "both" and len(both) > 1:
        text = f"About {' and '.join(map(_titled, both))}: {question}"
        return StandaloneQuestion(question, text, both, history_papers=history)
    latest = dict.fromkeys(paper.id for paper in (*cited, *reversed(mentioned)))
    papers = {paper.id: paper for paper in (*mentioned, *cited)}
    known = {id_: papers[id_] for id_ in list(latest)[: 1 + MOST_EARLIER]}
    alone = find(question, list(known.values()))
    beside = find(_about(cited[0], question), list(known.values()))
    found = by_focus(alone, beside, list(known.values()), read)
    if found and (paper := known.get(found[0].paper.id)):
        text = _about(paper, question)
        return StandaloneQuestion(question, text, (paper,), (), history, tuple(found))
    if seeks_others(read):
        text = f"Besides {_titled(cited[0])}: {question}"
        return StandaloneQuestion(question, text, (), tuple(cited), history, tuple(found))
    return StandaloneQuestion(question, question, (), (), history, tuple(alone))


def cited_papers(history: Sequence[Turn]) -> list[Paper]:
    """The papers that the conversation is about: those cited last, in the order of the answer.

    An answer without any goes on about the papers before it if its question did.
    """
    for turn in reversed(about_papers(history)):
        if papers := _papers_of(turn):
            return papers
        if _stood_alone(turn):
            return []
    return []


def _last_alone(history: Sequence[Turn]) -> str:
    """The last question that stood by itself, cut where it is very long."""
    alone = (turn.question for turn in reversed(history) if _stood_alone(turn))
    return first_words(next(alone, history[0].question), _LONGEST_TITLE)


def _stood_alone(turn: Turn) -> bool:
    return turn.answer.standalone_question == turn.question


def _papers_of(turn: Turn) -> list[Paper]:
    """What an answer cites, or the paper whose abstract is silent."""
    answer = turn.answer
    cited = {citation.paper.id: citation.paper for citation in answer.citations}
    if not cited and answer.outcome is Outcome.ABSTRACT_SILENT:
        return [passage.paper for passage in answer.passages[:1]]
    return list(cited.values())


def _mentioned(history: Sequence[Turn]) -> list[Paper]:
    """All papers of the conversation, in the order in which they first came up."""
    found = {paper.id: paper for turn in reversed(history) for paper in _papers_of(turn)}
    order = dict.fromkeys(paper.id for turn in history for paper in _papers_of(turn))
    return [found[id_] for id_ in order]


def _at(place: Place, history: Sequence[Turn]) -> Paper | None:
    """The paper in that place, if there is one."""
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
    """`former`, `latter`, `last`, `previous` or `other` of papers, oldest first."""
    if rank in {"last", "latter"}:
        return _ranked(papers, len(papers) - 1)
    if rank == "former":
        return papers[-2] if len(papers) > 1 else None
    rest = [paper for paper in papers if paper not in focus[:1]]
    return _ranked(rest, len(rest) - 1)


def _ranked(papers: Sequence[Paper], at: int) -> Paper | None:
    return papers[at] if 0 <= at < len(papers) else None


def _in_place(question: str, place: Place, text: str) -> str:
    return f"{question[: place.start]}{text}{question[place.end :]}"


def _about(paper: Paper, question: str) -> str:
    return f"About {_titled(paper)}: {question}"


def _titled(paper: Paper) -> str:
    """The title in quotation marks; without one, more of the abstract than lists show."""
    return f"“{first_words(nested(paper.title or paper.abstract), _LONGEST_TITLE)}”"
