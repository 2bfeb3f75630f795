"""Names as they are spoken, `Bob Foo Jr.`, and as lists write them, `Foo, Bob, Jr.`."""

import re

_GENERATION = re.compile(r"(?:[JS]r\.?|I{2,3}|IV)")


def first_name_first(name: str) -> str:
    """`Foo, Bob`, `Foo, Bob, Jr.` and `Foo, Jr., Bob` turned round; without comma as it is."""
    last, *others = (part.strip() for part in name.split(","))
    if len(others) > 1 and _GENERATION.fullmatch(others[0]):
        others = [*others[1:], others[0]]
    return " ".join(filter(None, (*others[:1], last, *others[1:])))


def last_name_first(name: str) -> str:
    """`Oord, Aaron van den`; a name with a comma or of one word as it is."""
    words, generation = _without_generation(name.split())
    if "," in name or not words[1:]:
        return name
    return ", ".join(filter(None, (words[-1], " ".join(words[:-1]), generation)))


def surname(name: str) -> str:
    """`van den Oord` of `Aaron van den Oord` or `van den Oord, Aaron`; no `Jr.`, `III`, …

    Words in lower case before the last one are particles, which belong to it.
    """
    last, comma, _ = name.partition(",")
    words, _ = _without_generation(last.split())
    first = len(words) - 1
    while not comma and first > 0 and words[first - 1].islower():
        first -= 1
    return " ".join(words if comma else words[max(first, 0) :])


def parts_of(name: str) -> tuple[str, str, str]:
    """Given names, surname and generation: `Aaron`, `van den Oord`, and `Jr.` or nothing.

    A name of one word, or that cannot be taken apart, is a surname.
    """
    spoken = first_name_first(name)
    words, generation = _without_generation(spoken.split())
    last = surname(name)
    whole = " ".join(words)
    if not last or not whole.endswith(last):
        return "", whole, generation
    return whole.removesuffix(last).strip(), last, generation


def _without_generation(words: list[str]) -> tuple[list[str], str]:
    if len(words) > 1 and _GENERATION.fullmatch(words[-1]):
        return words[:-1], words[-1]
    return words, ""
