"""Authors that a query names, as spans of its words, found among the library's names."""

from collections.abc import Sequence, Set
from itertools import pairwise

from retrieval.filters import NO_FILTERS, Filters
from retrieval.names import Fit, fit, name_words, starts_surname, words_of_term
from retrieval.query.authors import Names, having_all, misspelled, spelled, surnamed
from retrieval.query.spans import Span, is_joined
from retrieval.query.words import PAPERS, Word, folded_words

_WIDEST = 5
"""Words of a name."""
_WIDEST_MISSPELLED = 3
"""Words of a name of which one may be misspelled."""
_NEAR = 4
"""Words after `Levine's` in which papers must be spoken of."""


def people_in(words: Sequence[Word], taken: Set[int], names: Names, *, lookup: bool) -> list[Span]:
    """The authors whom the words name, in their order.

    Args:
        words: of the query.
        taken: where words stand that name something else.
        names: of the library.
        lookup: whether surnames count and names in lower case; see `parse_query`.
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


def lone_surnames(words: Sequence[Word], topic: Sequence[int], names: Names) -> list[Span]:
    """Surnames that are all of a query's topic or joined to each other: `Finzi and Wilson`."""
    known = [at for at in topic if _is_rather_name(words[at], names)]
    if len(known) < len(topic):
        pairs = [pair for pair in pairwise(known) if is_joined(words, pair[0] + 1, pair[1])]
        known = sorted({at for pair in pairs for at in pair if words[at].capital})
    return [
        Span(at, at + 1, Filters(authors=(surnamed([words[at].folded], names),)), words[at].text)
        for at in known
    ]


def stranger_at(words: Sequence[Word], at: int, taken: Set[int], names: Names) -> Span | None:
    """The unknown author whose name begins there behind `by`: capitals, no common words."""
    end = at
    while end < min(len(words), at + _WIDEST) and end not in taken and _continues(words, at, end):
        end += 1
    span = words[at:end]
    is_name = words[at - 1].folded == "by" and any(_is_odd(word, names) for word in span)
    return Span(at, end, NO_FILTERS, _typed(span)) if is_name else None


def _continues(words: Sequence[Word], at: int, end: int) -> bool:
    """Whether a name that begins at `at` has the word at `end`, too."""
    ends = end > at and (words[end - 1].comma or words[end - 1].possessive)
    return not ends and (words[end].capital or (end > at and starts_surname(words[end].folded)))


def _full_name_at(
    words: Sequence[Word], at: int, taken: Set[int], names: Names, *, lookup: bool
) -> Span | None:
    for width in range(min(_WIDEST, len(words) - at), 1, -1):
        end = at + width
        span = words[at:end]
        alone = (at > 0 and words[at - 1].folded == "by") or (lookup and width == len(words))
        if not taken.isdisjoint(range(at, end)) or not _may_be_name(span, alone=alone):
            continue
        if not lookup and span[-1].possessive and not _owns_papers(words, end, taken):
            continue
        if terms := _full_name(span, names, alone=alone, lookup=lookup):
            return Span(at, end, Filters(authors=(terms,)), _typed(span))
    return None


def _full_name(span: Sequence[Word], names: Names, *, alone: bool, lookup: bool) -> tuple[str, ...]:
    """The names that a span means; `alone` if it is no part of other words."""
    capital, terms = _is_capitalised(span), spelled(_typed(span), names)
    if terms:
        parts = name_words(_typed(span))
        if not alone and _is_abbreviated(parts, terms):
            return terms if capital and (span[0].text.isupper() or _has_dot(span)) else ()
        odd = lookup and any(_is_odd(word, names) for word in span)
        return terms if alone or capital or odd else ()
    parts = name_words(_typed(span))
    unread = any(not names.texts_with(part) for part in parts)
    if len(span) <= _WIDEST_MISSPELLED and (alone or (lookup and capital and unread)):
        return misspelled(parts, names)
    return ()


def _surname_at(
    words: Sequence[Word], at: int, taken: Set[int], names: Names, found: Sequence[Span]
) -> Span | None:
    """A surname that is marked as one, with the particles before it."""
    end = at + 1
    while end < len(words) and starts_surname(words[end - 1].folded):
        end += 1
    parts = name_words(_typed(words[at:end]))
    asks = words[at].asks and not words[at].capital and not starts_surname(words[at].folded)
    rather = words[end - 1].capital or _is_rather_name(words[end - 1], names)
    if not parts or asks or not rather or not taken.isdisjoint(range(at, end)):
        return None
    strong = (at > 0 and words[at - 1].folded == "by") or (
        folded_words(words[end : end + 2]) == ("et", "al")
    )
    joined = bool(found) and is_joined(words, found[-1].end, at)
    terms: tuple[str, ...] = ()
    if strong and not _goes_on(words, end):
        terms = surnamed(parts, names) or having_all(parts, names) or misspelled(parts, names)
    elif joined or (words[end - 1].possessive and _owns_papers(words, end, taken)):
        terms = surnamed(parts, names)
    return Span(at, end, Filters(authors=(terms,)), _typed(words[at:end])) if terms else None


def _goes_on(words: Sequence[Word], end: int) -> bool:
    """Whether what follows a surname may be more of the name."""
    if end >= len(words) or words[end - 1].comma or words[end - 1].possessive:
        return False
    word = words[end]
    return (word.capital or not words[end - 1].capital) and not word.asks


def _owns_papers(words: Sequence[Word], end: int, taken: Set[int]) -> bool:
    """`Levine's offline RL papers`; Newton's method is no paper."""
    near = range(end, min(end + _NEAR, len(words)))
    return any(words[at].folded in PAPERS or at in taken for at in near) or end == len(words)


def _typed(span: Sequence[Word]) -> str:
    return " ".join(
        f"{word.text}," if word.comma and at < len(span) - 1 else word.text
        for at, word in enumerate(span)
    )


def _may_be_name(span: Sequence[Word], *, alone: bool) -> bool:
    """Whether a name may be spelled so, from its punctuation and little words alone."""
    if any(word.possessive for word in span[:-1]) or span[-1].folded.isdecimal():
        return False
    if any(word.comma for word in span[:-1]) and not (
        span[0].comma and (alone or _is_capitalised(span))
    ):
        return False
    turned = len(span[-1].folded) == 1 and not span[0].dot  # Du Y., but not the end of a sentence
    surname = span[0] if span[0].comma or turned else span[-1]
    inner = [w for w in span if not starts_surname(w.folded) and len(w.folded) > 1]
    asking = [word for word in inner if word.asks]  # An and Do are names, with a capital
    return len(surname.folded) > 1 and (not asking or (asking == [surname] and surname.capital))


def _is_abbreviated(parts: Sequence[str], terms: Sequence[str]) -> bool:
    return any(len(part) == 1 for part in parts) or all(
        fit(parts, words_of_term(term)) > Fit.NO_MIDDLE for term in terms
    )


def _has_dot(span: Sequence[Word]) -> bool:
    return any(word.dot or "." in word.text for word in span)


def _is_capitalised(span: Sequence[Word]) -> bool:
    return all(word.capital or starts_surname(word.folded) for word in span) and span[0].capital


def _is_odd(word: Word, names: Names) -> bool:
    """Whether hardly any text of the library has the word."""
    return len(word.folded) > 1 and names.texts_with(word.folded) <= names.size // 1000


def _is_rather_name(word: Word, names: Names) -> bool:
    """Whether a word stands for people more often than for anything else: Wang, Song."""
    known = names.names_starting(f"{word.folded}, ")
    return bool(known) and (_is_odd(word, names) or len(known) > names.texts_with(word.folded))
