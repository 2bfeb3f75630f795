"""Compares queries with titles, and finds names of methods (nicknames) and other names in text."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from retrieval.text.names import folded

TITLE_MATCH = 0.8
"""Likeness from which a query counts as a title."""
_PART = 0.97
"""Weight of likeness to a part of a title, compared with the whole."""
_WORDS = 0.95
"""Weight of the same words in another order."""
_SHORT_PART = 15
"""Characters below which a part must match exactly: short texts are like many titles."""
_SAME_WORD = 0.75
"""Least likeness of a word and its misspelling: one wrong letter of four, two of eight."""
_BEHIND = 60
"""Characters after `we propose` and the like in which a nickname counts as introduced."""
_SHORTEST_ACRONYM = 2
_LONGEST_HEAD = 5
"""Most words before a title's colon that are a name."""
_MANY_CAPITALS = 0.5
"""Share of capitalised words above which a capital says nothing: the text is a title."""
_WORD = re.compile(r"[^\W_]+")
_TITLE_WORD = re.compile(r"[^\W_]+(?:[-‐‑–/^+.][^\W_]+)*\+*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_LETTERS = re.compile(r"[^\W\d_]+")
_SEPARATORS = re.compile(r"[\W_]+")
_INTRODUCES = re.compile(
    r"\b(?:we|our|this (?:paper|work|article|study))\b\W+(?:[\w-]+\W+){0,4}?"
    r"(?:propos\w+|introduc\w+|present\w*|call\w*|nam\w+|dub\w*|term\w*|denot\w+|coin\w*|"
    r"develop\w*|design(?:ed)?(?! of)|releas\w+|refer\w* to|abbreviat\w+|describ\w+|"
    r"devis\w+|contribut\w+)\b",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\(([^()]{2,30})\)")
_BEGINS = re.compile(r"(?:^|[.?!:;]\s)[\s\W]*$")


def plain_title(title: str) -> str:
    """A title or query in the form in which titles are compared: folded, without punctuation."""
    return " ".join(_WORD.findall(folded(title)))


def likeness(query: str, title: str) -> float:
    """Likeness of the query and the title, from 0 to 1; both plain.

    A query shorter than the title may be a part of it, or some of its words.
    """
    if not query or not title:
        return 0.0
    words = query.split()
    best = whole_likeness(query, title)
    if len(query) < len(title):
        best = max(best, _PART * _part_likeness(query, title))
    if len(words) > 1:
        best = max(best, _WORDS * fuzz.token_sort_ratio(query, title) / 100)
        best = max(best, _WORDS * _words_found(words, title.split()))
    return best


def whole_likeness(query: str, title: str) -> float:
    """Likeness of the query and the whole title, from 0 to 1; both plain."""
    return fuzz.ratio(query, title) / 100


def joined(text: str) -> str:
    """`text` folded, without spaces and punctuation."""
    letters = text.lower() if text.isascii() else folded(text)
    return _SEPARATORS.sub("", letters)


def nicknames(text: str) -> list[str]:
    """Words spelled like names, with inner capitals, digits or hyphens; joined."""
    found = (match.group() for match in _TITLE_WORD.finditer(text))
    return list(dict.fromkeys(joined(word) for word in found if _is_name_like(word)))


def introduced(title: str, abstract: str) -> list[str]:
    """Nicknames that the paper introduces: in its title, or after `we propose` and the like."""
    names = _in_title(title)
    for sentence in _SENTENCE_END.split(abstract):
        verbs = [verb.end() for verb in _INTRODUCES.finditer(sentence)]
        for end in verbs:
            names += nicknames(sentence[end : end + _BEHIND])
        if verbs:
            names += nicknames(" ".join(_BRACKETED.findall(sentence, min(verbs))))
    return [name for name in dict.fromkeys(names) if name]


def names_in(text: str) -> list[str]:
    """The words of running text that are spelled like names, as typed.

    These have a capital or a digit inside, or are capitalised and do not begin a sentence. If most
    words are capitalised, as in a title, that alone does not count.
    """
    found = [(match.group(), match.start()) for match in _TITLE_WORD.finditer(text)]
    words = [word for word, _ in found if word[0].isalpha()]
    capitals = sum(word[0].isupper() for word in words)
    if words and all(word.isupper() for word in words) and len(words) > 1:
        return []
    telling = capitals <= max(1, _MANY_CAPITALS * len(words))
    names = [
        word
        for word, start in found
        if _has_name_letters(word)
        or (telling and word[0].isupper() and not _BEGINS.search(text[:start]))
    ]
    return [name for name in dict.fromkeys(names) if len(name) > 1]


def stands_for(acronym: str, text: str) -> bool:
    """Whether the letters of `acronym` (at least two capitals) begin consecutive words of `text`.

    A plural's `s` is ignored.
    """
    letters = acronym.removesuffix("s")
    if len(letters) < _SHORTEST_ACRONYM or not (letters.isalpha() and letters.isupper()):
        return False
    initials = "".join(word[0].upper() for word in _LETTERS.findall(text))
    return letters in initials


def _part_likeness(query: str, title: str) -> float:
    if f" {query} " in f" {title} ":
        return 1.0
    return fuzz.partial_ratio(query, title) / 100 if len(query) >= _SHORT_PART else 0.0


def _words_found(words: Sequence[str], title: Sequence[str]) -> float:
    """The share of the query's letters in words of the title, also misspelled ones."""
    known = set(title)
    found = sum(len(word) * (1.0 if word in known else _closeness(word, title)) for word in words)
    return found / sum(map(len, words))


def _closeness(word: str, title: Sequence[str]) -> float:
    """Likeness of `word` and the word of the title that it may misspell; 0 if there is none."""
    nearest = process.extractOne(word, title, scorer=fuzz.ratio, score_cutoff=100 * _SAME_WORD)
    return nearest[1] / 100 if nearest else 0.0


def _in_title(title: str) -> list[str]:
    """The words before the colon, joined; without a colon, words that are spelled like names."""
    head, colon, _ = title.partition(":")
    if colon and len(head.split()) <= _LONGEST_HEAD:
        return [joined(head)]
    return [] if title.isupper() else nicknames(title)


def _is_name_like(word: str) -> bool:
    rest = word[1:]
    if not rest or (rest.islower() and word.isalpha()):  # the quick test for most words
        return False
    if word.isalpha():
        return any(map(str.isupper, rest))
    return any(map(str.isalpha, word))


def _has_name_letters(word: str) -> bool:
    """Whether it has a capital after its first letter, or both a letter and a digit."""
    if any(map(str.isdigit, word)):
        return any(map(str.isalpha, word))
    return any(map(str.isupper, word[1:]))
