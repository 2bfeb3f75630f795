"""How the venues and decisions of a library's records may be spelled in a query."""

import re
from collections.abc import Iterable

from retrieval.names import folded

Spellings = dict[tuple[str, ...], tuple[str, ...]]
"""Folded words, and the values of records that they stand for."""

ELSEWHERE = frozenset(
    "aaai acl aistats alt asplos cav chi cikm cogsci colt colm conll corl crypto cvpr eacl eccv "
    "ecir ecml emnlp focs iccv iclr icml icra ijcai interspeech iros isca jair jmlr kdd miccai "
    "mlsys naacl neurips nips osdi podc popl recsys rss sigcomm sigir siggraph sigmod soda sosp "
    "stoc tacl tmlr tpami uai usenix vldb wacv www wsdm".split()
)
"""Venues that a query may name though the library has nothing of theirs."""
_SAME = ({"neurips", "nips"},)
_PROCEEDINGS = re.compile(
    r"\b(?:in|the|of|on|for|and|proceedings|annual|conference track|\d+(?:st|nd|rd|th)?|"
    r"(?:twenty|thirty|forty|fifty)?-?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|"
    r"ninth|tenth|eleventh|twelfth))\b"
)
_ACRONYM = re.compile(r"\(([A-Za-z]{2,12})[ '’-]*(?:\d{2}|\d{4})?\)")
_AWARDED = re.compile(
    r"outstanding|award|best|distinguished|honou?rable mention|prize|test of time"
)
_GROUP = tuple(
    "award-winning,award winning,awarded,award winner,prize-winning,prize winning,prize winner,"
    "award winners,prize winners,award,awards".split(",")
)
"""What stands for any award."""
_BEST = ("best paper", "best papers", "best paper award", "best paper awards")
_PAPER = re.compile(r" (?:paper|award|talk|presentation)$")


def venue_spellings(venues: Iterable[str]) -> Spellings:
    """Every venue by its name, its acronym and the words without `Proceedings of the`."""
    found: dict[tuple[str, ...], set[str]] = {}
    for venue in venues:
        for spelled in _venue_forms(venue):
            found.setdefault(tuple(spelled.split()), set()).add(venue)
    return {words: tuple(sorted(values)) for words, values in found.items() if words}


def decision_spellings(decisions: Iterable[str]) -> Spellings:
    """Every decision in the singular and plural; an award also without `paper`."""
    found: dict[tuple[str, ...], set[str]] = {}
    for decision in decisions:
        forms = _decision_forms(decision)
        if _AWARDED.search(folded(decision)):
            forms |= {f"{form} {award}" for form in forms for award in ("award", "awards")}
            forms.update(_GROUP)
        if "outstanding" in folded(decision):
            forms.update(_BEST)
        for spelled in forms:
            found.setdefault(tuple(spelled.split()), set()).add(decision)
    return {words: tuple(sorted(values)) for words, values in found.items() if words}


def _venue_forms(venue: str) -> set[str]:
    plain = _words(venue)
    without_year = re.sub(r"\b(?:19|20)\d\d\b", " ", plain)
    core = " ".join(_PROCEEDINGS.sub(" ", without_year).split())
    forms = {plain, " ".join(without_year.split()), core}
    forms |= {_words(inside) for inside in _ACRONYM.findall(venue)}
    initials = "".join(word[0] for word in core.split())
    if len(initials) > 2:  # noqa: PLR2004 - two letters are the initials of anything
        forms.add(initials)
    if "neural information processing systems" in core:
        forms |= {"neurips", "nips"}
    for same in _SAME:
        if forms & same:
            forms |= same
    return forms - {""}


def _decision_forms(decision: str) -> set[str]:
    plain = folded(decision).replace("-", " ").replace(":", " ")
    forms = {folded(decision), " ".join(plain.split())}
    forms |= {_PAPER.sub("", each) for each in forms}
    forms |= {each.removeprefix("notable ") for each in forms}
    forms |= {each.replace("honorable", "honourable") for each in forms}
    forms |= {each.replace("honourable", "honorable") for each in forms}
    return {form for each in forms for form in (each, f"{each}s") if each}


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", folded(text)))
