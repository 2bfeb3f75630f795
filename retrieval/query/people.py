"""Finds the people in a query, and the library's authors that a typed name fits.

A name may be whole, have initials, be a part of a name, or be misspelled.
"""

from collections.abc import Iterable, Sequence, Set
from itertools import pairwise

from rapidfuzz.distance import OSA

from retrieval.index.lexical import LexicalIndex
from retrieval.query.words import (
    PAPERS,
    Span,
    UnmatchedFilter,
    Word,
    folded_at,
    folded_words,
    is_joined,
)
from retrieval.text.names import (
    Fit,
    fit,
    name_term,
    name_words,
    spellings,
    starts_surname,
    words_of_term,
)
from retrieval.types import Filters

_MISSPELLED = 5
"""Letters from which a word may be misspelled."""
_LONG = 8
"""Letters from which two letters may be wrong."""
_PAIR = 2
_WIDEST = 5
"""Most words of a name."""
_WIDEST_MISSPELLED = 3
"""Most words of a misspelled name."""
_NEAR = 4
"""Words after `Levine's` among which papers must be mentioned."""


def people_in(
    words: Sequence[Word], taken: Set[int], names: LexicalIndex, *, lookup: bool
) -> list[Span]:
    """The spans that name authors, in order; none of the words at the indices `taken`.

    Surnames and names in lower case count only in a `lookup`; see `parse_query`.
    """
    found: list[Span] = []
    at = 0
    while at < len(words):
        person = _full_name_at(words, at, taken, names, lookup=lookup)
        if lookup and not person:
            person = _surname_at(words, at, taken, names, found)
        found += [person] if person else []
        at = person.end if person else at + 1
    return found


def lone_surnames(words: Sequence[Word], topic: Sequence[int], names: LexicalIndex) -> list[Span]:
    """Surnames that are the whole topic or joined to each other: `Finzi and Wilson`."""
    known = [at for at in topic if _is_rather_name(words[at], names)]
    if len(known) < len(topic):
        pairs = [pair for pair in pairwise(known) if is_joined(words, pair[0] + 1, pair[1])]
        known = sorted({at for pair in pairs for at in pair if words[at].capital})
    return [_author(words, at, at + 1, surnamed([words[at].folded], names)) for at in known]


def strangers_in(
    words: Sequence[Word], taken: Set[int], names: LexicalIndex, *, lookup: bool
) -> list[Span]:
    """Names after `by` that no author has; in a question about content, only after `papers by`.

    They are capitalised words; at least one is odd (see `_is_odd`), the others are in names.
    """
    found: list[Span] = []
    for at in range(1, len(words)):
        if folded_at(words, at - 1) != "by" or not (lookup or folded_at(words, at - 2) in PAPERS):
            continue
        end = _end_of_capitals(words, at, taken)
        known = [word.folded for word in words[at:end] if not _is_odd(word, names)]
        if len(known) < end - at and all(map(names.is_name_word, known)):
            typed = _typed(words[at:end])
            unmatched = UnmatchedFilter("author", f"by {typed}", closest(typed, names))
            found.append(Span(at, end, unmatched=unmatched))
    return found


def named(typed: str, names: LexicalIndex) -> tuple[str, ...]:
    """The indexed names that a typed name fits: whole, in part, or misspelled."""
    parts = name_words(typed)
    if not parts:
        return ()
    whole = spelled(typed, names) if len(parts) > 1 else surnamed(parts, names)
    return whole or having_all(parts, names) or misspelled(parts, names)


def closest(typed: str, names: LexicalIndex) -> str:
    """The library's name most similar to `typed`, as shown; empty if none is similar."""
    parts = name_words(typed)
    if len(parts) < _PAIR:
        return ""
    same = [term for term in surnamed(parts[-1:], names) if _is_near(term, parts)]
    near = same or [term for term in names.names_like(name_term(parts)) if _is_near(term, parts)]
    return shown(min(near, key=lambda term: (_distance(term, parts), term), default=""))


def spelled(typed: str, names: LexicalIndex) -> tuple[str, ...]:
    """The indexed names that `typed` fits best.

    If it has initials that no name has, the rest must fit only one name: `M. I. Jordan`.
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


def surnamed(parts: Sequence[str], names: LexicalIndex) -> tuple[str, ...]:
    """Names with the words as surname."""
    known = names.names_starting(f"{parts[-1]}, ")
    return tuple(term for term in known if words_of_term(term)[-len(parts) :] == list(parts))


def having_all(parts: Sequence[str], names: LexicalIndex) -> tuple[str, ...]:
    """Names with all the words in any order: a given name alone, a name turned round."""
    rarest = max(parts, key=len)
    known = names.names_with_word_like(rarest) if names.is_name_word(rarest) else []
    return tuple(term for term in known if set(parts) <= set(words_of_term(term)))


def misspelled(parts: Sequence[str], names: LexicalIndex) -> tuple[str, ...]:
    """The most similar names, if similar enough, to a surname or a whole name."""
    if len(parts) == 1:
        last = {term: words_of_term(term)[-1] for term in names.names_with_word_like(parts[0])}
        distances = {
            term: OSA.distance(parts[0], surname)
            for term, surname in last.items()
            if _is_misspelling(parts[0], surname, names)
        }
    else:
        distances = {
            term: _distance(term, parts)
            for term in names.names_like(name_term(parts))
            if _each_is_near(parts, words_of_term(term), names)
        }
    best = min(distances.values(), default=0)
    return tuple(term for term, distance in distances.items() if distance == best)


def shown(term: str) -> str:
    """An indexed name for display: `Yilun Du`."""
    return " ".join(word.capitalize() for word in words_of_term(term))


def _full_name_at(
    words: Sequence[Word], at: int, taken: Set[int], names: LexicalIndex, *, lookup: bool
) -> Span | None:
    for end in range(min(at + _WIDEST, len(words)), at + 1, -1):
        span = words[at:end]
        alone = folded_at(words, at - 1) == "by" or (lookup and len(span) == len(words))
        if not taken.isdisjoint(range(at, end)) or not _may_be_name(span, alone=alone):
            continue
        if span[-1].possessive and not lookup and not _owns_papers(words, end, taken):
            continue
        if terms := _full_name(span, names, alone=alone, lookup=lookup):
            return _author(words, at, end, terms)
    return None


def _full_name(
    span: Sequence[Word], names: LexicalIndex, *, alone: bool, lookup: bool
) -> tuple[str, ...]:
    """The names that a span means; `alone` if it is not part of a longer text."""
    capital, typed = _is_capitalised(span), _typed(span)
    parts, terms = name_words(typed), spelled(typed, names)
    if not terms:
        unread = lookup and capital and not all(map(names.texts_with, parts))
        may_be = len(span) <= _WIDEST_MISSPELLED and (alone or unread)
        return misspelled(parts, names) if may_be else ()
    if _is_abbreviated(parts, terms):
        dotted = span[0].text.isupper() or any(word.dot or "." in word.text for word in span)
        return terms if alone or (capital and dotted) else ()
    odd = lookup and any(_is_odd(word, names) for word in span)
    return terms if alone or capital or odd else ()


def _surname_at(
    words: Sequence[Word], at: int, taken: Set[int], names: LexicalIndex, found: Sequence[Span]
) -> Span | None:
    """A surname with its particles, recognised by its context."""
    end = at + 1
    while end < len(words) and starts_surname(words[end - 1].folded):
        end += 1
    parts = name_words(_typed(words[at:end]))
    rather = words[end - 1].capital or (
        not words[at].asks and _is_rather_name(words[end - 1], names)
    )
    if not parts or not rather or not taken.isdisjoint(range(at, end)):
        return None
    et_al = folded_words(words[end : end + 2]) == ("et", "al")
    terms: tuple[str, ...] = ()
    if (folded_at(words, at - 1) == "by" or et_al) and not _continues(words, end):
        terms = surnamed(parts, names) or having_all(parts, names)
        if not terms and _is_odd(words[end - 1], names):
            terms = misspelled(parts, names)
    elif (found and is_joined(words, found[-1].end, at)) or (
        words[end - 1].possessive and _owns_papers(words, end, taken)
    ):
        terms = surnamed(parts, names)
    return _author(words, at, end, terms) if terms else None


def _author(words: Sequence[Word], start: int, end: int, terms: tuple[str, ...]) -> Span:
    return Span(start, end, Filters(authors=(terms,)), _typed(words[start:end]))


def _end_of_capitals(words: Sequence[Word], at: int, taken: Set[int]) -> int:
    end = at
    while end < min(len(words), at + _WIDEST) and end not in taken:
        ends = end > at and (words[end - 1].comma or words[end - 1].possessive)
        if ends or not (words[end].capital or (end > at and starts_surname(words[end].folded))):
            break
        end += 1
    return end


def _continues(words: Sequence[Word], end: int) -> bool:
    """Whether the next word may belong to the name, too."""
    if end >= len(words) or words[end - 1].comma or words[end - 1].possessive:
        return False
    return (words[end].capital or not words[end - 1].capital) and not words[end].asks


def _owns_papers(words: Sequence[Word], end: int, taken: Set[int]) -> bool:
    """Whether papers follow, as in `Levine's offline RL papers`; Newton's method is not one."""
    near = range(end, end + _NEAR)
    return end == len(words) or any(folded_at(words, at) in PAPERS or at in taken for at in near)


def _typed(span: Sequence[Word]) -> str:
    return " ".join(word.text + "," * word.comma for word in span).removesuffix(",")


def _may_be_name(span: Sequence[Word], *, alone: bool) -> bool:
    """Whether punctuation and small words allow a span to be a name."""
    inner = span[:-1]
    commas = [word for word in inner if word.comma]
    if any(word.possessive for word in inner) or span[-1].folded.isdecimal():
        return False
    if commas and not (span[0].comma and (alone or _is_capitalised(span))):
        return False
    turned = len(span[-1].folded) == 1 and not span[0].dot  # Du Y., but not the end of a sentence
    surname = span[0] if span[0].comma or turned else span[-1]
    little = [word for word in span if word.asks and len(word.folded) > 1]
    # An and Do are names, too, if capitalised.
    return len(surname.folded) > 1 and (not little or (little == [surname] and surname.capital))


def _is_abbreviated(parts: Sequence[str], terms: Sequence[str]) -> bool:
    return any(len(part) == 1 for part in parts) or all(
        fit(parts, words_of_term(term)) > Fit.NO_MIDDLE for term in terms
    )


def _is_capitalised(span: Sequence[Word]) -> bool:
    return all(word.capital or starts_surname(word.folded) for word in span) and span[0].capital


def _is_odd(word: Word, names: LexicalIndex) -> bool:
    """Whether hardly any text of the library has the word."""
    return len(word.folded) > 1 and names.texts_with(word.folded) <= names.size // 1000


def _is_rather_name(word: Word, names: LexicalIndex) -> bool:
    """Whether a word is a surname more often than anything else: Wang, Song."""
    known = len(names.names_starting(f"{word.folded}, "))
    return known > 0 and (_is_odd(word, names) or known > names.texts_with(word.folded))


def _orders(parts: list[str]) -> Iterable[list[str]]:
    """A name read with the surname last, then with the surname first: `Du Yilun`, `Hwang S. J.`."""
    surname, *given = parts or [""]
    if given:
        yield parts
    if len(surname) > 1 and (len(parts) == _PAIR or all(len(part) == 1 for part in given)):
        yield [*given, surname]


def _each_is_near(parts: Sequence[str], known: Sequence[str], names: LexicalIndex) -> bool:
    """Whether every word is the same as in the name or a misspelling of it.

    A given name that some author has is not a misspelling, unless only one author has the surname.
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
