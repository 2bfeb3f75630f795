"""Exact guards: a claim is not too long, and has only letters, numbers and names that it may have.

Numbers are compared by value and unit, however they are spelled. Text that imitates a part of a
prompt, or that cannot be checked because of its letters, supports nothing.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal

from retrieval.text.titles import stands_for

LONGEST_CLAIM = 150
"""Words; a model that writes a longer sentence repeats itself."""
_LONGEST_WORD = 40
"""Letters."""
_SHORTEST_ACRONYM = 3
"""Letters."""
_LONGEST_NAME = 5
"""Words that a name may join, as `Graph-Net` joins `graph net`."""
_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")

_FORGED = re.compile(
    r"<\|[\w ]{1,40}\|>|</?(?!https?:|mailto:)[a-z][\w ]{0,40}(?:[ =][^<>]*)?>|\[/?INST\]|<</?SYS>>"
    r"|###|\{\{|\{%|!\[|\]\(|\"(?:role|answer|outcome|sentences|citations|tool)\"\s*:"
    r"|\[(?:\d{1,2}|[a-z]\d[a-z])\]|::=",
    re.IGNORECASE,
)
"""Marks of chats, pages, templates, grammars and JSON, and citation marks."""
_OTHER_LETTER = re.compile(r"[\u0370-\u1cff\u3040-\ud7ff\uf900-\ufaff]")
_MANY_LETTERS = 5
"""Letters of other scripts that a sentence may have at most, as in a formula."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT = re.compile(r"(?<=\d)[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_SIGNS = (
    (re.compile(r"[‐‑‒–—−]"), "-"),
    (re.compile(r"[’‘`´]"), "'"),
    (
        re.compile(r"\\(?:text|emph|math|operatorname)\w*\s*\{|\\(?:circled|underline)\{|\btext\{"),
        "",
    ),
    (re.compile(r"\\times\b|×"), " x "),
    (re.compile(r"(?<=\d)[~∼](?=\d)"), "-"),
    (re.compile(r"\\(?:sim|approx|leq?|geq?|lesssim)\b|[~≈∼≤≥<>](?=[\s$\\]*\d)"), " "),
    (re.compile(r"\^\{?\(?(-?\d+)\)?\}?"), r"^\1"),
    (re.compile(r"(?<=[^\W\d])\^(?=\d)"), ""),
    (re.compile(r"[\\${}]"), ""),
)
"""Signs with several spellings and the markup of formulas, each with the spelling used here."""
_NUMBER = re.compile(
    r"(?P<number>(?<![\w.])[-+]?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:\^-?\d{1,4})?"
    r"(?:e-?\d{1,3}\b)?)(?:\s?-?(?P<unit>%|percentage points?\b|percent\b|points?\b|fold\b|times\b"
    r"|x\b|(?:thousand|million|billion|trillion)s?\b|orders? of magnitude\b"
    r"|(?:nano|micro|milli)?seconds?\b|secs?\b|minutes?\b|mins?\b|hours?\b|days?\b|weeks?\b"
    r"|months?\b|years?\b|[munµμ]s\b|s\b|[kKMGT]?Hz\b|[kKMGT]i?B\b|[kKMBTG]\b|[kmcn]m\b|dB\b|bits?\b"
    r"|bytes?\b|[kmunµμ]?g\b|[munµμ]?[LM]\b|mmHg\b|k?Pa\b|k?J\b|k?W\b|m?V\b|°\s?C\b|[GTP]?FLOPs?\b|steps?\b|epochs?\b|GPUs?\b|TPUs?\b))?"
    r"|(?<![\w-])(?P<word>[A-Za-z]+)(?![\w'])"
)
_SCALES = {"thousand": 3, "k": 3, "K": 3, "million": 6, "M": 6, "billion": 9, "B": 9, "G": 9}
_SCALES |= {"trillion": 12, "T": 12}
_SHORT_UNIT = 2
"""Letters of a unit such as `ms`, whose `s` is no plural."""
_UNITS = {
    "percent": "%", "percentage point": "point", "times": "x", "fold": "x", "sec": "second",
    "s": "second", "ms": "millisecond", "us": "microsecond", "µs": "microsecond",
    "μs": "microsecond", "ns": "nanosecond", "min": "minute", "orders of magnitude": "order",
    "order of magnitude": "order",
}  # fmt: skip
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
_TENS = "thirty forty fifty sixty seventy eighty ninety hundred".split()
_MULTIPLES = {
    "0.25": "quarter",
    "0.5": "half halves halved",
    "2": "twice double doubles doubled doubling twofold",
    "3": "triple triples tripled threefold",
    "4": "quadruple fourfold",
    "5": "fivefold",
    "10": "tenfold",
}
_SPELLED = {
    **{word: (Decimal(number), "") for number, word in enumerate(_NUMBER_WORDS)},
    **{word: (Decimal(10 * ten), "") for ten, word in enumerate(_TENS, start=3)},
    "dozen": (Decimal(12), ""),
    **{
        word: (Decimal(value), "x") for value, words in _MULTIPLES.items() for word in words.split()
    },
}
"""Value and unit of the words that are numbers."""


GUARDS = ("length", "letters", "number", "name")
"""In the order in which they are applied."""


def breaks(claim: str, cited: Sequence[str], title: str = "") -> str:
    """The first guard that a claim breaks: `length`, `letters`, `number` or `name`; empty if none.

    Args:
        claim: one sentence.
        cited: the sentences that it cites.
        title: of their paper; it supports names, but no numbers.
    """
    words = _WORD.findall(plain(claim))
    known = [plain(text) for text in (title, *cited)]
    if not words or len(words) > LONGEST_CLAIM:
        return "length"
    text = " ".join(known).casefold()
    if any(_is_odd(word) and word.casefold() not in text for word in words):
        return "letters"
    if not _has_numbers(claim, cited):
        return "number"
    return "" if _has_names(words, known) else "name"


def is_plain(text: str) -> bool:
    """Whether a text imitates no part of a prompt, and is in letters that can be checked."""
    return not _FORGED.search(text) and len(_OTHER_LETTER.findall(text)) <= _MANY_LETTERS


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text."""

    value: Decimal
    """With its scale: 2.5 million is 2500000."""
    unit: str
    """In the singular; empty if it has none."""
    is_digits: bool
    """Whether it is written in digits."""


def quantities(text: str) -> list[Quantity]:
    """The numbers of `text`, in order.

    >>> [(str(each.value), each.unit) for each in quantities("Twice as fast, in 3.5 ms.")]
    [('2', 'x'), ('3.5', 'millisecond')]
    """
    found = (_quantity(match) for match in _NUMBER.finditer(plain(text)))
    return [each for each in found if each]


def plain(text: str) -> str:
    """`text` with one spelling of each sign, without markup and invisible characters."""
    text = _SUPERSCRIPT.sub(lambda found: "^" + found[0].translate(_SUPERSCRIPTS), text)
    text = unicodedata.normalize("NFKC", text)
    text = "".join(sign for sign in text if unicodedata.category(sign) not in ("Cf", "Cc", "Co"))
    for pattern, spelling in _SIGNS:
        text = pattern.sub(spelling, text)
    return text


def _is_odd(word: str) -> bool:
    """Whether a word is too long to be one, or in letters neither Latin nor Greek."""
    scripts = [unicodedata.name(sign, "") for sign in word if not sign.isascii()]
    familiar = all(name.startswith(("LATIN", "GREEK", "MICRO")) for name in scripts)
    return len(word) > _LONGEST_WORD or not familiar


def _has_numbers(claim: str, cited: Sequence[str]) -> bool:
    """Whether every number in digits is cited, in the same unit if both have one.

    Numbers in words are left to the support model: `one`, `both` and `double` are ambiguous.
    """
    known = [each for text in cited for each in quantities(text)]
    return all(
        any(_is_same(said, other) for other in known)
        for said in quantities(claim)
        if said.is_digits
    )


def _is_same(said: Quantity, known: Quantity) -> bool:
    return said.value == known.value and (said.unit == known.unit or not (said.unit and known.unit))


def _has_names(words: Sequence[str], known: Sequence[str]) -> bool:
    """Whether every word spelled like a name occurs in `known`, in full or as initials.

    The first word of a sentence is no name unless it has digits or capitals inside.
    """
    joins = {join for text in known for join in _joins(text)}
    return all(
        _is_joined(word, joins) or any(_is_acronym(word, text) for text in known)
        for place, word in enumerate(words)
        if _is_name(word, is_first=place == 0)
    )


def _joins(text: str) -> Iterator[str]:
    """The letters of every word, and of neighbouring words written as one."""
    parts = _PART.findall(text.casefold())
    for start in range(len(parts)):
        for end in range(start + 1, min(start + _LONGEST_NAME, len(parts)) + 1):
            yield "".join(parts[start:end])


def _is_joined(word: str, joins: Set[str]) -> bool:
    """Whether a name is known; of `GPT-based` only `GPT` must be."""
    whole = re.sub(r"[\W_]", "", word.casefold())
    if whole in joins or whole.removesuffix("s") in joins:
        return True
    parts = _PART.findall(word)
    named = [part for part in parts if not (part.isalpha() and part.islower())]
    return len(named) < len(parts) and all(_is_joined(part, joins) for part in named)


def _is_name(word: str, *, is_first: bool) -> bool:
    if any(map(str.isupper, word[1:])):
        return True
    if any(map(str.isdigit, word)):
        return any(map(str.isalpha, word))
    return word[0].isupper() and not is_first and len(word) > 1


def _is_acronym(word: str, text: str) -> bool:
    return len(word.removesuffix("s")) >= _SHORTEST_ACRONYM and stands_for(word, text)


def _quantity(match: re.Match[str]) -> Quantity | None:
    if match["number"]:
        return _in_digits(match["number"], match["unit"] or "")
    value, unit = _SPELLED.get(match["word"].casefold(), (None, ""))
    return Quantity(value.normalize(), unit, is_digits=False) if value is not None else None


def _in_digits(digits: str, unit: str) -> Quantity:
    number, _, power = digits.replace(",", "").partition("^")
    scale = _SCALES.get(unit if len(unit) == 1 else unit.removesuffix("s"))
    try:
        value = (Decimal(number) ** int(power or 1)).scaleb(scale or 0).normalize()
    except ArithmeticError:  # too large or too small to be meant
        return Quantity(Decimal(0), digits, is_digits=True)
    if scale:
        return Quantity(value, "", is_digits=True)
    if unit not in _UNITS and len(unit) > _SHORT_UNIT:
        unit = unit.removesuffix("s")
    return Quantity(value, _UNITS.get(unit, unit), is_digits=True)
