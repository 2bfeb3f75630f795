"""A follow-up question as one that stands by itself, and the papers that it is about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.content_words import is_in_other_letters
from assistant.leaning import leans
from assistant.references import (
    Place,
    means_several,
    needs_what_was_asked,
    place_in,
    seeks_another,
    stands_alone,
)
from assistant.small_talk import reply_to
from assistant.types import Outcome, Turn
from retrieval.types import Paper, first_words

MOST_NAMED = 3
"""Papers of the last answer that a standalone question names."""
_LONGEST_TITLE = 200
"""Characters of a title in a standalone question."""

Lead = Callable[[str, Paper], float]
"""How much nearer to a question the nearest other paper is than this one, in cosine."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A question together with what the conversation says of it."""

    question: str
    """As asked; a paper named by its place in the conversation is `it`."""
    standalone: str
    """As it can be understood without the conversation."""
    about: tuple[Paper, ...] = ()
    """The papers that it goes on about."""
    besides: tuple[Paper, ...] = ()
    """The papers to which it seeks another."""
    mentioned: tuple[Paper, ...] = ()
    """All papers cited before: they stay candidates."""


def no_lead(_question: str, _paper: Paper) -> float:
    """For conversations without a library: no other paper is nearer."""
    return 0.0


def resolve(question: str, history: Sequence[Turn], lead: Lead = no_lead) -> Resolved:
    """What `question` means after `history`.

    Args:
        question: as asked.
        history: the conversation so far, oldest turn first.
        lead: asked only where the question's words leave a doubt.
    """
    history = without_small_talk(history)
    mentioned = tuple(_mentioned(history))
    if reply_to(question) or is_in_other_letters(question):
        return Resolved(question, question, mentioned=mentioned)
    focus = cited_papers(history)
    place = place_in(question)
    paper = _at(place, history) if place else None
    if place and paper:
        it, named = (_in_place(question, place, text) for text in ("it", _titled(paper)))
        return Resolved(it, named, about=(paper,), mentioned=mentioned)
    if seeks_another(question) and history:
        return _another(question, history, mentioned)
    if not focus:
        return Resolved(question, _with_what_was_asked(question, history), mentioned=mentioned)
    if means_several(question) and len(focus) > 1:
        about = tuple(focus[:MOST_NAMED])
    elif leans(question, _text(focus[0]), lambda: lead(question, focus[0])):
        about = (focus[0],)
    else:
        return Resolved(question, question, mentioned=mentioned)
    titles = " and ".join(map(_titled, about))
    return Resolved(question, f"About {titles}: {question}", about, mentioned=mentioned)


def without_small_talk(history: Sequence[Turn]) -> list[Turn]:
    """The turns that are about papers."""
    return [turn for turn in history if not reply_to(turn.question)]


def cited_papers(history: Sequence[Turn]) -> list[Paper]:
    """The papers that the conversation is about: those cited last, in the order of the answer.

    An answer without any goes on about the papers before it if its question did.
    """
    for turn in reversed(without_small_talk(history)):
        if papers := _papers_of(turn):
            return papers
        if turn.answer.standalone_question == turn.question:
            return []
    return []


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
    if not history:
        return None
    last = history[-1].answer
    if place.by_mark:
        marked = [citation.paper for citation in last.citations]
        return _ranked(marked, int(place.rank) - 1)
    cited, mentioned = _papers_of(history[-1]), _mentioned(history)
    offered = [passage.paper for passage in last.passages]
    if not place.rank.isdigit():
        return _relative(place.rank, cited if len(cited) > 1 else mentioned, cited_papers(history))
    lists = [cited, mentioned, offered] if cited else [offered, mentioned]
    if place.of_conversation:
        lists = [mentioned, offered]
    at = int(place.rank)
    return next((papers[at] for papers in lists if at < len(papers) and len(papers) > 1), None)


def _relative(rank: str, papers: Sequence[Paper], focus: Sequence[Paper]) -> Paper | None:
    """`former`, `latter`, `last`, `previous`, `earlier` or `other` of papers, oldest first."""
    if rank in {"last", "latter"}:
        return _ranked(papers, len(papers) - 1)
    if rank == "former":
        return papers[-2] if len(papers) > 1 else None
    rest = [paper for paper in papers if paper not in focus[:1]]
    return _ranked(rest, len(rest) - 1)


def _ranked(papers: Sequence[Paper], at: int) -> Paper | None:
    return papers[at] if 0 <= at < len(papers) else None


def _another(question: str, history: Sequence[Turn], mentioned: tuple[Paper, ...]) -> Resolved:
    """A question for other papers; it names those before where it says little itself."""
    besides = tuple(cited_papers(history))
    if stands_alone(question):
        standalone = question
    elif besides:
        standalone = f"Besides {_titled(besides[0])}: {question}"
    else:
        standalone = _with_what_was_asked(question, history)
    return Resolved(question, standalone, besides=besides, mentioned=mentioned)


def _with_what_was_asked(question: str, history: Sequence[Turn]) -> str:
    """`question` behind the last one that stood by itself, where it leans on it."""
    if not history or not needs_what_was_asked(question):
        return question
    alone = (turn.question for turn in reversed(history) if _stood_alone(turn))
    return f"{next(alone, history[0].question)} {question}"


def _stood_alone(turn: Turn) -> bool:
    return turn.answer.standalone_question == turn.question


def _in_place(question: str, place: Place, text: str) -> str:
    return f"{question[: place.start]}{text}{question[place.end :]}"


def _titled(paper: Paper) -> str:
    return f"“{first_words(paper.shown_title, _LONGEST_TITLE)}”"


def _text(paper: Paper) -> str:
    return f"{paper.title}\n{paper.abstract}"
