"""The grammar of answers that a model writes freely: sentences that each end with keys."""

from collections.abc import Sequence

from assistant.prompting import SILENT_REPLY

LONGEST_SENTENCE = 400
"""Characters; the longest sentence of the seeds has more, its statement fits."""
_SHORTEST_SENTENCE = 10
_ABBREVIATIONS = ("e.g.", "i.e.", "cf.", "vs.", "et al.", "approx.", "resp.", "w.r.t.", "Fig.")
"""Behind which a sentence may go on after a space; every other full stop and space ends one."""


def answer_grammar(keys: Sequence[str], most_sentences: int) -> str:
    """GBNF for one to `most_sentences` sentences, or for the reply that there is no answer.

    A sentence has no square brackets but those of its keys, stands on one line, and has a full stop
    inside only within a word or number (`3.5`, `e.g.,`) or in a common abbreviation.
    """
    choice = " | ".join(f'"{key}"' for key in keys)
    return f"""\
root ::= "{SILENT_REPLY}" | sentence (" " sentence){{0,{most_sentences - 1}}}
sentence ::= first text{{{_SHORTEST_SENTENCE},{LONGEST_SENTENCE}}} end
end ::= [.!?] " " marks | " " marks "."
marks ::= mark (" "? mark)?
mark ::= "[" ({choice}) "]"
{_text()}"""


def _text() -> str:
    """GBNF for how a sentence begins and for what stands in it."""
    abbreviations = " | ".join(f'"{each} "' for each in _ABBREVIATIONS)
    return f"""\
first ::= [^\\[\\] \\t\\r\\n<>.,;:!?)]
text ::= [^\\[\\]\\r\\n.!?] | [.!?] [^\\[\\] \\t\\r\\n] | {abbreviations}
"""
