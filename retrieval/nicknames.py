"""Nicknames of methods in a paper's text, such as Git Re-Basin, S4 or Grad-ODAM.

Case, hyphens and spaces must not matter, so a nickname is indexed joined: `gitrebasin`.
"""

import re

from retrieval.names import folded

_WORD = re.compile(r"[^\W_]+(?:[-‐‑–/^+.][^\W_]+)*\+*")
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
_BEHIND = 60
"""Characters behind `we propose` and the like in which a nickname counts as given."""
_SHORTEST_ACRONYM = 2
_LONGEST_HEAD = 5
"""Words before a title's colon that are taken as a name."""
_BEGINS = re.compile(r"(?:^|[.?!:;]\s)[\s\W]*$")
_MANY_CAPITALS = 0.5
"""Share of capitalised words above which a capital says nothing: it is a title, or shouted."""


def joined(text: str) -> str:
    """`text` folded, without spaces, hyphens and marks."""
    letters = text.lower() if text.isascii() else folded(text)
    return _SEPARATORS.sub("", letters)


def nicknames(text: str) -> list[str]:
    """What in `text` is spelled like a name: capitals inside, digits, hyphens; joined."""
    found = (match.group() for match in _WORD.finditer(text))
    return list(dict.fromkeys(joined(word) for word in found if _is_name_like(word)))


def names_in(text: str) -> list[str]:
    """The words of running text that are spelled like names, as typed.

    These are words with a capital or a digit inside, and capitalised ones that do not begin a
    sentence. Where most words are capitalised, as in a title, that alone is no sign.
    """
    found = [(match.group(), match.start()) for match in _WORD.finditer(text)]
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


def _has_name_letters(word: str) -> bool:
    """Whether it has a capital behind a letter, or both a letter and a digit."""
    if any(map(str.isdigit, word)):
        return any(map(str.isalpha, word))
    return any(map(str.isupper, word[1:]))


def stands_for(acronym: str, text: str) -> bool:
    """Whether words of `text` in a row begin with the letters of `acronym`: capitals, at least two.

    A plural's `s` is none of them.
    """
    letters = acronym.removesuffix("s")
    if len(letters) < _SHORTEST_ACRONYM or not (letters.isalpha() and letters.isupper()):
        return False
    initials = "".join(word[0].upper() for word in _LETTERS.findall(text))
    return letters in initials


def introduced(title: str, abstract: str) -> list[str]:
    """Nicknames that the paper itself gives: in its title, or behind `we propose` and the like."""
    names = _in_title(title)
    for sentence in _SENTENCE_END.split(abstract):
        verbs = [verb.end() for verb in _INTRODUCES.finditer(sentence)]
        for end in verbs:
            names += nicknames(sentence[end : end + _BEHIND])
        if verbs:
            names += nicknames(" ".join(_BRACKETED.findall(sentence, min(verbs))))
    return [name for name in dict.fromkeys(names) if name]


def _in_title(title: str) -> list[str]:
    """What stands before the colon, as a whole; without one, what is spelled like a name."""
    head, colon, _ = title.partition(":")
    if colon and len(head.split()) <= _LONGEST_HEAD:
        return [joined(head)]
    return [] if title.isupper() else nicknames(title)


def _is_name_like(word: str) -> bool:
    rest = word[1:]
    if not rest or (rest.islower() and word.isalpha()):  # most words, so the quick test goes first
        return False
    if word.isalpha():
        return any(map(str.isupper, rest))
    return any(map(str.isalpha, word))
