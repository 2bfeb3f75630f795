"""A sentence as the words, names and numbers that are compared with those of its evidence."""

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
    (re.compile(r"\\(?:sim|approx)\b|[~≈∼](?=\s*\$?\d)"), " about "),
    (re.compile(r"\\(?:leq?|lesssim)\b|≤"), " at most "),
    (re.compile(r"\\(?:geq?|gtrsim)\b|≥"), " at least "),
    (re.compile(r"[<](?=[\s$\\]*\d)"), " below "),
    (re.compile(r"[>](?=[\s$\\]*\d)"), " above "),
    (re.compile(r"\^\{?\(?(-?\d+)\)?\}?"), r"^\1"),
    (re.compile(r"(?<=[^\W\d])\^(?=\d)"), ""),
    (re.compile(r"[\\${}]"), ""),
    (
        re.compile(
            r"\b(non|un|in|pre|post|over|under|re|multi|sub|super|semi|anti|co|inter|intra|hyper"
            r"|out|dis|mis|step|mini)-(?=[a-z]{3})",
            re.IGNORECASE,
        ),
        r"\1",
    ),
)
"""Signs that several spellings have, and the mark-up of formulas."""

_TOKEN = re.compile(
    r"(?P<number>(?<![\w.])[-+]?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:\^-?\d{1,4})?"
    r"(?:e-?\d{1,3}\b)?)(?:\s?-?(?P<unit>%|percentage points?\b|percent\b|points?\b|fold\b|times\b"
    r"|x\b|(?:thousand|million|billion|trillion)s?\b|orders? of magnitude\b"
    r"|(?:nano|micro|milli)?seconds?\b|secs?\b|minutes?\b|mins?\b|hours?\b|days?\b|weeks?\b"
    r"|months?\b|years?\b|[munµμ]s\b|s\b|[kKMGT]?Hz\b|[kKMGT]i?B\b|[kKMBTG]\b|[kmcn]m\b|dB\b|bits?\b|bytes?\b"
    r"|[GTP]?FLOPs?\b|steps?\b|epochs?\b|GPUs?\b|TPUs?\b))?"
    r"|(?P<word>[^\W\d_]+(?:-?\d+[^\W_]*)+|\d+[^\W\d_]\w*|[^\W\d_]+(?:'t\b)?)"
    r"|(?P<stop>[.;:!?](?=\s|$)|[,()])"
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
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70"}
_NUMBER_WORDS |= {"eighty": "80", "ninety": "90", "hundred": "100", "dozen": "12"}
_MULTIPLES = {"half": "0.5", "halves": "0.5", "halved": "0.5", "twice": "2", "double": "2"}
_MULTIPLES |= {"doubles": "2", "doubled": "2", "doubling": "2", "triple": "3", "triples": "3"}
_MULTIPLES |= {"tripled": "3", "quadruple": "4", "quarter": "0.25", "twofold": "2"}
_MULTIPLES |= {"threefold": "3", "fourfold": "4", "fivefold": "5", "tenfold": "10"}

_SYNONYMS = """
achieve reach attain obtain / use utilize utilise employ leverage exploit adopt / propose introduce
present / show demonstrate find indicate reveal report observe / produce generate yield give create
synthesize / keep preserve maintain retain / outperform surpass beat exceed break / common
ubiquitous / need require / method approach technique / allow enable permit let / combine merge
fuse integrate / split divide decouple separate / choose select pick / evaluate assess test / image
photo picture / depend rely / contain include comprise / begin start / address tackle handle solve
/ help aid assist / originate arise stem come / reduce decrease shrink diminish fall drop / increase
rise grow raise / improve enhance boost / match par comparable equal / whole entire / roughly about
approximately around / dataset corpus / author researcher
"""
"""Words of which one may stand for the other."""

_INFLECTION = re.compile(r"(?:(?<=[^s])s|es)$|'s$")
_ENDING = re.compile(r"(?:ing|ed|ly|e)$")
_STEM_LETTERS = 6
_SHORT_WORD = 3


@dataclass(frozen=True, slots=True)
class Word:
    """A word, name or number of a sentence."""

    text: str
    """As it is spelled, with look-alikes and invisible characters resolved."""
    key: str
    """In lower case."""
    stem: str
    """What it stands for, inflected or not, itself or a synonym; a number's value."""
    value: Decimal | None = None
    """Of a number, its scale included: 2.5 million is 2500000."""
    unit: str = ""
    """Of a number, in the singular; empty if none is given."""
    begins: bool = False
    """Whether it is the first of its sentence."""
    clause: int = 0
    """Which clause of its sentence it stands in."""


def words_of(text: str) -> list[Word]:
    """The words, names and numbers of `text`, in order."""
    plain = resolved(text)
    words: list[Word] = []
    clause = 0
    begins = True
    for found in _TOKEN.finditer(plain):
        if found["stop"]:
            clause += 1
            begins = begins or found["stop"] in ".!?"
            continue
        words.append(_word(found, begins=begins, clause=clause))
        begins = False
    return words


def resolved(text: str) -> str:
    """`text` with one spelling of each sign, and without mark-up or characters nobody can see."""
    text = _SUPERSCRIPT.sub(lambda found: "^" + found[0].translate(_SUPERSCRIPTS), text)
    text = unicodedata.normalize("NFKC", text)
    text = "".join(sign for sign in text if unicodedata.category(sign) not in ("Cf", "Cc", "Co"))
    for pattern, plain in _SIGNS:
        text = pattern.sub(plain, text)
    return text


def stem_of(word: str) -> str:
    """`word` (in lower case) without its inflection: a light stemmer, for matching only."""
    if len(word) <= _SHORT_WORD:
        return word
    if word.endswith(("ies", "ied")):
        word = f"{word[:-3]}y"
    bare = _ENDING.sub("", _INFLECTION.sub("", word))
    if bare[-1:] == bare[-2:-1] and bare[-1:] not in "aeious":
        bare = bare[:-1]
    return (bare if len(bare) > 1 else word)[:_STEM_LETTERS]


_SENSES = {
    stem_of(word): f"={group.split()[0]}"
    for group in _SYNONYMS.split("/")
    for word in group.split()
}


def sense_of(word: str) -> str:
    """What a word (in lower case) stands for: its synonyms have the same."""
    stem = stem_of(word)
    return _SENSES.get(stem, stem)


def _word(found: re.Match[str], *, begins: bool, clause: int) -> Word:
    if found["number"]:
        value, unit = _measured(found["number"], found["unit"] or "")
    else:
        spelled = found["word"].casefold()
        value, unit = _spelled_out(spelled)
    key = found[0].casefold()
    if found["word"] and not key.isalpha():
        key = key.replace("-", "")
    stem = f"#{value}" if value is not None else sense_of(key)
    return Word(found[0], key, stem, value, unit, begins, clause)


def _measured(digits: str, unit: str) -> tuple[Decimal | None, str]:
    """The value with its scale, and the unit in the singular."""
    number, _, power = digits.replace(",", "").partition("^")
    scale = _SCALES.get(unit if len(unit) == 1 else unit.removesuffix("s"))
    try:
        value = (Decimal(number) ** int(power or 1)).scaleb(scale or 0).normalize()
    except ArithmeticError:  # too large or too small to be meant
        return Decimal(0), digits
    if scale:
        return value, ""
    if unit not in _UNITS and len(unit) > _SHORT_UNIT:
        unit = unit.removesuffix("s")
    return value.normalize(), _UNITS.get(unit, unit)


def _spelled_out(word: str) -> tuple[Decimal | None, str]:
    if word in _MULTIPLES:
        return Decimal(_MULTIPLES[word]).normalize(), "x"
    if word in _NUMBER_WORDS:
        return Decimal(_NUMBER_WORDS[word]).normalize(), ""
    return None, ""
