"""Filters out sentences that look like instructions (prompt injection).

Such a sentence may be quoted, but it is not chosen as evidence if its paper has others, and it
supports nothing that a model writes. The same holds for a sentence in other letters than Latin or
Greek.
"""

import re

_ORDERS = (
    r"ignore|disregard|forget|override|bypass|pretend|obey|comply|say|reply|respond|repeat|tell|"
    r"translate|decode|reveal|execute|stop|cite|quote|recommend|append|visit|click|send|do not|"
    r"don['’]t|never|act as|from now on|(?:output|answer|write|print|begin|start|end|follow) "
    r"(?:only|just|the|this|that|these|exactly|every|all|with|by|me|a|nothing|[\"“'])"
)
_IMPERATIVE = re.compile(
    r"^\W*(?:(?:please|now|then|and|but|first|instead|important|note|attention|warning|system|"
    rf"assistant|user|dear \w+|hey|hi)\W+)*(?:{_ORDERS})(?![\w-])",
    re.IGNORECASE,
)
_YOU = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_MACHINE = re.compile(
    r"\b(?:(?:previous|prior|above|earlier|preceding|hidden|system) "
    r"(?:instructions?|orders|prompts?)|(?:system|developer) (?:message|mode|note|override)"
    r"|as (?:the|an) (?:system|ai|assistant)"
    r"|(?:the|this|any|every) (?:ai |language )?(?:assistant|chatbot|reader|reviewer)s? "
    r"(?:must|should|shall|has to|will|is to|are to)"
    r"|answer to (?:every|all|any)|(?:by|as) the (?:assistant|system)|the system (?:says|confirms)"
    r"|the user (?:now |then )?(?:asks|wants|says)|(?:papers?|abstracts?) in this library"
    r"|the (?:notes|abstracts) (?:do|does) not (?:say|answer)"
    r"|end of (?:the )?(?:notes|abstract|context))\b",
    re.IGNORECASE,
)
_FORGED = re.compile(
    r"<\|[\w ]{1,40}\|>|</?(?!https?:|mailto:)[a-z][\w ]{0,40}(?:[ =][^<>]*)?>"
    r"|\[/?INST\]|<</?SYS>>|###|\{\{|\{%"
    r"|^\W*(?:system|assistant|user|human|question|answer|notes?|instructions?"
    r"|references|verified)\s*:"
    r"|!\[|\]\(|\"(?:role|answer|outcome|sentences|citations|tool)\"\s*:"
    r"|\[(?:\d{1,2}|[a-z]\d[a-z])\]|::=",
    re.IGNORECASE,
)
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1cff\u3040-\ud7ff\uf900-\ufaff]")
_MANY_LETTERS = 5
"""Letters of other scripts that a sentence may have at most, as in a formula."""


def states(sentence: str) -> bool:
    """Whether a sentence states something, in letters that can be checked, and addresses nobody."""
    return not addresses(sentence) and len(_OTHER_SCRIPT.findall(sentence)) <= _MANY_LETTERS


def addresses(sentence: str) -> bool:
    """Whether a sentence gives orders, addresses its reader, or imitates a part of a prompt."""
    return any(pattern.search(sentence) for pattern in (_IMPERATIVE, _YOU, _MACHINE, _FORGED))
