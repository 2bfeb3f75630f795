"""Words that turn a statement round: negations, opposites, hedges and quantifiers.

A table a kind. Words are given as they are written; `*` stands for any ending.
"""

import re
from functools import lru_cache


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(word).replace(r"\*", r"\w*") for word in words.split()))


NEGATION = re.compile(
    r"not|cannot|never|nor|neither|no|none|nothing|without|lack\w*|fail|fails|failed|failing"
    r"|failures?|unable|hardly|rarely|seldom|barely|scarcely|\w+n't|free"
    r"|avoid\w*|prevent\w*|instead|inability|den(?:y|ies|ied)|un(?:like|likely)|impossible"
)

DIRECTIONS = {
    "+": _pattern(
        "increas* rais* rise rises rising grow grows growing growth grew gain* more higher larger "
        "bigger greater high* boost* enhanc* improv* better best outperform* superior surpass* "
        "exceed* beat beats beating beaten strengthen* stronger benefit* faster accelerat* speed* "
        "speedup* quicker longer amplif* expand* maximi* outweigh* win wins winning "
        "deeper wider broader stronger succe*"
    ),
    "-": _pattern(
        "decreas* reduc* lower lowers lowering lowered drop drops dropped dropping lose loses lost "
        "losing less fewer smaller fall falls falling fell declin* diminish* shrink* shrunk "
        "worse* worst underperform* degrad* inferior hurt* harm harms harmed harming harmful "
        "impair* deteriorat* slow slower slows slowing slowed slowdown* weaken* weaker "
        "shorter trail* lag lags lagging suffer* minimi* shallower narrower "
        "least damag* lighter cheaper alleviat* mitigat* halv* suppress* "
        "impede* hinder*"
    ),
}
"""What goes up or gets better, and what goes down or gets worse."""

_PAIRS = """
upper/lower before/after supervised/unsupervised positive*/negative* first/last first/second
necessary/sufficient always/never high/low highly/poorly highest/lowest large*/small* strong*/weak*
global*/local* online/offline discrete*/continuous* maxim*/minim* max/min easy/hard easy/difficult
easier/harder easily/hardly simple*/complex* sparse*/dense* deterministic/stochastic
similar/different similarly/differently same/different same/differs robust*/fragile* short/long
early/late earlier/later static/dynamic real/synthetic real-world/simulated cheap*/expensive*
deep*/shallow* frequent*/rare* benign/malicious encoder*/decoder* internal/external
intrinsic/extrinsic true/false forward/backward input*/output* left/right top/bottom old/new
train*/test* source/target teacher/student local/distributed sequential*/parallel* frozen/trainable
fixed/adaptive homogeneous/heterogeneous local/remote single/multiple individual/collective
clean/noisy white/black primal/dual lower-level/higher-level coarse/fine constant/varying
wide/narrow above/below accept*/reject* agree*/disagree* success*/fail* wins/loses right/wrong
good/bad best/worst better/worse full/partial* complete*/partial* open/closed safe/unsafe
smooth/rough many/few most/few all/some add/remove adds/removes added/removed adding/removing
start/end begins/ends rise/fall rises/falls often/rarely allow*/prevent* enable*/prevent*
increase*/decrease* public/private centralized/decentralized independent*/depend* known/unknown
past/future slow*/fast* slow*/quick* under/over include*/exclude* support*/contradict*
implicit*/explicit* symmetric/asymmetric present/absent theoretical*/empirical* biased/unbiased
ascend*/descend* gain*/loss* optimistic*/pessimistic* near/far inside/outside within/outside
odd/even mean/median only/also at-most/at-least less/more
"""
PAIRS = tuple(
    (_pattern(left), _pattern(right))
    for left, _, right in (p.partition("/") for p in _PAIRS.split())
)
"""Words of which one cannot stand for the other."""

_PREFIXES = ("nonun", "non", "un", "in", "im", "ir", "il", "dis", "mis", "anti", "de", "a", "mal")
_SHORTEST_NEGATED = 4
_SHORTEST_REST = 3
_OPPOSED_PREFIXES = (
    ("over", "under"), ("out", "under"), ("pre", "post"), ("intra", "inter"), ("homo", "hetero"),
    ("intr", "extr"), ("in", "ex"), ("im", "ex"), ("micro", "macro"), ("up", "down"),
    ("sub", "super"), ("en", "de"), ("multi", "single"), ("uni", "multi"), ("en", "dis"),
)  # fmt: skip

HEDGES = re.compile(
    r"may|might|could|sometimes|often|usually|typically|generally|frequently|commonly|potential\w*"
    r"|possibl[ey]|partial\w*|partly|mostly|mainly|largely|primarily|likely|tends?|seems?"
    r"|appears?|suggests?|suggested|suggesting|arguably|presumably|perhaps|nearly|almost"
    r"|approximately|roughly|about|around|cases|some|most|many|certain|several|mild|conjecture"
    r"|hypothesi[sz]e|somewhat|relatively|slightly|occasionally|limited|preliminary"
)
"""A statement without them says more."""

BOUNDS = {
    "at most": re.compile(r"up|most|below|under|within|maximum|less|fewer|atmost|at most"),
    "at least": re.compile(r"least|over|above|more|beyond|exceed\w*|minimum|greater|larger"),
    "about": re.compile(
        r"about|around|approximately|roughly|nearly|almost|circa|close|order|scale\w*|estimated"
    ),
}
"""What stands before a number that is no exact one."""

QUANTIFIERS = {
    "all": re.compile(r"all|every|each|any|always|entire\w*|whole|both|universal\w*|everywhere"),
    "most": re.compile(r"most|majority|mostly"),
    "many": re.compile(r"many|numerous|various|multiple|several|diverse"),
    "some": re.compile(r"some|several|certain|various|multiple|sometimes|occasionally"),
    "few": re.compile(r"few|rarely|hardly|seldom"),
    "often": re.compile(r"often|usually|typically|generally|frequently|commonly|normally"),
    "only": re.compile(r"only|solely|exclusively|merely|just|purely|alone"),
    "also": re.compile(r"also|too|additionally|besides"),
}
STRICT_QUANTIFIERS = re.compile(
    r"all|every|always|any|entire\w*|never|most|many|few|often|usually|typically|generally"
    r"|universal\w*|only|solely|exclusively|none|everywhere|completely|fully|guarantee\w*"
)
"""Those that a sentence may use only where its evidence does."""


@lru_cache(maxsize=20_000)
def direction(word: str) -> str:
    """`+` for what goes up, `-` for what goes down, else nothing."""
    return next((sign for sign, words in DIRECTIONS.items() if words.fullmatch(word)), "")


@lru_cache(maxsize=20_000)
def quantities(word: str) -> frozenset[str]:
    """The classes of quantifiers that a word belongs to."""
    return frozenset(kind for kind, words in QUANTIFIERS.items() if words.fullmatch(word))


def are_opposite(word: str, other: str) -> bool:
    """Whether the two words (in lower case) turn each other round."""
    if word == other:
        return False
    return (
        direction(word) + direction(other) in ("+-", "-+")
        or any((pair, 1 - side) in _sides(other) for pair, side in _sides(word))
        or other in _turned(word)
        or word in _turned(other)
    )


@lru_cache(maxsize=20_000)
def _sides(word: str) -> frozenset[tuple[int, int]]:
    """The pairs that a word belongs to, each with its side."""
    return frozenset(
        (number, side)
        for number, pair in enumerate(PAIRS)
        for side, words in enumerate(pair)
        if words.fullmatch(word)
    )


@lru_cache(maxsize=20_000)
def _turned(word: str) -> frozenset[str]:
    """What a word becomes with a prefix that turns it round, or with the opposite prefix."""
    negated = {f"{prefix}{word}" for prefix in _PREFIXES if len(word) >= _SHORTEST_NEGATED}
    for prefix, opposed in _OPPOSED_PREFIXES:
        for one, other in ((prefix, opposed), (opposed, prefix)):
            if word.startswith(one) and len(word) - len(one) >= _SHORTEST_REST:
                negated.add(f"{other}{word.removeprefix(one)}")
    return frozenset(negated)
