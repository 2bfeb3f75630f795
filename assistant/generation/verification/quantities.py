"""Numbers in a text: their values and units, however they are spelled."""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

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
"""Signs that several spellings have, and the mark-up of formulas."""
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
_UNITS = {
    "percent": "%", "percentage point": "point", "times": "x", "fold": "x", "sec": "second",
    "s": "second", "ms": "millisecond", "us": "microsecond", "µs": "microsecond",
    "μs": "microsecond", "ns": "nanosecond", "min": "minute", "orders of magnitude": "order",
    "order of magnitude": "order",
}  # fmt: skip
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80}
_NUMBER_WORDS |= {"ninety": 90, "hundred": 100, "dozen": 12}
_MULTIPLES = {"half": "0.5", "halves": "0.5", "halved": "0.5", "twice": "2", "double": "2"}
_MULTIPLES |= {"doubles": "2", "doubled": "2", "doubling": "2", "triple": "3", "triples": "3"}
_MULTIPLES |= {"tripled": "3", "quadruple": "4", "quarter": "0.25", "twofold": "2"}
_MULTIPLES |= {"threefold": "3", "fourfold": "4", "fivefold": "5", "tenfold": "10"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text."""

    value: Decimal
    """Its scale included: 2.5 million is 2500000."""
    unit: str
    """In the singular; empty if none is given."""
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
    """`text` with one spelling of each sign, and without mark-up or characters nobody can see."""
    text = _SUPERSCRIPT.sub(lambda found: "^" + found[0].translate(_SUPERSCRIPTS), text)
    text = unicodedata.normalize("NFKC", text)
    text = "".join(sign for sign in text if unicodedata.category(sign) not in ("Cf", "Cc", "Co"))
    for pattern, spelling in _SIGNS:
        text = pattern.sub(spelling, text)
    return text


def _quantity(match: re.Match[str]) -> Quantity | None:
    if match["number"]:
        return _in_digits(match["number"], match["unit"] or "")
    word = match["word"].casefold()
    if word in _MULTIPLES:
        return Quantity(Decimal(_MULTIPLES[word]).normalize(), "x", is_digits=False)
    if word in _NUMBER_WORDS:
        return Quantity(Decimal(_NUMBER_WORDS[word]).normalize(), "", is_digits=False)
    return None


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
