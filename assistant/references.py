"""What the words of a follow-up refer to: nothing, the paper just cited, one of several, others.

Pure text: which papers those are is decided in `conversation`. The limits were chosen on
follow-ups and on single questions after an unrelated turn; see tests/benchmarks/conversation.md.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

_PAPER = r"(?:papers?|works?|articles?|stud(?:y|ies)|publications?|ones?)"
_METHOD = r"(?:methods?|approach(?:es)?|models?|techniques?|frameworks?|algorithms?)"
_REFERS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|both|same"
    r"|the (?:former|latter|authors?|datasets?|results?|benchmarks?)(?! of\b)"
    rf"|the (?:{_PAPER}|{_METHOD})|there(?=\W*$))\b",
    re.IGNORECASE,
)
_OF_THE_LIBRARY = r"(?! (?:about|by|from|in|of|on|that|to|using|where|which|with|written)\b)"
"""After `all papers`: those that follow, not those before."""
_SEVERAL = re.compile(
    r"\b(?:both|(?:these|those|the two) (?:two |three )?(?:papers|works|ones)"
    rf"|all (?:two |three )?(?:papers|works|ones)\b{_OF_THE_LIBRARY}"
    r"|(?:which|each|all|one) of (?:them|these|those)|compare (?:them|these|those))\b",
    re.IGNORECASE,
)
_LEAD_IN = r"^\W*(?:(?:and|but|so|ok|okay|now|also|then|thanks|please|well|hm+)\W+)*"
_ANOTHER = (
    rf"(?:(?:any|some)thing (?:else|similar|like|newer|related|more recent)\b"
    rf"|(?:an?|any|some) (?:\w+ )?{_PAPER} (?:on|about|that|which|with|for|where|using)\b"
    r"|one more\b"
    rf"|what else (?:is there|do you (?:have|know))\b|another (?:\w+ )?(?:{_PAPER}|{_METHOD})\b"
    rf"|(?:an? |any |some |what |which )?(?:others?|similar|related|more|further|alternatives?)\b"
    rf"(?: \w+)?(?: {_PAPER}| {_METHOD}|(?= (?:on|about|like|to|for|that|which|with|using)\b)|\W*$)"
    rf"|the (?:first|last|earliest|latest|newest|most recent) {_PAPER} (?:on|about)\b"
    rf"|(?:an? |any |some )?{_PAPER} (?:similar to|like|other than|besides|related to)\b"
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
_POINTS = re.compile(
    r"\b(?:that|this|these|those|same|such)\b(?! (?:paper|one|work|article|study)s?\b)",
    re.IGNORECASE,
)
_NOUN_BEFORE = re.compile(rf"\b(?:{_PAPER}|{_METHOD}|\w+thing)\s+$", re.IGNORECASE)
_AUTHORS = re.compile(r"they|them|their|theirs|the authors?", re.IGNORECASE)
_ONE_OF_MANY = re.compile(r"\ban? [\w-]+", re.IGNORECASE)
_LIKE_IT = re.compile(
    r"\b(?:same|(?:like|than|to) (?:it|this|that|these|those|them))\b", re.IGNORECASE
)
_A_PAPER_INSTEAD = re.compile(
    _LEAD_IN + rf".*\b(?:an?|any|some) (?:\w+ )?{_PAPER}\b.*\b(?:instead|rather than)\b",
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
    rf"(?:(?P<either>former|latter)(?: {_PAPER})?"
    rf"|(?P<rank>{'|'.join(_ORDINALS)}|last|previous|earlier|other)"
    rf" (?:one|paper|article|work|study|publication)\b{_OF_A_TOPIC}"
    rf"|(?P<bare>{'|'.join(_ORDINALS)})(?=\W*$)){_TAIL}",
    re.IGNORECASE,
)
_CITED = re.compile(r"\[(?P<mark>\d{1,2})\]|\b(?:paper|reference|citation) #?(?P<number>\d{1,2})\b")
_PAPERS = re.compile(r"\b(?:papers|works|articles|publications)\b", re.IGNORECASE)
_DEFINES = re.compile(r"^\W*what (?:is|are) (?:an? )?[\w-]+\W*$", re.IGNORECASE)
_TAKES_UP = re.compile(r"^\W*(?:and|but|so|what about|how about)\b", re.IGNORECASE)
_GOES_ON = re.compile(rf"\bthe\b|{_TAKES_UP.pattern}", re.IGNORECASE)
"""A thing taken as known, or a beginning that takes up what was said."""
_CLAUSE = re.compile(r".+?\b(?=(?:and|but)\b)", re.IGNORECASE)
"""What stands before an `and`."""
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_EMPTY = frozenset(
    "a about according across actually after against all also am an and another any approach "
    "are as at author authors available be been being between both but by can could did do does "
    "doing done each else ever exactly first for former from gave get gets give got had has "
    "have he her his how i if in instead into is it its just last latter like made make makes "
    "many me method methods more most much my no not of off on one or other others our out over "
    "paper papers per please really same say says second she should show shown so some study "
    "such tell than that the their them then there these they third this those to too up us use "
    "used uses using very was we were what what's when where which while who who's whom whose "
    "why will with without work would you your".split()
)
"""Words that say nothing of what is asked about."""
_OF_ANY_PAPER = frozenset(
    "brief briefly contribution contributions dataset datasets experiment experiments findings "
    "idea ideas key limitation limitations main method methods overall result results short "
    "shortly summarise summarize summary".split()
)
"""Words for what every paper has: alone they ask about the paper at hand."""
_STEM_LETTERS = 5

_FEW, _SOME, _MANY = 3, 5, 6
"""Content words of a question: of the shortest, without and with a reference."""
_MOSTLY, _HALF = 0.6, 0.5
"""Shares of its content words that the paper's text has."""
_FAR, _FARTHER, _NEARER = 0.35, 0.45, 0.3
"""How much nearer another paper may be, in cosine, before the question is about that one."""


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
    """Whether `question` has a word that stands for something said before."""
    return bool(_reference(question) or place_in(question))


def _reference(question: str) -> re.Match[str] | None:
    """The first such word; in `papers that …` it stands for nothing."""
    return next((each for each in _REFERS.finditer(question) if not _is_relative(each)), None)


def _is_relative(word: re.Match[str]) -> bool:
    return word[0].casefold() == "that" and bool(_NOUN_BEFORE.search(word.string[: word.start()]))


def means_several(question: str) -> bool:
    """Whether it speaks of several papers at once: `both`, `which of them`."""
    return bool(_SEVERAL.search(question))


def seeks_another(question: str) -> bool:
    """Whether it asks for another paper than those cited: `Is there one that …?`."""
    return bool(_SEEKS_ANOTHER.search(question) or _A_PAPER_INSTEAD.search(question))


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


def content_words(question: str) -> list[str]:
    """The words that say what is asked about, as typed."""
    return [word for word in _WORD.findall(question) if word.casefold() not in _EMPTY]


def stands_alone(question: str) -> bool:
    """Whether a question for another paper has words enough to be searched for by itself."""
    return len(content_words(question)) > _FEW and not _LIKE_IT.search(question)


def needs_what_was_asked(question: str) -> bool:
    """Whether it says too little without the question before, where no paper was cited."""
    words = content_words(question)
    return not words or (len(words) <= _FEW and refers(question))


def leans(question: str, text: str, lead: Callable[[], float]) -> bool:
    """Whether `question` goes on about a paper.

    Args:
        question: as asked.
        text: the paper's title and abstract.
        lead: how much nearer to the question another paper is than this one, in cosine; asked
            only where the words leave a doubt.
    """
    words = content_words(question)
    if _OF_ANY_PAPER.issuperset(word.casefold() for word in words):
        return True
    if not _has_letters_of(question, text):
        return False
    share = _share(words, text)
    reference = _reference(question)
    if not reference:
        return _goes_on(question, text, share, lead)
    before = question[: reference.start()]
    named = _strangers(before, text) and not _AUTHORS.fullmatch(reference[0])
    if named or len(content_words(before)) >= _SOME:
        return False  # what it refers to stands before it
    if len(words) <= _FEW and not _has_its_own_topic(before, text):
        return True
    return (len(words) <= _MANY or share >= _MOSTLY) and lead() < _FAR


def _goes_on(question: str, text: str, share: float, lead: Callable[[], float]) -> bool:
    """Whether a question without a word that refers is about the paper all the same."""
    words = content_words(question)
    if len(words) > _SOME or _PAPERS.search(question):
        return False
    if _strangers(question, text):
        return len(words) == 1 and bool(_TAKES_UP.search(question)) and lead() < _FAR
    if share < _HALF and _DEFINES.search(question):
        return False
    if share >= _HALF or len(words) == 1:
        return lead() < _FARTHER
    return bool(_GOES_ON.search(question)) and lead() < _NEARER


def _has_its_own_topic(before: str, text: str) -> bool:
    """Whether a reference may be to the clause before its own: `What is X and when does it …`."""
    clause = _CLAUSE.match(before)
    words = content_words(clause[0]) if clause else []
    return bool(words) and _share(words, text) < _HALF


def _has_letters_of(question: str, text: str) -> bool:
    """Whether the question has letters of the text, or none at all: else it is in other script."""
    letters = set(filter(str.isalpha, question.casefold()))
    return not letters or not letters.isdisjoint(text.casefold())


def _share(words: list[str], text: str) -> float:
    folded = text.casefold()
    return sum(word.casefold()[:_STEM_LETTERS] in folded for word in words) / len(words)


def _strangers(question: str, text: str) -> bool:
    """Whether the question has a name, or what is spelled like one, that the text lacks.

    What is only one of many, `an A100`, names no topic.
    """
    folded = text.casefold()
    question = _ONE_OF_MANY.sub("", question)
    return any(
        (any(letter.isupper() for letter in word[1:]) or (at and word[0].isupper()))
        and word.casefold() not in _EMPTY
        and word.casefold().removesuffix("'s").removesuffix("’s") not in folded
        for at, word in enumerate(_WORD.findall(question))
    )
