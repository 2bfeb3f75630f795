"""The grammars of answers: sentences that each end with keys, or words of the evidence."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.prompting import SILENT_REPLY

LONGEST_SENTENCE = 400
"""Characters; the longest sentence of the seeds has more, its statement fits."""
_SHORTEST_SENTENCE = 10
_ABBREVIATIONS = ("e.g.", "i.e.", "cf.", "vs.", "et al.", "approx.", "resp.", "w.r.t.", "Fig.")
"""Behind which a sentence may go on after a space; every other full stop and space ends one."""
LEAST_WORDS = 4
"""Of an excerpt."""
_PUNCTUATION = ".,;:"
_CLOSING = "\"'”’)]}"


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


@dataclass(frozen=True, slots=True)
class Cuts:
    """The words of a sentence, and where one may begin and stop without saying something else."""

    words: tuple[str, ...]
    starts: frozenset[int]
    """Places of words."""
    ends: frozenset[int]
    """Places of words."""

    @property
    def first_words(self) -> list[int]:
        """Where excerpts begin; nowhere in a question, which says nothing."""
        if not self.words or self.words[-1].rstrip(_CLOSING).endswith("?"):
            return []
        return [at for at in sorted({0, *self.starts}) if at + LEAST_WORDS <= len(self.words)]

    @property
    def last_words(self) -> list[int]:
        """Where they stop."""
        return sorted({len(self.words) - 1, *self.ends})

    def excerpts(self) -> Iterator[str]:
        """All that may be cut out of it, as a sentence each."""
        for first in self.first_words:
            for last in self.last_words:
                if last - first + 1 >= LEAST_WORDS:
                    between = self.words[first + 1 : last]
                    yield " ".join([_capitalized(self.words[first]), *between, self.ending(last)])

    def ending(self, at: int) -> str:
        """How an excerpt ends that stops behind the word there."""
        word = self.words[at]
        if at == len(self.words) - 1 and word.rstrip(_CLOSING).endswith((".", "!")):
            return word
        return f"{word.rstrip(_PUNCTUATION)}."


def excerpt_grammar(sentence: Cuts, *, may_be_silent: bool) -> str:
    """GBNF for an excerpt of a sentence, or else for the silent reply.

    So nothing can be said that the sentence does not have, in the order in which it has it.

    Args:
        sentence: of fewer than `LEAST_WORDS` words leaves only the silent reply.
        may_be_silent: whether the model may choose that reply where there are excerpts.
    """
    words, last_words = sentence.words, set(sentence.last_words)
    starts, rules = [], []
    for first in sentence.first_words:
        at = first + LEAST_WORDS - 1
        opening = " ".join([_capitalized(words[first]), *words[first + 1 : at], ""])
        starts.append(f"{_literal(opening)} w{at}")
    for at in range(LEAST_WORDS - 1, len(words)):
        more = f"{_literal(f'{words[at]} ')} w{at + 1}" if at + 1 < len(words) else ""
        end = _literal(sentence.ending(at)) if at in last_words else ""
        rules.append(f"w{at} ::= {' | '.join(filter(None, [more, end]))}")
    if may_be_silent or not starts:
        starts.append(_literal(SILENT_REPLY))
    return "\n".join([f"root ::= {' | '.join(starts)}", *rules])


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _capitalized(word: str) -> str:
    """A word as it begins a sentence; names such as `iVoro`, `k-means` and `p53` stay."""
    first, rest = word[0], word[1:]
    is_plain = not rest or (rest[0].isalpha() and rest == rest.lower())
    return f"{first.upper()}{rest}" if is_plain and len(first.upper()) == 1 else word


def _text() -> str:
    """GBNF for how a sentence begins and for what stands in it."""
    abbreviations = " | ".join(f'"{each} "' for each in _ABBREVIATIONS)
    return f"""\
first ::= [^\\[\\] \\t\\r\\n<>.,;:!?)]
text ::= [^\\[\\]\\r\\n.!?] | [.!?] [^\\[\\] \\t\\r\\n] | {abbreviations}
"""
