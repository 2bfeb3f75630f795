"""Names of people: folded, taken apart, turned round, and compared; and folding of any text."""

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum

_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "’": "'"}
)
"""Letters that Unicode does not decompose into a letter and a mark."""
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
"""Spellings of letters on a keyboard that lacks them."""
_PARTICLES = frozenset("van von de der den la le di da dos del della el al bin ben ter ten".split())
_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
WORD = re.compile(r"[^\W_]+")
"""Letters and digits: the one tokenizer of names, titles and venues."""
BETWEEN_WORDS = re.compile(r"[\W_]+")
GENERATION = re.compile(r"[JS]r\.?|I{2,3}|IV")


def folded(text: str) -> str:
    """`text` in lower case, without accents, with single spaces."""
    if text.isascii():  # a short cut for most text
        return " ".join(text.lower().split())
    decomposed = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return " ".join("".join(c for c in decomposed if not unicodedata.combining(c)).split())


def words_in(text: str) -> list[str]:
    """The folded words of `text`, without punctuation."""
    return WORD.findall(folded(text))


def spellings(text: str) -> tuple[str, ...]:
    """`text` folded, and also with umlauts written out if that differs."""
    composed = unicodedata.normalize("NFC", text.casefold())
    plain, written_out = folded(text), folded(composed.translate(_WRITTEN_OUT))
    return (plain,) if plain == written_out else (plain, written_out)


def name_words(name: str) -> list[str]:
    """The folded words of a name such as `Du, Yilun` or `Y.-L. Du`, given names first."""
    last, comma, first = name.partition(",")
    if comma and first.strip() and folded(first).strip(" .") not in _SUFFIXES:
        name = f"{first} {last}"
    words = WORD.findall(folded(name).replace("'", ""))
    return words[:-1] if len(words) > 1 and words[-1] in _SUFFIXES else words


def name_term(words: Sequence[str]) -> str:
    """The indexed form of a name: `du, yilun`, which sorts names by surname."""
    *given, surname = words
    return f"{surname}, {' '.join(given)}"


def words_of_term(term: str) -> list[str]:
    """The words of an indexed name, given names first."""
    surname, _, given = term.partition(", ")
    return [*given.split(), surname]


def name_terms(name: str) -> tuple[str, ...]:
    """All indexed forms of a name, one for each spelling."""
    words = (name_words(spelled) for spelled in spellings(name))
    return tuple(dict.fromkeys(name_term(each) for each in words if each))


class Fit(IntEnum):
    """How well a typed name fits a name of the library; less is better."""

    SAME = 0
    BUT_FOR_INITIALS = 1
    """Only one of them has initials of middle names."""
    NO_MIDDLE = 2
    """Only one of them has middle names."""
    TYPED_INITIALS = 3
    KNOWN_INITIALS = 4
    """The library has only initials."""
    MORE_INITIALS = 5
    """Only initials are typed, some of middle names that the library lacks."""
    NOT = 6


def fit(typed: Sequence[str], name: Sequence[str]) -> Fit:
    """How well `typed` fits `name`, both as words with given names first."""
    (*given, surname), (*known, known_surname) = typed, name
    if surname != known_surname or not given or not known:
        return Fit.SAME if list(typed) == list(name) else Fit.NOT
    if given == known or "".join(given) == "".join(known):
        return Fit.SAME
    if given[0] == known[0]:
        return _middle_fit(given[1:], known[1:])
    joined_initials = len(known) > 1 and given == ["".join(each[0] for each in known)]  # sj
    if _abbreviate(given, known) or joined_initials:
        return Fit.TYPED_INITIALS
    if _are_initials(known) and _abbreviate(known, given):
        return Fit.KNOWN_INITIALS
    more = _are_initials(given) and _abbreviate(given[: len(known)], known)
    return Fit.MORE_INITIALS if more else Fit.NOT


def starts_surname(word: str) -> bool:
    """Whether `word` is a particle that may begin a surname: van, de, …"""
    return word in _PARTICLES


def is_in_other_letters(text: str) -> bool:
    """Whether most letters of `text` are not Latin."""
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    return latin * 2 < len(letters)


def surname(name: str) -> str:
    """The surname: `van den Oord` of `Aaron van den Oord` or `van den Oord, Aaron`.

    Lower-case words before the last one are particles, which belong to it; `Jr.`, `III`, … do not.
    """
    last, comma, _ = name.partition(",")
    words, _ = _without_generation(last.split())
    first = len(words) - 1
    while not comma and first > 0 and words[first - 1].islower():
        first -= 1
    return " ".join(words if comma else words[max(first, 0) :])


def parts_of(name: str) -> tuple[str, str, str]:
    """Given names, surname and generation: `Aaron`, `van den Oord`, and `Jr.` or "".

    A name of one word, or one that cannot be taken apart, is a surname.
    """
    words, generation = _without_generation(first_name_first(name).split())
    last = surname(name)
    whole = " ".join(words)
    if not last or not whole.endswith(last):
        return "", whole, generation
    return whole.removesuffix(last).strip(), last, generation


def first_name_first(name: str) -> str:
    """`Foo, Bob`, `Foo, Bob, Jr.` and `Foo, Jr., Bob` turned round; others unchanged."""
    last, *others = (part.strip() for part in name.split(","))
    if len(others) > 1 and GENERATION.fullmatch(others[0]):
        others = [*others[1:], others[0]]
    return " ".join(filter(None, (*others[:1], last, *others[1:])))


def last_name_first(name: str) -> str:
    """`Oord, Aaron van den`; a name with a comma or of one word unchanged."""
    words, generation = _without_generation(name.split())
    if "," in name or not words[1:]:
        return name
    return ", ".join(filter(None, (words[-1], " ".join(words[:-1]), generation)))


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
    pairs = zip(short, full, strict=False)
    return all(a == b or (len(a) == 1 and b.startswith(a)) for a, b in pairs)


def _without_generation(words: list[str]) -> tuple[list[str], str]:
    if len(words) > 1 and GENERATION.fullmatch(words[-1]):
        return words[:-1], words[-1]
    return words, ""
