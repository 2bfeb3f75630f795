"""Questions about a paper's record, answered from the record itself: who, where, when."""

import re
from enum import StrEnum

from retrieval.sentences import split_sentences
from retrieval.types import Paper

_WORD = re.compile(r"[^\W_]+")
_ABOUT_IT = frozenset(
    "a an and are at be by did do does for from get give got has have how i in is it its list me "
    "my name named names of on one or paper papers please s show tell that the their them they "
    "this title to was we were what whats when where which who whom whose work would you".split()
)
"""Words of questions about a paper that is known already."""
_AUTHORS = frozenset(
    "author authored authors behind coauthors corresponding first last lead people researchers "
    "senior wrote write written team group".split()
)
_APPEARED = frozenset(
    "accepted accept appear appeared award awarded awards come conference date decision "
    "honorable honourable journal mention mentioned notable oral orals out outstanding poster "
    "posters presentation presented prize published spotlight spotlights talk venue win won "
    "year".split()
)
_CALLED = frozenset({"title", "called", "titled"})


class Aspect(StrEnum):
    """What of a record is asked."""

    AUTHORS = "authors"
    APPEARED = "appeared"
    BOTH = "authors and appeared"
    TITLE = "title"
    NONE = ""


def aspect_of(question: str) -> Aspect:
    """What a follow-up asks of a record; nothing if any of its words is about content."""
    words = set(_WORD.findall(question.casefold()))
    if words and words <= _ABOUT_IT | _AUTHORS and words & (_AUTHORS | {"who", "whom", "whose"}):
        return Aspect.AUTHORS
    if words & (_APPEARED | {"where", "when"}) and words <= _ABOUT_IT | _APPEARED:
        return Aspect.APPEARED if words & _APPEARED else Aspect.NONE
    if words & _AUTHORS and words & _APPEARED and words <= _ABOUT_IT | _AUTHORS | _APPEARED:
        return Aspect.BOTH
    if words & _CALLED and words <= _ABOUT_IT | _CALLED:
        return Aspect.TITLE
    return Aspect.NONE


def record_sentence(question: str, paper: Paper) -> str:
    """The record's answer to a follow-up `question` about `paper`; empty if it has none."""
    return sentence_about(aspect_of(question), paper)


def sentence_about(aspect: Aspect, paper: Paper) -> str:
    """What the record says; empty if it does not."""
    if aspect is Aspect.BOTH:
        who, where = (sentence_about(each, paper) for each in (Aspect.AUTHORS, Aspect.APPEARED))
        rest = where.removeprefix(f"“{paper.shown_title}” ")
        return f"{who.removesuffix('.')}; it {rest}" if who and where else who or where
    if aspect is Aspect.AUTHORS and paper.authors:
        return f"“{paper.shown_title}” is by {_listed(paper.authors)}."
    if aspect is Aspect.APPEARED and (paper.venue or paper.decision):
        appeared = f"{paper.venue} {paper.year or ''}".strip()
        decision = f"as {_with_article(paper.decision)}" if paper.decision else ""
        facts = " ".join(filter(None, (f"at {appeared}" if appeared else "", decision)))
        return f"“{paper.shown_title}” appeared {facts}."
    if aspect is Aspect.TITLE and paper.title:
        return f"The title is “{paper.shown_title}”."
    return ""


def entry(paper: Paper) -> str:
    """A paper of a list: title, authors, where it appeared; without a full stop."""
    appeared = f"{paper.venue} {paper.year or ''}".strip()
    facts = ", ".join(filter(None, (appeared, paper.decision)))
    authors = f" by {_listed(paper.authors)}" if paper.authors else ""
    return f"“{paper.shown_title}”{authors}{f' ({facts})' if facts else ''}"


def opening(paper: Paper) -> str:
    """The first sentence of the abstract: what a citation of the record quotes."""
    sentences = split_sentences(paper.abstract)
    return sentences[0].text if sentences else paper.abstract


def _listed(names: tuple[str, ...]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _with_article(decision: str) -> str:
    return f"{'an' if decision.startswith((*'aeiou', 'hono')) else 'a'} {decision}"
