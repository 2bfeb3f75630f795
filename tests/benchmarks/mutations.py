"""True sentences about papers, and what is made of them by changing one thing.

Every mutation changes the meaning and nothing else, by rule and from a fixed seed. The pairs of
opposites are the benchmark's own, not those of `assistant.checking`: some of them it does not know.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])")
_NAME = re.compile(
    r"(?<![\w\\-])(?=\w*[A-Z])(?:[A-Z]\w*[A-Z]\w*|[a-z]+[A-Z]\w*|[A-Z]{2,})(?:-[\w]+)*(?![\w{-])"
)
_UNITS = (
    ("%", "x"),
    ("percent", "times"),
    ("times", "percent"),
    ("million", "billion"),
    ("billion", "million"),
    ("hours", "minutes"),
    ("seconds", "minutes"),
    ("minutes", "hours"),
    ("days", "weeks"),
    ("ms", "s"),
    ("ns", "ms"),
    ("GB", "MB"),
    ("MB", "GB"),
    ("points", "%"),
    ("x", "%"),
    ("M", "B"),
    ("B", "M"),
    ("K", "M"),
    ("k", "M"),
    ("\\%", "x"),
    ("fold", "%"),
    ("orders of magnitude", "percent"),
    ("steps", "epochs"),
    ("GPUs", "TPUs"),
)
_DIRECTIONS = """
increase/decrease increases/decreases increased/decreased increasing/decreasing
reduces/increases reduce/increase reducing/increasing reduction/increase reduced/increased
improves/degrades improve/degrade improved/degraded improving/degrading improvement/degradation
improvements/degradations outperforms/underperforms outperform/underperform
outperforming/underperforming better/worse best/worst worse/better higher/lower lower/higher
more/less less/more fewer/more larger/smaller smaller/larger greater/smaller faster/slower
slower/faster superior/inferior gains/losses accelerates/slows accelerate/slow boosts/hurts
boost/hurt enhances/impairs enhance/impair enhancing/impairing surpasses/trails exceeds/trails
beats/trails stronger/weaker longer/shorter deeper/shallower
"""
_OPPOSITES = """
maximum/minimum minimum/maximum maximize/minimize minimize/maximize maximizing/minimizing
minimizing/maximizing upper/lower with/without without/with before/after after/before
supervised/unsupervised unsupervised/supervised convex/non-convex non-convex/convex
nonconvex/convex linear/nonlinear non-linear/linear positive/negative negative/positive
first/last necessary/sufficient sufficient/necessary always/never never/always high/low low/high
large/small small/large strong/weak weak/strong global/local local/global online/offline
offline/online discrete/continuous continuous/discrete stable/unstable efficient/inefficient
easy/hard hard/easy simple/complex complex/simple possible/impossible sparse/dense dense/sparse
homogeneous/heterogeneous labeled/unlabeled unlabeled/labeled dependent/independent
independent/dependent deterministic/stochastic stochastic/deterministic similar/different
different/similar robust/fragile short/long long/short same/different early/late late/early
internal/external explicit/implicit implicit/explicit static/dynamic dynamic/static
correct/incorrect incorrect/correct overestimate/underestimate symmetric/asymmetric
real/synthetic synthetic/real cheap/expensive expensive/cheap shallow/deep deep/shallow
accurate/inaccurate known/unknown unknown/known seen/unseen unseen/seen frequent/rare
benign/malicious encoder/decoder
"""
_QUANTIFIERS = """
all/some every/some each/no most/all many/few some/all several/all few/many often/always
sometimes/always usually/always typically/always generally/always only/also both/neither
any/some various/all most/few multiple/all
"""
_HEDGES = (
    r"in (?:some|most|many) cases",
    "up to",
    "at least",
    "at most",
    r"about(?= ~?\\?\$?\d)",
    "may",
    "approximately",
    "roughly",
    "nearly",
    "almost",
    "might",
    "could",
    "often",
    "sometimes",
    "usually",
    "typically",
    "generally",
    "potentially",
    "possibly",
    "partially",
    "mostly",
    "likely",
    "some",
    "(?<!the )most",
    "arguably",
    "mainly",
    "tends? to",
    "seems? to",
    r"suggest(?:s|ed)? that",
    r"over(?= \d)",
    r"more than(?= \d)",
    r"less than(?= \d)",
)
_NEGATED = {
    "not": "",
    "cannot": "can",
    "no": "a",
    "fails to": "can",
    "fail to": "can",
    "failed to": "did",
    "never": "always",
    "without": "with",
    "neither": "either",
    "unable to": "able to",
    "doesn't": "does",
    "don't": "do",
    "hardly": "clearly",
    "rarely": "often",
    "lacks": "has",
    "lack": "have",
    "nor": "and",
}
_AUXILIARY = re.compile(r"\b(is|are|was|were|can|will|does|do|has|have|may|should|could)\b")
_VERB = re.compile(
    r"\b(achieves?|improves?|outperforms?|reduces?|shows?|learns?|enables?|provides?|reach(?:es)?"
    r"|requires?|uses?|allows?|converges?|predicts?|generalizes?|supports?|propose|demonstrate"
    r"|introduce|present|prove|develop|find|obtains?|leads?|yields?|combines?|generates?)\b"
)
_COMPARISON = re.compile(
    r"\b(outperform(?:s|ed|ing)?|surpass(?:es|ed|ing)?|beats?|exceeds?|improves? (?:on|over|upon)"
    r"|(?:better|worse|faster|slower|higher|lower|larger|smaller|more [a-z]+|less [a-z]+) than"
    r"|compared (?:to|with)|instead of|rather than|superior to)\b"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and what it cites."""

    sentence: str
    evidence: tuple[str, ...]
    kind: str


Mutation = Callable[[str, random.Random, Sequence[str]], str | None]


def mutations(sentence: str, seed: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each kind of mutation that `sentence` allows, with its kind."""
    for kind, mutate in KINDS.items():
        changed = mutate(sentence, random.Random(f"{seed}/{kind}"), names)  # noqa: S311
        if changed and _plain(changed) != _plain(sentence):
            yield kind, changed


def names_in(text: str) -> list[str]:
    """What is spelled like a name of a method, a data set or the like."""
    return _NAME.findall(text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _one(pattern: re.Pattern[str], text: str, chance: random.Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return chance.choice(found) if found else None


def _put(text: str, found: re.Match[str], new: str) -> str:
    return f"{text[: found.start()]}{new}{text[found.end() :]}"


def _digit(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    found = _one(_NUMBER, text, chance)
    if not found:
        return None
    at = chance.choice([index for index, sign in enumerate(found[0]) if sign.isdigit()])
    other = chance.choice([digit for digit in "123456789" if digit != found[0][at]])
    return _put(text, found, found[0][:at] + other + found[0][at + 1 :])


def _digits_swapped(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    pairs = list(re.finditer(r"(?<![\w-])\d*(\d)(?!\1)(\d)", text))
    if not pairs:
        return None
    found = chance.choice(pairs)
    first, second = found.span(1)[0], found.span(2)[0]
    return text[:first] + text[second] + text[first] + text[second + 1 :]


def _number(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    found = _one(_NUMBER, text, chance)
    return _put(text, found, str(chance.randrange(13, 980))) if found else None


def _numbers_swapped(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    return _swapped(text, list(_NUMBER.finditer(text)), chance)


def _number_word(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    words = "two three four five six seven eight nine ten twelve".split()
    found = _one(re.compile(rf"\b(?:{'|'.join(words)})\b"), text, chance)
    return _put(text, found, chance.choice([w for w in words if w != found[0]])) if found else None


def _unit(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    ways = []
    for old, new in _UNITS:
        found = re.search(rf"(?<=\d)(\s?-?){re.escape(old)}(?!\w)", text)
        if found:
            ways.append(_put(text, found, found[1] + new))
    return chance.choice(ways) if ways else None


def _by_table(table: str) -> Mutation:
    pairs = [pair.split("/") for pair in table.split()]

    def mutate(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
        ways = []
        for old, new in pairs:
            for found in re.finditer(rf"(?<![\w-]){re.escape(old)}(?![\w-])", text, re.IGNORECASE):
                cased = new.capitalize() if found[0][0].isupper() else new
                ways.append(_put(text, found, cased))
        return chance.choice(ways) if ways else None

    return mutate


def _negation_added(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    ways = [_put(text, found, f"{found[0]} not") for found in _AUXILIARY.finditer(text)]
    for found in _VERB.finditer(text):
        base = re.sub(r"(?<=ch)es$|s$", "", found[0])
        singular = found[0] != base
        ways.append(_put(text, found, f"{'does' if singular else 'do'} not {base}"))
        ways.append(_put(text, found, f"{'fails' if singular else 'fail'} to {base}"))
    return chance.choice(ways) if ways else None


def _negation_removed(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    ways = []
    for old, new in _NEGATED.items():
        ways += [
            _put(text, found, f"{new} " if new else "")
            for found in re.finditer(rf"(?<![\w-]){old}(?![\w-])\s?(?!\s?only\b)", text)
        ]
    return chance.choice(ways) if ways else None


def _hedge_dropped(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    ways = []
    for hedge in _HEDGES:
        ways += [
            _put(text, found, "") for found in re.finditer(rf"(?<![\w-]){hedge}(?![\w-])\s", text)
        ]
    return chance.choice(ways) if ways else None


def _name(text: str, chance: random.Random, names: Sequence[str]) -> str | None:
    found = _one(_NAME, text, chance)
    if not found:
        return None
    others = [name for name in names if name.casefold() not in text.casefold()]
    return _put(text, found, chance.choice(others))


_TERM = re.compile(
    r"(?<=[a-z] )[a-z]{4,}(?:tion|ment|ness|ity|ance|ence|ing|ism|er|or|ic|al|ive|graph|age|ure"
    r"|work|set|ist|ogy|ics|ph|x|k|t|n|y|m)s?(?=[ .,])"
)
_NO_TERM = re.compile(
    r"wh\w+|th\w+|authors?|without|within|between|over|under|often|even|when|then|from|such|most|many|only"
    r"|very|with|into|upon|\w+ly|\w+ing|more|other|more|further|after|before|both|each|such|least"
)


_TERMS = (
    "segmentation protein speech traffic climate molecule auction genome tracking retrieval "
    "quantization dialogue surgery lighting market orbit satellite grammar texture pruning privacy "
    "robot hashing fairness caching translation diagnosis weather lattice turbulence recommendation"
).split()


def _term(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    found = [f for f in _TERM.finditer(text) if not _NO_TERM.fullmatch(f[0])]
    if not found:
        return None
    others = [term for term in _TERMS if term[:5] not in text]
    return _put(text, chance.choice(found), chance.choice(others))


def _swapped(text: str, found: list[re.Match[str]], chance: random.Random) -> str | None:
    ways = [
        (first, second)
        for at, first in enumerate(found)
        for second in found[at + 1 :]
        if first[0] != second[0] and _are_no_mere_list(text[first.end() : second.start()])
    ]
    if not ways:
        return None
    first, second = chance.choice(ways)
    between = text[first.end() : second.start()]
    return text[: first.start()] + second[0] + between + first[0] + text[second.end() :]


def _are_no_mere_list(between: str) -> bool:
    """In "A, B and C" the order says nothing, nor do a long form and its acronym."""
    return len(re.findall(r"[a-z]+", re.sub(r"\b(?:and|or)\b", "", between))) > 0


def _names_swapped(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    for comparison in _COMPARISON.finditer(text):
        before = [found for found in _NAME.finditer(text) if found.end() <= comparison.start()]
        after = [found for found in _NAME.finditer(text) if found.start() >= comparison.end()]
        if before and after and before[-1][0] != after[0][0]:
            return _swapped(text, [before[-1], after[0]], chance)
    return None


def _sides_swapped(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    """The words next to a comparison change places."""
    word = r"([a-z][\w-]{3,}(?: [a-z][\w-]{3,})?)"
    found = _one(re.compile(rf"{word} ({_COMPARISON.pattern}) {word}(?=[,.;]| \w)"), text, chance)
    if not found or found[1].split()[-1] == found.groups()[-1].split()[-1]:
        return None
    return _put(text, found, f"{found.groups()[-1]} {found[2]} {found[1]}")


_INVENTED = (
    "and it runs on a phone without a server",
    "which was first noticed by hospital doctors",
    "and is used by several large companies today",
    "which makes weather maps easier to draw",
    "because users prefer short replies",
    "and it also explains how children learn words",
)


def _invented(text: str, chance: random.Random, _: Sequence[str]) -> str | None:
    """A clause that nobody wrote is added."""
    return f"{text.rstrip('.')}, {chance.choice(_INVENTED)}."


KINDS: dict[str, Mutation] = {
    "digit": _digit,
    "digits swapped": _digits_swapped,
    "number": _number,
    "number word": _number_word,
    "numbers swapped": _numbers_swapped,
    "unit": _unit,
    "direction": _by_table(_DIRECTIONS),
    "opposite": _by_table(_OPPOSITES),
    "negation added": _negation_added,
    "negation removed": _negation_removed,
    "hedge dropped": _hedge_dropped,
    "quantifier": _by_table(_QUANTIFIERS),
    "name": _name,
    "term": _term,
    "clause invented": _invented,
    "names swapped": _names_swapped,
    "sides swapped": _sides_swapped,
}


_PREFIX = re.compile(
    r"^(?:(?:In this (?:paper|work)|Here|To this end|Furthermore|Moreover|However|Finally"
    r"|In addition|Additionally|Specifically|In particular|Notably|Empirically), )?"
    r"(?:[Ww]e (?:show|demonstrate|find|prove|observe|argue) that |(?=[a-z]))"
)
_CLAUSE = re.compile(
    r",? (?:which|where|because|while|whereas|although|since|leading to) .*(?=\.$)"
)
_PARENTHESIS = re.compile(r" \([^()]*\)")


def compressed(sentence: str) -> str | None:
    """A sentence shortened by rule, as a writer would who invents nothing."""
    short = _PARENTHESIS.sub("", _CLAUSE.sub("", sentence))
    prefix = _PREFIX.match(short)
    if prefix and prefix[0]:
        short = short[prefix.end() :]
        short = short[:1].upper() + short[1:]
    for old, new in (
        ("We ", "The authors "),
        ("Our ", "Their "),
        ("we ", "the authors "),
        ("our ", "their "),
        ("In this paper, ", ""),
    ):
        short = (
            short.replace(old, new)
            if short.startswith(old)
            else short.replace(f" {old}", f" {new}")
        )
    enough = len(short.split()) >= 6
    return short if enough and _plain(short) != _plain(sentence) else None
