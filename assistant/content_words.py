"""The words that say what a question is about, and those that are said of any paper."""

import re
import unicodedata

WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
EMPTY = frozenset(
    "a about according across actually after against all also am an and another any approach "
    "are as at author authors available be been being between both but by can could did do does "
    "doing done each else ever exactly first for former from gave get gets give got had has "
    "have he her his how i if in instead into is it its just last latter like made make makes "
    "many me method methods more most much my no not of off on one or other others our out over "
    "paper papers per please really same say says second she should show shown so some study "
    "such tell than that the their them then there these they third this those to too up us use "
    "used uses using very was we were what what's when where which while who who's whom whose "
    "why will with without work would you your".split()
)
"""Words that say nothing of what is asked about."""
OF_ANY_PAPER = frozenset(
    "brief briefly contribution contributions dataset datasets experiment experiments findings "
    "idea ideas key limitation limitations main method methods overall result results short "
    "shortly summarise summarize summary".split()
)
"""Words for what every paper has: alone they ask about the paper at hand."""
_STEM_LETTERS = 5
_OF_THE_FIELD = frozenset(
    "agent data deep featu gener langu learn machi model netwo neura train".split()
)
"""Stems that so many abstracts have that they tell none apart."""


def content_words(question: str) -> list[str]:
    """The words that say what is asked about, as typed."""
    return [word for word in WORD.findall(question) if word.casefold() not in EMPTY]


def share(words: list[str], text: str) -> float:
    """The share of `words` whose stems `text` has."""
    folded = text.casefold()
    return sum(_stem(word) in folded for word in words) / len(words)


def lacks(text: str, words: list[str]) -> bool:
    """Whether one of `words` is not in `text`."""
    return bool(words) and share(words, text) < 1


def telling(words: list[str]) -> list[str]:
    """Those of `words` that tell one paper from another."""
    return [word for word in words if _stem(word) not in _OF_THE_FIELD]


def _stem(word: str) -> str:
    return word.casefold()[:_STEM_LETTERS]


def is_in_other_letters(text: str) -> bool:
    """Whether most letters of `text` are not Latin: the library's texts and these rules are."""
    letters = [letter for letter in text if letter.isalpha()]
    return sum(not _is_latin(letter) for letter in letters) > len(letters) / 2


def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN")
