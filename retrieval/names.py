"""The spelling of names: accents folded, initials, order, middle names; pure text, no library."""

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum

_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "’": "'"}
)
"""What Unicode does not take apart into a letter and a mark."""
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
"""How the letters are written where there is no key for them."""
_PARTICLES = frozenset("van von de der den la le di da dos del della el al bin ben ter ten".split())
_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
_WORD = re.compile(r"[^\W_]+")


def folded(text: str) -> str:
    """`text` in lower case, without accents, with single spaces."""
    if text.isascii():  # as most text is, and there is much of it
        return " ".join(text.lower().split())
    decomposed = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return " ".join("".join(c for c in decomposed if not unicodedata.combining(c)).split())


def spellings(text: str) -> tuple[str, ...]:
    """`text` folded; then also as it is written without umlauts, where that is something else."""
    composed = unicodedata.normalize("NFC", text.casefold())
    plain, written_out = folded(text), folded(composed.translate(_WRITTEN_OUT))
    return (plain,) if plain == written_out else (plain, written_out)


def name_words(name: str) -> list[str]:
    """The folded words of a name, given names first: of `Du, Yilun` and of `Y.-L. Du`."""
    last, comma, first = name.partition(",")
    if comma and first.strip() and folded(first).strip(" .") not in _SUFFIXES:
        name = f"{first} {last}"
    words = _WORD.findall(folded(name).replace("'", ""))
    return words[:-1] if len(words) > 1 and words[-1] in _SUFFIXES else words


def name_term(words: Sequence[str]) -> str:
    """How a name is indexed: `du, yilun`, so that all of a surname stand together."""
    *given, surname = words
    return f"{surname}, {' '.join(given)}"


def words_of_term(term: str) -> list[str]:
    """The words of a name from how it is indexed, given names first."""
    surname, _, given = term.partition(", ")
    return [*given.split(), surname]


def name_terms(name: str) -> tuple[str, ...]:
    """All terms under which a name is indexed."""
    words = (name_words(spelled) for spelled in spellings(name))
    return tuple(dict.fromkeys(name_term(each) for each in words if each))


def is_initials(word: str, given: Sequence[str]) -> bool:
    """Whether `word` is the initials of two given names or more: `sj` of Sung Ju."""
    return len(given) > 1 and word == "".join(each[0] for each in given)


class Fit(IntEnum):
    """How well a typed name fits one of the library's; less is better."""

    SAME = 0
    BUT_FOR_INITIALS = 1
    """One of them has initials of middle names that the other lacks."""
    NO_MIDDLE = 2
    """One of them has middle names that the other lacks."""
    TYPED_INITIALS = 3
    KNOWN_INITIALS = 4
    """The library has no more than the initials."""
    MORE_INITIALS = 5
    """Initials alone are typed, also of middle names that the library lacks."""
    NOT = 6


def fit(typed: Sequence[str], name: Sequence[str]) -> Fit:
    """How well a typed name fits a name, both as words with the given names first."""
    (*given, surname), (*known, known_surname) = typed, name
    if surname != known_surname or not given or not known:
        return Fit.SAME if list(typed) == list(name) else Fit.NOT
    if given == known or "".join(given) == "".join(known):
        return Fit.SAME
    if given[0] == known[0]:
        return _middle_fit(given[1:], known[1:])
    if _abbreviate(given, known) or (len(given) == 1 and is_initials(given[0], known)):
        return Fit.TYPED_INITIALS
    if _are_initials(known) and _abbreviate(known, given):
        return Fit.KNOWN_INITIALS
    more = _are_initials(given) and _abbreviate(given[: len(known)], known)
    return Fit.MORE_INITIALS if more else Fit.NOT


def is_surname(typed: Sequence[str], name: Sequence[str]) -> bool:
    """Whether `typed` are the last words of a name: its surname, with what belongs to it."""
    return list(name[-len(typed) :]) == list(typed)


def starts_surname(word: str) -> bool:
    """Whether a surname of several words may begin with `word`: van, de, …"""
    return word in _PARTICLES


def _middle_fit(typed: Sequence[str], known: Sequence[str]) -> Fit:
    if not typed or not known:
        return Fit.BUT_FOR_INITIALS if _are_initials((*typed, *known)) else Fit.NO_MIDDLE
    if _abbreviate(typed, known) or _abbreviate(known, typed):
        return Fit.BUT_FOR_INITIALS
    return Fit.NOT


def _are_initials(words: Sequence[str]) -> bool:
    return all(len(word) == 1 for word in words)


def _abbreviate(short: Sequence[str], full: Sequence[str]) -> bool:
    """Whether the words of `short` are those of `full` in order, whole or as initials."""
    if len(short) > len(full):
        return False
    pairs = list(zip(short, full, strict=False))
    return all(a == b or (len(a) == 1 and b.startswith(a)) for a, b in pairs)


def is_in_other_letters(text: str) -> bool:
    """Whether most letters of `text` are not Latin."""
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    return latin * 2 < len(letters)
