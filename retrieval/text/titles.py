"""Compares queries with titles, and finds names of methods (nicknames) and other names in text."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from retrieval.text.names import BETWEEN_WORDS, folded, words_in

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
_TITLE_WORD = re.compile(r"[^\W_]+(?:[-‐‑–/^+.][^\W_]+)*\+*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")

_INTRODUCES = re.compile(
    r"\b(?:we|our|this (?:paper|work|article|study))\b[^\w-]+(?:[\w-]+[^\w-]+){0,4}?"
    r"(?:propos\w+|introduc\w+|present\w*|call\w*|nam\w+|dub\w*|term\w*|denot\w+|coin\w*|"
    r"develop\w*|design(?:ed)?(?! of)|releas\w+|refer\w* to|abbreviat\w+|describ\w+|"
    r"devis\w+|contribut\w+)\b",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\(([^()]{2,30})\)")
_NEW_SENTENCE = re.compile(r"[.?!:;]\s")


def plain_title(title: str) -> str:
    """A title or query in the form in which titles are compared: folded, without punctuation."""
    return " ".join(words_in(title))


def likeness(query: str, title: str) -> float:
    """Likeness of the query and the title, from 0 to 1; both plain.

    A query shorter than the title may be a part of it, or some of its words.
    """
    if not query or not title:
        return 0.0
    like = [whole_likeness(query, title)]
    if f" {query} " in f" {title} ":
        like.append(_PART)
    elif _SHORT_PART <= len(query) < len(title):
        like.append(_PART * fuzz.partial_ratio(query, title) / 100)
    if " " in query:
        like.append(_WORDS * fuzz.token_sort_ratio(query, title) / 100)
        like.append(_WORDS * _words_found(query.split(), title.split()))
    return max(like)


def whole_likeness(query: str, title: str) -> float:
    """Likeness of the query and the whole title, from 0 to 1; both plain."""
    return fuzz.ratio(query, title) / 100


def joined(text: str) -> str:
    """`text` folded, without spaces and punctuation."""
    letters = text.lower() if text.isascii() else folded(text)
    return BETWEEN_WORDS.sub("", letters)


def nicknames(text: str) -> list[str]:
    """Words spelled like names, with inner capitals, digits or hyphens; joined."""
    found = (
        word
        for word in _TITLE_WORD.findall(text)
        if has_name_letters(word) or (not word.isalpha() and any(map(str.isalpha, word)))
    )
    return list(dict.fromkeys(map(joined, found)))


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
    found: list[tuple[str, bool]] = []
    end = 0
    for match in _TITLE_WORD.finditer(text):
        begins = not end or bool(_NEW_SENTENCE.search(text, end, match.start()))
        found.append((match.group(), begins))
        end = match.end()
    words = [word for word, _ in found if word[0].isalpha()]
    if len(words) > 1 and all(map(str.isupper, words)):
        return []
    capitals = sum(word[0].isupper() for word in words)
    telling = capitals <= max(1, _MANY_CAPITALS * len(words))
    names = [
        word
        for word, begins in found
        if has_name_letters(word) or (telling and word[0].isupper() and not begins)
    ]
    return [name for name in dict.fromkeys(names) if len(name) > 1]


def stands_for(acronym: str, text: str) -> bool:
    """Whether the letters of `acronym` (at least two capitals) begin consecutive words of `text`.

    A plural's `s` is ignored.
    """
    letters = acronym.removesuffix("s")
    if len(letters) < _SHORTEST_ACRONYM or not (letters.isalpha() and letters.isupper()):
        return False
    initials = "".join(word[0].upper() for word in re.findall(r"[^\W\d_]+", text))
    return letters in initials


def _words_found(words: Sequence[str], title: Sequence[str]) -> float:
    """The share of the query's letters in words of the title, also misspelled ones."""
    found = 0.0
    for word in words:
        near = process.extractOne(word, title, scorer=fuzz.ratio, score_cutoff=100 * _SAME_WORD)
        found += len(word) * near[1] / 100 if near else 0.0
    return found / sum(map(len, words))


def _in_title(title: str) -> list[str]:
    """The words before the colon, joined; without a colon, words that are spelled like names."""
    head, colon, _ = title.partition(":")
    if colon and len(head.split()) <= _LONGEST_HEAD:
        return [joined(head)]
    return [] if title.isupper() else nicknames(title)


def has_name_letters(word: str) -> bool:
    """Whether it has a capital after its first letter, or both a letter and a digit."""
    if any(map(str.isdigit, word)):
        return any(map(str.isalpha, word))
    return any(map(str.isupper, word[1:]))
