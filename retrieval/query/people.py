"""Authors that a query names, as spans of its words, found among the library's names."""

from collections.abc import Sequence, Set
from itertools import pairwise

from retrieval.filters import Filters
from retrieval.lexical import LexicalIndex
from retrieval.names import Fit, fit, name_words, starts_surname, words_of_term
from retrieval.query.authors import closest, having_all, misspelled, spelled, surnamed
from retrieval.query.spans import Span, is_joined
from retrieval.query.syntax import UnmatchedFilter
from retrieval.query.words import PAPERS, Word, folded_at, folded_words

_WIDEST = 5
"""Words of a name."""
_WIDEST_MISSPELLED = 3
"""Words of a name of which one may be misspelled."""
_NEAR = 4
"""Words after `Levine's` in which papers must be spoken of."""


def people_in(
    words: Sequence[Word], taken: Set[int], names: LexicalIndex, *, lookup: bool
) -> list[Span]:
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


def lone_surnames(words: Sequence[Word], topic: Sequence[int], names: LexicalIndex) -> list[Span]:
    """Surnames that are all of a query's topic or joined to each other: `Finzi and Wilson`."""
    known = [at for at in topic if _is_rather_name(words[at], names)]
    if len(known) < len(topic):
        pairs = [pair for pair in pairwise(known) if is_joined(words, pair[0] + 1, pair[1])]
        known = sorted({at for pair in pairs for at in pair if words[at].capital})
    return [_author(words, at, at + 1, surnamed([words[at].folded], names)) for at in known]


def strangers_in(
    words: Sequence[Word], taken: Set[int], names: LexicalIndex, *, lookup: bool
) -> list[Span]:
    """Names behind `by` that no author has: capitals, of which no text or some name has each.

    In a question about content, only behind `papers by`.
    """
    found: list[Span] = []
    for at in range(1, len(words)):
        end = _end_of_capitals(words, at, taken)
        span, typed = words[at:end], _typed(words[at:end])
        said_of_papers = lookup or folded_at(words, at - 2) in PAPERS
        odd = any(_is_odd(word, names) for word in span)
        rest = all(_is_odd(word, names) or names.is_name_word(word.folded) for word in span)
        if folded_at(words, at - 1) == "by" and odd and rest and said_of_papers:
            unmatched = UnmatchedFilter("author", f"by {typed}", closest(typed, names))
            found.append(Span(at, end, unmatched=unmatched))
    return found


def _end_of_capitals(words: Sequence[Word], at: int, taken: Set[int]) -> int:
    end = at
    while end < min(len(words), at + _WIDEST) and end not in taken:
        ends = end > at and (words[end - 1].comma or words[end - 1].possessive)
        if ends or not (words[end].capital or (end > at and starts_surname(words[end].folded))):
            break
        end += 1
    return end


def _author(words: Sequence[Word], start: int, end: int, terms: tuple[str, ...]) -> Span:
    return Span(start, end, Filters(authors=(terms,)), _typed(words[start:end]))


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
    """The names that a span means; `alone` if it is no part of other words."""
    capital, typed = _is_capitalised(span), _typed(span)
    parts, terms = name_words(typed), spelled(typed, names)
    if terms and _is_abbreviated(parts, terms):
        dotted = span[0].text.isupper() or any(word.dot or "." in word.text for word in span)
        return terms if alone or (capital and dotted) else ()
    if terms:
        odd = lookup and any(_is_odd(word, names) for word in span)
        return terms if alone or capital or odd else ()
    unread = lookup and capital and not all(map(names.texts_with, parts))
    is_short = len(span) <= _WIDEST_MISSPELLED
    return misspelled(parts, names) if is_short and (alone or unread) else ()


def _surname_at(
    words: Sequence[Word], at: int, taken: Set[int], names: LexicalIndex, found: Sequence[Span]
) -> Span | None:
    """A surname, with the particles before it, that its place marks as one."""
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
    if (folded_at(words, at - 1) == "by" or et_al) and not _goes_on(words, end):
        terms = surnamed(parts, names) or having_all(parts, names)
        if not terms and _is_odd(words[end - 1], names):
            terms = misspelled(parts, names)
    elif (found and is_joined(words, found[-1].end, at)) or (
        words[end - 1].possessive and _owns_papers(words, end, taken)
    ):
        terms = surnamed(parts, names)
    return _author(words, at, end, terms) if terms else None


def _goes_on(words: Sequence[Word], end: int) -> bool:
    """Whether what follows a surname may be more of the name."""
    if end >= len(words) or words[end - 1].comma or words[end - 1].possessive:
        return False
    return (words[end].capital or not words[end - 1].capital) and not words[end].asks


def _owns_papers(words: Sequence[Word], end: int, taken: Set[int]) -> bool:
    """`Levine's offline RL papers`; Newton's method is no paper."""
    near = range(end, end + _NEAR)
    return end == len(words) or any(folded_at(words, at) in PAPERS or at in taken for at in near)


def _typed(span: Sequence[Word]) -> str:
    return " ".join(word.text + "," * word.comma for word in span).removesuffix(",")


def _may_be_name(span: Sequence[Word], *, alone: bool) -> bool:
    """Whether a name may be spelled so, from its punctuation and little words alone."""
    inner = span[:-1]
    commas = [word for word in inner if word.comma]
    if any(word.possessive for word in inner) or span[-1].folded.isdecimal():
        return False
    if commas and not (span[0].comma and (alone or _is_capitalised(span))):
        return False
    turned = len(span[-1].folded) == 1 and not span[0].dot  # Du Y., but not the end of a sentence
    surname = span[0] if span[0].comma or turned else span[-1]
    little = [word for word in span if word.asks and len(word.folded) > 1]
    # An and Do are names, too, with a capital.
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
    """Whether a word stands for people more often than for anything else: Wang, Song."""
    known = len(names.names_starting(f"{word.folded}, "))
    return known > 0 and (_is_odd(word, names) or known > names.texts_with(word.folded))
