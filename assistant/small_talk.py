"""Greetings, thanks, and questions about the assistant itself: each has a fixed reply.

Only whole questions count: `Thanks, and who wrote it?` asks about a paper.
"""

import re

GREETING = "Hello; ask about the papers of this library."
THANKS = "You are welcome; ask on."
ABILITY = (
    "This assistant answers questions about the papers of this library from their abstracts, finds "
    "papers by title, author, venue or year, and says so when no abstract answers."
)

_MOST_WORDS = 8
_HELLO = (
    r"(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))(?: (?:there|all|again))?"
    r"|how are you(?: doing)?(?: today)?"
)
_THANK_YOU = (
    r"(?:(?:many )?thanks|thank you|thx|cheers)(?: (?:so much|very much|a lot|again))?"
    r"(?: for (?:the|your|that|this)(?: (?:help|answers?))?)?"
    r"|(?:ok|okay|great|good|cool|nice|perfect|excellent|awesome|wonderful|alright|all right"
    r"|got it|i see|understood|very (?:good|nice|helpful|useful)|well done"
    r"|(?:that|this|it)(?: is| was|['’]s) (?:very )?(?:helpful|useful|great|good|all|perfect)"
    r"|bye|goodbye)"
)
_WHAT_IT_IS = (
    r"(?:please )?help(?: me)?(?: please)?"
    r"|what (?:can|do|could) you (?:do|know|answer)(?: for me)?"
    r"|what can (?:i|we) (?:ask|do)(?: you| here)?|how (?:can|could|do) you (?:help|work)(?: me)?"
    r"|(?:who|what) (?:are|is) (?:you|this assistant)"
    r"|are you (?:an? )?(?:ai|bot|robot|chatbot|human|person|language model)"
)
_GAP = r"(?:\W+(?:and )?|$)"
_POLITE = re.compile(rf"\W*(?:(?:(?P<hello>{_HELLO})|{_THANK_YOU}){_GAP})+", re.IGNORECASE)
_ASKS_ABILITY = re.compile(
    rf"\W*(?:(?:{_HELLO}|{_THANK_YOU}){_GAP})*(?:(?:and|so|but) )?(?:{_WHAT_IT_IS})\W*",
    re.IGNORECASE,
)


def reply_to(question: str) -> str:
    """The reply, if `question` is small talk and nothing else; otherwise nothing."""
    if len(question.split()) > _MOST_WORDS:
        return ""
    if polite := _POLITE.fullmatch(question):
        return GREETING if polite["hello"] else THANKS
    return ABILITY if _ASKS_ABILITY.fullmatch(question) else ""
