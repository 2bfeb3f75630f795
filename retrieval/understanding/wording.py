"""The words of a query, and which of them only ask: no library needed."""

import re
from dataclasses import dataclass
from enum import StrEnum

from retrieval.names import folded

MOST_WORDS = 200
"""Words of a query that are looked at."""

PAPERS = frozenset(
    "paper papers work works article articles publication publications preprint preprints "
    "manuscript manuscripts study studies talks presentations award awards".split()
)
"""What papers are called."""
WRITE = frozenset(
    "write writes wrote written writing author authors authored coauthor coauthors coauthored "
    "co-author co-authors co-authored co-wrote co-written cowrote cowritten publish published "
    "publishes collaborate collaborated collaboration collaborations".split()
)
"""What authors do."""
TOGETHER = frozenset("together jointly joint coauthored co-authored collaborated".split())
ABOUT = frozenset("about on regarding concerning around into over".split())
"""What stands before a topic."""
BY = frozenset({"by"})
ANYTHING = frozenset("anything everything something stuff ones those all".split())
SORTS = frozenset(
    "oral orals spotlight spotlights poster posters outstanding award awards honorable honourable "
    "notable".split()
)
"""Decisions as they are called at most conferences."""
AND = frozenset({"and", "with", "&", "und"})
ASKING = (
    PAPERS
    | WRITE
    | TOGETHER
    | ABOUT
    | AND
    | frozenset(
        "a accepted all an any anyone anything appear appeared are as at be been by called can "
        "conference could deal dealing deals did do does "
        "each et al every everything find for from get gets give got had has have having i in is "
        "it its list listed lists look looking looks me my names "
        "of one ones or our out people please present presented proceedings "
        "researcher researchers s see she show shown some something than that the their "
        "them there these they this those title titled titles to up us venue venues was "
        "we were what whats when where which who whom whose will win winner winners winning with "
        "won would year years you your he her his him received receive".split()
    )
)
"""Words that say what is wanted, not which paper."""
CONTENT_ASKING = frozenset(
    "how why does do did is are was were can could should would explain describe compare summarize "
    "summarise what who when where tell if whether".split()
)
"""Words that ask for what a paper says rather than for papers."""
HERE = frozenset("library collection database corpus index".split())
"""What the library may be called, behind `the` or `your`."""
CLAIMS = frozenset(
    "use uses used achieve achieves achieved improve improves outperform outperforms beat beats "
    "propose proposes proposed report reports reported say says said prove proves proved claim "
    "claims claimed introduce introduces solve solves handle handles avoid avoids reach reaches "
    "investigate investigates examine examines explore explores differ differs suggest suggests "
    "evaluate evaluates test tested compare compares accurate accuracy better worse best many "
    "much summary".split()
)
"""Words that ask for what abstracts say, even in a question that names papers."""

_WORD = re.compile(r"[^\W_](?:[\w.'’&+^$%/-]*[\w%+])?|&")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$", re.IGNORECASE)


class Kind(StrEnum):
    """What a word of the query was understood as."""

    NAME = "name"
    VENUE = "venue"
    YEAR = "year"
    DECISION = "decision"
    ASKING = "asking"
    """Of words that ask only together, such as `how many`."""


@dataclass(slots=True)
class Word:
    """A word of a query, and what it was understood as."""

    text: str
    """As typed, without a possessive's ending."""
    folded: str
    possessive: bool
    comma: bool
    """Whether a comma follows."""
    dot: bool
    """Whether a full stop follows."""
    quoted: bool
    """Whether an apostrophe stands before it, as in ICLR '22."""
    kind: Kind | None = None

    @property
    def capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[:1].isupper()

    @property
    def asks(self) -> bool:
        """Whether it only says what is wanted."""
        return self.kind is None and self.folded in ASKING


def words_of(query: str) -> list[Word]:
    """The words of `query` in order, the first `MOST_WORDS` of them."""
    words: list[Word] = []
    for found in _WORD.finditer(query):
        if len(words) == MOST_WORDS:
            break
        typed = found.group()
        plain = _POSSESSIVE.sub("", typed)
        behind = query[found.end() : found.end() + 1]
        possessive = plain != typed or (behind in ("'", "’") and typed.endswith("s"))
        words.append(
            Word(
                text=plain,
                folded=folded(plain),
                possessive=possessive,
                comma=query[found.end() : found.end() + 2].removeprefix(".").startswith(","),
                dot=behind == ".",
                quoted=query[max(found.start() - 1, 0) : found.start()] in ("'", "’"),
            )
        )
    return words
