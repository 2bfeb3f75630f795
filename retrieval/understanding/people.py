"""Authors that a query names, found among the library's names.

A full name is one wherever it stands, unless it is spelled like ordinary words. A surname alone is
one only where the query marks it as a name: `papers by Levine`, `Levine et al`, `Levine's papers`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from retrieval.names import Fit, fit, name_words, starts_surname, words_of_term
from retrieval.understanding.authors import (
    Names,
    closest,
    having_all,
    misspelled,
    spelled,
    surnamed,
)
from retrieval.understanding.wording import (
    ABOUT,
    AND,
    ANYTHING,
    ASKING,
    BY,
    CONTENT_ASKING,
    PAPERS,
    SORTS,
    TOGETHER,
    WRITE,
    Kind,
    Word,
)

_YEAR = re.compile(r"(?:19|20)\d\d$")
_WIDEST = 5
"""Words of a name."""
_WIDEST_MISSPELLED = 3
"""Words of a name of which one may be misspelled."""
_BEFORE = 2
"""Words before a name that may mark it."""
_NEAR = 4
"""Words after `Levine's` in which papers must be spoken of."""


@dataclass(frozen=True, slots=True)
class Person:
    """An author whom a query names."""

    start: int
    end: int
    """The words of the query that name the author, `words[start:end]`."""
    typed: str
    terms: tuple[str, ...]
    """The indexed names that fit; none if the library has no such author."""
    marked: bool
    """Whether the query itself says that this is an author."""
    close: str = ""
    """Where nobody fits: an indexed name spelled alike."""


def people_in(words: Sequence[Word], names: Names) -> list[Person]:
    """The authors whom the words name, in their order; the words are not changed.

    There is no filter for papers that are not by someone, so who is excluded is left out.
    """
    found: list[Person] = []
    at = 0
    while at < len(words):
        person = _full_name_at(words, at, names) or _surname_at(words, at, names)
        person = person or _stranger_at(words, at, names)
        if person and not _is_excluded(words, at):
            found.append(person)
        at = person.end if person else at + 1
    return _marks_shared(found, words)


def _full_name_at(words: Sequence[Word], at: int, names: Names) -> Person | None:
    for width in range(min(_WIDEST, len(words) - at), 1, -1):
        span = words[at : at + width]
        marked = _is_marked(words, at, at + width)
        alone = marked or width == len(words)  # the whole query may be a name in any case
        if not _may_be_name(span, alone=alone):
            continue
        if terms := _full_name(span, names, marked=marked, alone=alone):
            return Person(at, at + width, _typed(span), terms, marked)
    return None


def _full_name(span: Sequence[Word], names: Names, *, marked: bool, alone: bool) -> tuple[str, ...]:
    """The names that a span means; `alone` if it is no part of other words."""
    terms = spelled(_typed(span), names)
    if terms:
        return terms if alone or _looks_like_name(span, terms, names) else ()
    if alone or _is_capitalised(span):
        return _misspelled_name(span, names, marked=marked)
    return ()


def _surname_at(words: Sequence[Word], at: int, names: Names) -> Person | None:
    """A surname that is marked as one, with the particles before it."""
    end = at + 1
    while end < len(words) and starts_surname(words[end - 1].folded):
        end += 1
    parts = name_words(_typed(words[at:end]))
    asks = words[at].asks and not starts_surname(words[at].folded)
    if words[at].kind or not parts or (asks and not words[at].capital):
        return None
    strongly = _is_by(words, at) or _is_et_al(words, end)
    if not (strongly or _is_marked_surname(words, at, end, names)):
        return None
    terms = surnamed(parts, names)
    if strongly and not _goes_on(words, end):
        terms = terms or having_all(parts, names) or misspelled(parts, names)
    elif strongly and (words[end - 1].capital or not _is_odd(words[end - 1], names)):
        terms = ()
    return Person(at, end, _typed(words[at:end]), terms, marked=True) if terms else None


def _goes_on(words: Sequence[Word], end: int) -> bool:
    """Whether what follows a surname may be more of the name."""
    if end >= len(words):
        return False
    last, word = words[end - 1], words[end]
    if last.capital and not (word.capital or starts_surname(word.folded)):
        return False
    return not (last.comma or last.possessive or word.kind or word.asks)


def _stranger_at(words: Sequence[Word], at: int, names: Names) -> Person | None:
    """Someone whom the query calls an author and the library does not know."""
    if words[at].kind or words[at].asks:
        return None
    if _is_by(words, at):
        end = _end_of_stranger(words, at)
        span = words[at:end]
        if not _is_capitalised(span) and all(names.texts_with(word.folded) for word in span):
            return None
    elif _is_et_al(words, at + 1):
        end = at + 1
    else:
        return None
    typed = _typed(words[at:end])
    return Person(at, end, typed, (), marked=True, close=closest(typed, names))


def _end_of_stranger(words: Sequence[Word], at: int) -> int:
    end = at + 1
    while end < len(words) and end - at < _WIDEST:
        previous, word = words[end - 1], words[end]
        if (word.asks and not word.capital) or word.kind or previous.comma or previous.possessive:
            break
        if words[at].capital and not (word.capital or starts_surname(word.folded)):
            break
        end += 1
    return end


def _misspelled_name(span: Sequence[Word], names: Names, *, marked: bool) -> tuple[str, ...]:
    """Names that a span misspells; unmarked it must have a word that no text has."""
    parts = name_words(_typed(span))
    odd = [part for part in parts if not names.texts_with(part)]
    strange = any(not names.is_name_word(part) for part in parts)
    if len(span) > _WIDEST_MISSPELLED or not (marked or odd):
        return ()
    return misspelled(parts, names) if strange or marked or odd else ()


def _typed(span: Sequence[Word]) -> str:
    return " ".join(
        f"{word.text}," if word.comma and at < len(span) - 1 else word.text
        for at, word in enumerate(span)
    )


def _may_be_name(span: Sequence[Word], *, alone: bool) -> bool:
    """Whether a name may be spelled so, from its punctuation and little words alone."""
    if any(word.kind or word.possessive for word in span[:-1]) or span[-1].kind:
        return False
    if any(word.comma for word in span[:-1]) and not (
        span[0].comma and (alone or _is_capitalised(span))
    ):
        return False
    inner = [word for word in span if not starts_surname(word.folded) and len(word.folded) > 1]
    turned = len(span[-1].folded) == 1 and not span[0].dot  # Du Y., but not the end of a sentence
    # Do, He and An are names too, but only with a capital, and never before or between others.
    asking = [word for word in inner if word.folded in ASKING]
    surname = span[0] if span[0].comma or turned else span[-1]
    if asking and (len(asking) > 1 or asking[0] is not surname or not surname.capital):
        return False
    return len(inner) > 0 and not span[-1].folded.isdecimal() and len(surname.folded) > 1


def _looks_like_name(span: Sequence[Word], terms: Sequence[str], names: Names) -> bool:
    """Whether words that fit a name are meant as one, though nothing marks them."""
    parts = name_words(_typed(span))
    initials = any(len(part) == 1 for part in parts) or all(
        fit(parts, words_of_term(term)) > Fit.NO_MIDDLE for term in terms
    )
    if initials:
        return _is_capitalised(span) and (
            any(word.dot or "." in word.text for word in span) or span[0].text.isupper()
        )
    return _is_capitalised(span) or any(_is_odd(word, names) for word in span)


def _is_odd(word: Word, names: Names) -> bool:
    """Whether hardly any text of the library has the word."""
    return len(word.folded) > 1 and names.texts_with(word.folded) <= names.size // 1000


def _is_capitalised(span: Sequence[Word]) -> bool:
    return all(word.capital or starts_surname(word.folded) for word in span) and span[0].capital


def _is_marked(words: Sequence[Word], start: int, end: int) -> bool:
    """Whether what stands around a full name says that it is an author's."""
    if _is_by(words, start) or _is_et_al(words, end) or _owns_papers(words, end):
        return True
    before, after = words[max(start - _BEFORE, 0) : start], words[end : end + 1]
    if any(word.folded in ("author", "authors") for word in before):
        return True
    if len(before) == _BEFORE and before[-1].folded in ("from", "of", "with"):
        return before[-2].folded in PAPERS | ANYTHING
    return any(word.folded in PAPERS | WRITE and word.kind is None for word in after)


def _is_marked_surname(words: Sequence[Word], start: int, end: int, names: Names) -> bool:
    """Whether a surname is marked by what follows, or by another that it is joined to."""
    whole = end - start == len(words)
    spelled_so = words[start].capital or starts_surname(words[start].folded)
    if not (whole or spelled_so or _is_odd(words[end - 1], names)):
        return False
    if _wrote_together(words, start, end):
        return True
    if not _is_rather_name(words[end - 1], names):
        return False
    after = words[end : end + 1]
    return (
        whole
        or start < _end_of_listed(words, names)
        or _owns_papers(words, end)
        or any(word.folded in PAPERS | WRITE | SORTS or _YEAR.match(word.folded) for word in after)
        or any(word.kind in (Kind.VENUE, Kind.YEAR) for word in (*words[:start][-1:], *after))
        or (start > 0 and words[start - 1].folded in BY and _speaks_of_papers(words[:start]))
        or (start > 0 and words[start - 1].folded in BY and _closes_topic(words, end))
    )


def _is_rather_name(word: Word, names: Names) -> bool:
    """Whether a word stands for people more often than for anything else: Wang, Song."""
    known = names.names_starting(f"{word.folded}, ")
    return _is_odd(word, names) or len(known) > names.texts_with(word.folded)


def _end_of_listed(words: Sequence[Word], names: Names) -> int:
    """Where the surnames end with which a query begins, two at least: `Finzi and Wilson …`."""
    at = people = 0
    while at < len(words) and _is_known_surname(words[at], names):
        people += 1
        is_and = any(word.folded in AND for word in words[at + 1 : at + 2])
        goes_on = is_and or words[at].comma
        at += 2 if is_and else 1
        if not goes_on:
            break
    return at if people > 1 else 0


def _is_known_surname(word: Word, names: Names) -> bool:
    known = not word.kind and names.names_starting(f"{word.folded}, ")
    return bool(known) and _is_rather_name(word, names)


def _closes_topic(words: Sequence[Word], end: int) -> bool:
    """`diffusion by Song`, but not `what is attention by Song`."""
    return end == len(words) and not any(word.folded in CONTENT_ASKING for word in words)


def _owns_papers(words: Sequence[Word], end: int) -> bool:
    """`Levine's offline RL papers`; Newton's method is no paper."""
    after = words[end : end + _NEAR]
    return words[end - 1].possessive and (_speaks_of_papers(after) or any(w.kind for w in after))


def _speaks_of_papers(words: Sequence[Word]) -> bool:
    return any(word.folded in PAPERS | SORTS for word in words)


def _wrote_together(words: Sequence[Word], start: int, end: int) -> bool:
    """Whether the surname is one of two that the query joins and says to have written."""
    follows = end + 1 < len(words) and words[end].folded in AND and words[end + 1].capital
    precedes = (
        start >= _BEFORE and words[start - 1].folded in AND and words[start - _BEFORE].capital
    )
    return (follows or precedes) and any(word.folded in WRITE | TOGETHER for word in words)


def _is_by(words: Sequence[Word], at: int) -> bool:
    """Whether `by` before a word means that papers are by someone, here or before an `and`."""
    if at < 1:
        return False
    if words[at - 1].folded in BY:
        return (
            at < _BEFORE
            or words[at - _BEFORE].folded in PAPERS | WRITE | ANYTHING
            or bool(words[at - 2].kind)
        )
    if words[at - 1].folded in AND or words[at - 1].comma:
        back = at - 2 if words[at - 1].folded in AND else at - 1
        for step in range(1, _WIDEST):
            start = back - step + 1
            if start < 1 or words[start].folded in ABOUT:
                return False
            if words[start - 1].folded in BY:
                return _is_by(words, start)
    return False


def _is_excluded(words: Sequence[Word], at: int) -> bool:
    return at >= _BEFORE and words[at - 2].folded == "not" and words[at - 1].folded in BY


def _is_et_al(words: Sequence[Word], at: int) -> bool:
    return [word.folded for word in words[at : at + 2]] == ["et", "al"]


def _marks_shared(found: list[Person], words: Sequence[Word]) -> list[Person]:
    """Who is joined by `and` to an author marked as one is marked too."""
    marked = {at for at, person in enumerate(found) if person.marked}
    for at, (one, two) in enumerate(pairwise(found)):
        between = [word.folded for word in words[one.end : two.start]]
        if (not between or set(between) <= AND) and {at, at + 1} & marked:
            marked |= {at, at + 1}
    return [
        Person(p.start, p.end, p.typed, p.terms, marked=at in marked, close=p.close)
        for at, p in enumerate(found)
    ]
