"""What the words of a follow-up refer to: nothing, the paper just cited, one of several, others.

Pure text: which papers those are is decided in `conversation`.
"""

import re
from dataclasses import dataclass

from assistant.antecedents import Antecedent, antecedent
from assistant.content_words import EMPTY, WORD, content_words

PAPER = r"(?:papers?|works?|articles?|stud(?:y|ies)|publications?|ones?)"
_METHOD = r"(?:methods?|approach(?:es)?|models?|techniques?|frameworks?|algorithms?)"
NAMED_AFTER = (
    r"\b[,:]? (?:[“\"]|(?:on|about|by|from|called|named|titled|entitled|for"
    r"|of(?! them| these| those)|in(?! the list| (?:more|short|brief|detail|simple|plain))|which"
    r"|that(?! (?:you|we)\b))\b)"
)
"""What follows a paper or method that is named there and then."""
_REFERS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|both|same"
    r"|the (?:former|latter|authors?|datasets?|results?|benchmarks?)(?! of\b)"
    rf"|the (?:{PAPER}|{_METHOD})(?!{NAMED_AFTER})|there(?=\W*$))\b",
    re.IGNORECASE,
)
_ALL = r"all (?:of )?(?:the )?"
_OF_THEIR_OWN = (
    r"\b,? (?:by|of(?! them| these| those)|from|on|about|that(?! (?:you|we)\b)|which|with|in"
    r"(?! the list)|at|for|using|where|whose|accepted|published|presented|written|related)\b"
)
"""What follows papers that are sought anew."""
_SEVERAL = re.compile(
    r"\b(?:both|(?:these|those|the two) (?:two |three )?(?:papers|works|ones)"
    rf"|{_ALL}(?:two |three )?(?:papers|works|ones)(?!{_OF_THEIR_OWN})"
    r"|(?:which|each|all|one) of (?:them|these|those)|compare (?:them|these|those))\b",
    re.IGNORECASE,
)
_LEAD_IN = r"^\W*(?:(?:and|but|so|ok|okay|now|also|then|thanks|please|well|hm+)\W+)*"
_ANOTHER = (
    rf"(?:(?:any|some)thing (?:else|similar|like|newer|related|more recent)\b"
    rf"|(?:an?|any|some) (?:\w+ )?{PAPER} (?:on|about|that|which|with|for|where|using)\b"
    r"|one more\b"
    rf"|what else (?:is there|do you (?:have|know))\b|another (?:\w+ )?(?:{PAPER}|{_METHOD})\b"
    rf"|(?:an? |any |some |what |which )?(?:others?|similar|related|more|further|alternatives?)\b"
    rf"(?: \w+)?(?: {PAPER}| {_METHOD}|(?= (?:on|about|like|to|for|that|which|with|using)\b)|\W*$)"
    rf"|the (?:first|last|earliest|latest|newest|most recent) {PAPER} (?:on|about)\b"
    rf"|(?:an? |any |some )?{PAPER} (?:similar to|like|other than|besides|related to)\b"
    r"|one (?:that|where|which|who|whose|with|using|for|from|on|about|in|like)\b|one\W*$)"
)
_SEEKS_ANOTHER = re.compile(
    _LEAD_IN + r"(?:(?:have you )?got |(?:is|are) there (?:also )?"
    r"|(?:do|did) you (?:also )?(?:have|know)(?: of)? "
    r"|(?:can|could) you (?:also )?(?:find|show|suggest|recommend|list|give)(?: me)? "
    r"|(?:find|show|suggest|recommend|list|give)(?: me)? |(?:what|how) about "
    r"|i (?:need|want|am looking for) |i['’]m looking for )?" + _ANOTHER,
    re.IGNORECASE,
)
_SEEKS_ITS_OWN = re.compile(
    rf"\b(?:an?|any|some) (?:\w+ )?{PAPER} (?:on|about) (?P<topic>.+)", re.IGNORECASE
)
_POINTS = re.compile(
    r"\b(?:that|this|these|those|same|such)\b(?! (?:paper|one|work|article|study)s?\b)",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:true|proofs?|evidence|claim(?:s|ed)?|facts?|shown?|shows|prove[sn]?|find|found|argue[sd]?"
    r"|known|mean(?:s|t)?|guarantee[sd]?|ensure[sd]?|sure|so)\s+$",
    re.IGNORECASE,
)
"""What comes before the `that` of a clause."""
_IS_RELATIVE = re.compile(
    r"\s+(?:are|were|have|has|can|could|do|does|will|may|might|must|they|it|we|people|\w+s)\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\bworth it\b|\b(?:is|was|be) it\b(?= (?:\w+ )?(?:possible|impossible|true|necessary|known"
    r"|clear|common|usual|important|enough|better|best|hard|difficult|easy|useful|useless|safe|wise"
    r"|feasible|worth(?:while)?|good|bad|right|wrong|required|fair|proven)"
    r" (?:to\b(?! \w+\W*$)|(?:that|why|how|whether|if)\b))"
    r"|\b(?:does|did|would) it\b(?= (?:matter|help|take|hurt|make sense|pay)(?: much)?"
    r" (?:to|that|why|how|whether|if|which|what|who|when|where)\b)",
    re.IGNORECASE,
)
"""`it` before a clause that says what is possible, or true."""
_BOTH_AND = re.compile(r" (?:of )?(?:[\w-]+ ){1,4}(?:and|as well as) \w", re.IGNORECASE)
_SAME_AS = re.compile(r" (?:time\b|(?:[\w-]+ ){1,3}(?:as|that|for)\b)", re.IGNORECASE)
_NOUN_BEFORE = re.compile(rf"\b(?:{PAPER}|{_METHOD}|\w+thing)\s+$", re.IGNORECASE)
_LIKE_IT = re.compile(
    r"\b(?:same|(?:like|than|to) (?:it|this|that|these|those|them))\b", re.IGNORECASE
)
_A_PAPER_INSTEAD = re.compile(
    _LEAD_IN + rf".*\b(?:an?|any|some) (?:\w+ )?{PAPER}\b.*\b(?:instead|rather than)\b",
    re.IGNORECASE,
)
_NUMBER_WORDS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_ORDINALS = {word: at for at, word in enumerate(_NUMBER_WORDS)} | {
    "1st": 0,
    "2nd": 1,
    "3rd": 2,
    **{f"{number}th": number - 1 for number in range(4, 11)},
}
_SAID = r"(?:mentioned|cited|listed|discussed|named|found|showed|gave|started with|talked about)"
_TAIL = (
    rf"(?P<told>,? (?:that |which )?(?:you|we) (?:\w+ )?{_SAID}(?: me)?"
    r"(?: (?:first|earlier|before))?| (?:from|at) the (?:start|beginning))?"
    r"(?: of (?:them|these|those)| (?:above|in the list))?"
)
_OF_A_TOPIC = (
    r"(?! (?:to|that (?!you|we)|on|about (?=\w)|for (?!me\b)|of (?!(?:them|these|those)\b)"
    r"|in (?!(?:the list|your|more|detail|short|brief|simple|plain|one|two|a few)\b))\b)"
)
_EARLIER_RESEARCH = r"(?!(?<=than |over )the (?:previous|earlier) work\b)"
_PLACE = re.compile(
    r"(?:\b(?:(?:go(?:ing)?|come|coming) )?back to )?"
    rf"\b{_EARLIER_RESEARCH}(?:the|that|your) "
    rf"(?:(?P<either>former|latter)(?: {PAPER})?"
    rf"|(?P<rank>{'|'.join(_ORDINALS)}|last|previous|earlier|other)"
    rf" (?:one|paper|article|work|study|publication)\b{_OF_A_TOPIC}"
    rf"|(?P<bare>{'|'.join(_ORDINALS)})(?=\W*$)){_TAIL}",
    re.IGNORECASE,
)
_CITED = re.compile(r"\[(?P<mark>\d{1,2})\]|\b(?:paper|reference|citation) #?(?P<number>\d{1,2})\b")
TAKES_UP = re.compile(r"^\W*(?:and|but|so|what about|how about)\b", re.IGNORECASE)
"""A beginning that takes up what was said."""
_FEW = 3
"""Content words of the shortest questions."""


@dataclass(frozen=True, slots=True)
class Place:
    """One of several papers, by where it was mentioned: `the second one`, `the latter`."""

    start: int
    end: int
    """The words that say so stand at `question[start:end]`."""
    rank: str
    """`0` for the first, `1` for the second, …, or `last`, `previous`, `other`, `former`, …"""
    by_mark: bool = False
    """Whether the rank is the number of a citation, from 1."""
    of_conversation: bool = False
    """Whether it says itself that all that was mentioned counts, not only the last answer."""


def refers(question: str) -> bool:
    """Whether `question` has a word that stands for something said before, and not in it."""
    if place_in(question):
        return True
    reference = reference_in(question)
    if not reference:
        return False
    return antecedent(question, reference, "") is not Antecedent.SURE


def reference_in(question: str) -> re.Match[str] | None:
    """The first such word."""
    return next((each for each in _REFERS.finditer(question) if not _is_empty(each)), None)


def _is_empty(word: re.Match[str]) -> bool:
    """Whether it stands for nothing: `papers that …`, `is it true …`, `both A and B`."""
    before, after = word.string[: word.start()], word.string[word.end() :]
    match word[0].casefold():
        case "that":
            return bool(
                _NOUN_BEFORE.search(before)
                or _STATES.search(before)
                or (_IS_RELATIVE.match(after) and _noun_ends(before))
            )
        case "it":
            return any(each.end() == word.end() for each in _EXPLETIVE.finditer(word.string))
        case "both":
            return bool(_BOTH_AND.match(after))
        case "same":
            return bool(_SAME_AS.match(after))
    return False


def _noun_ends(before: str) -> bool:
    words = WORD.findall(before)
    return bool(words) and words[-1].casefold() not in EMPTY


def means_several(question: str) -> bool:
    """Whether it speaks of several papers at once: `both`, `which of them`."""
    found = _SEVERAL.search(question)
    if not found or _is_empty(found):
        return False
    return antecedent(question, found, "") is not Antecedent.SURE


def seeks_another(question: str) -> bool:
    """Whether it asks for another paper than those cited: `Is there one that …?`.

    `Is there a paper on diffusion?` names what it seeks, and is a question of its own.
    """
    if _A_PAPER_INSTEAD.search(question):
        return True
    if not _SEEKS_ANOTHER.search(question):
        return False
    is_own = _SEEKS_ITS_OWN.search(question) and not TAKES_UP.search(question)
    return not is_own or bool(reference_in(question))


def is_open(question: str) -> bool:
    """Whether it points at something that was said, and not only at the paper: `that`, `those`."""
    return bool(_POINTS.search(question))


def place_in(question: str) -> Place | None:
    """The paper that is named by its place, if one is."""
    if cited := _CITED.search(question):
        rank = cited["mark"] or cited["number"]
        return Place(cited.start(), cited.end(), rank, by_mark=True)
    found = _PLACE.search(question)
    if not found:
        return None
    word = (found["either"] or found["rank"] or found["bare"]).casefold()
    rank = str(_ORDINALS.get(word, word))
    return Place(found.start(), found.end(), rank, of_conversation=bool(found["told"]))


def stands_alone(question: str) -> bool:
    """Whether a question for another paper has words enough to be searched for by itself."""
    return len(content_words(question)) > _FEW and not _LIKE_IT.search(question)


def needs_what_was_asked(question: str) -> bool:
    """Whether it says too little without the question before, where no paper was cited."""
    words = content_words(question)
    return not words or (len(words) <= _FEW and refers(question))
