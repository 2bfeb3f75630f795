"""Which of a library's authors a typed name fits: whole, with initials, in part, misspelled."""

from collections.abc import Iterable, Sequence

from rapidfuzz.distance import OSA

from retrieval.lexical import LexicalIndex
from retrieval.names import (
    Fit,
    fit,
    is_surname,
    name_term,
    name_words,
    spellings,
    words_of_term,
)

_MISSPELLED = 5
"""Letters that a word must have to be taken for another one misspelled."""
_LONG = 8
"""Letters from which two letters may be wrong."""
_PAIR = 2


def named(typed: str, names: LexicalIndex) -> tuple[str, ...]:
    """The indexed names that a name fits that is known to be one: whole, in part, misspelled."""
    parts = name_words(typed)
    if not parts:
        return ()
    whole = spelled(typed, names) if len(parts) > 1 else surnamed(parts, names)
    return whole or having_all(parts, names) or misspelled(parts, names)


def closest(typed: str, names: LexicalIndex) -> str:
    """A name of the library that is spelled much like `typed`, as shown; empty if there is none."""
    parts = name_words(typed)
    if len(parts) < _PAIR:
        return ""
    same = [term for term in surnamed(parts[-1:], names) if _is_near(term, parts)]
    near = same or [term for term in names.names_like(name_term(parts)) if _is_near(term, parts)]
    return shown(min(near, key=lambda term: (_distance(term, parts), term), default=""))


def spelled(typed: str, names: LexicalIndex) -> tuple[str, ...]:
    """The names that `typed` fits best; of a name's own initials, all of them.

    Where initials are typed that no name has, only one name must fit the others: `M. I. Jordan`.
    """
    ranked: dict[Fit, list[str]] = {}
    for spelling in spellings(typed):
        for parts in _orders(name_words(spelling)):
            for term in names.names_starting(f"{parts[-1]}, {parts[0][0]}"):
                rank = max(fit(parts, words_of_term(term)), Fit.BUT_FOR_INITIALS)
                ranked.setdefault(rank, []).append(term)
            if min(ranked, default=Fit.NOT) < Fit.NOT:
                break
    best = min(ranked, default=Fit.NOT)
    terms = tuple(dict.fromkeys(ranked[best])) if best < Fit.NOT else ()
    return () if best is Fit.MORE_INITIALS and len(terms) > 1 else terms


def _orders(parts: list[str]) -> Iterable[list[str]]:
    """A name as it is typed; then with the surname first: `Du Yilun`, `Hwang S. J.`."""
    surname, *given = parts or [""]
    if given:
        yield parts
    if len(surname) > 1 and (len(parts) == _PAIR or all(len(part) == 1 for part in given)):
        yield [*given, surname]


def surnamed(parts: Sequence[str], names: LexicalIndex) -> tuple[str, ...]:
    """Names whose surname the words are."""
    known = names.names_starting(f"{parts[-1]}, ")
    return tuple(term for term in known if is_surname(parts, words_of_term(term)))


def having_all(parts: Sequence[str], names: LexicalIndex) -> tuple[str, ...]:
    """Names that have all the words, wherever: a given name alone, a name turned round."""
    rarest = max(parts, key=len)
    known = names.names_with_word_like(rarest) if names.is_name_word(rarest) else []
    return tuple(term for term in known if set(parts) <= set(words_of_term(term)))


def misspelled(parts: Sequence[str], names: LexicalIndex) -> tuple[str, ...]:
    """Names that the words are nearest to, if they are near: a surname, or a name of two words."""
    if len(parts) == 1:
        known = names.names_with_word_like(parts[0])
        near = [term for term in known if _is_misspelling(parts[0], words_of_term(term)[-1], names)]
        distances = {term: OSA.distance(parts[0], words_of_term(term)[-1]) for term in near}
    else:
        near = [
            term
            for term in names.names_like(name_term(parts))
            if _each_is_near(parts, words_of_term(term), names)
        ]
        distances = {term: _distance(term, parts) for term in near}
    best = min(distances.values(), default=0)
    return tuple(term for term in near if distances[term] == best)


def _each_is_near(parts: Sequence[str], known: Sequence[str], names: LexicalIndex) -> bool:
    """Whether every word is that of the name or a misspelling of it.

    A given name that others have too is another one, unless the surname is this person's alone.
    """
    if len(parts) != len(known):
        return False
    wrong = [pair for pair in zip(parts, known, strict=True) if pair[0] != pair[1]]
    if all(_is_misspelling(typed, spelled, names) for typed, spelled in wrong):
        return True
    alone = parts[-1] == known[-1] and len(names.names_starting(f"{known[-1]}, ")) == 1
    return alone and all(_is_near_word(typed, spelled) for typed, spelled in wrong)


def _is_misspelling(typed: str, known: str, names: LexicalIndex) -> bool:
    return not names.is_name_word(typed) and _is_near_word(typed, known)


def _is_near_word(typed: str, known: str) -> bool:
    if len(typed) < _MISSPELLED or len(known) < _MISSPELLED - 1:
        return False
    return OSA.distance(typed, known) <= (2 if min(len(typed), len(known)) >= _LONG else 1)


def _is_near(term: str, parts: Sequence[str]) -> bool:
    return _distance(term, parts) <= max(2, len(" ".join(parts)) // 5)


def _distance(term: str, parts: Sequence[str]) -> int:
    return int(OSA.distance(" ".join(parts), " ".join(words_of_term(term))))


def shown(term: str) -> str:
    """An indexed name as it may be shown: `Yilun Du`."""
    return " ".join(word.capitalize() for word in words_of_term(term))
