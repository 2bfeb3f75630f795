"""Citation marks: the keys they use, the grammar that holds a model to them, and their parser.

A model cites a piece of evidence by a short key in square brackets, as in `[k3x]`. The reply is
read as a stream, without thinking and up to where it repeats itself.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, cycle

from assistant.generation.prompts import SILENT_REPLY
from assistant.models.llama.chat_template import THINKING
from assistant.types import Evidence
from retrieval.text.markup import visible
from retrieval.text.splitting import split_sentences

LONGEST_SENTENCE = 400
"""Characters; the longest sentence of the seeds has more, but what it states fits."""
_SHORTEST_SENTENCE = 10
_ABBREVIATIONS = ("e.g.", "i.e.", "cf.", "vs.", "et al.", "approx.", "resp.", "w.r.t.", "Fig.")
"""May stand inside a sentence before a space; any other full stop before a space ends it."""
_LETTERS = "bcdfghjkmnpqrstvwxz"
_DIGITS = "23456789"
_TRIES = 20
"""Keys of one length that are tried before longer ones: a text may contain every short one."""

_KEY = rf"[{_LETTERS}](?:[{_DIGITS}][{_LETTERS}])+"
# A number is no key, but small models tend to cite by number; such a mark is removed, too.
_ITEM = rf"(?:{_KEY}|\d{{1,3}})"
_MARKED = rf"\[\s*({_ITEM}(?:\s*,\s*{_ITEM})*)\s*\]"
_MARK = re.compile(rf"\s*{_MARKED}")
_MARKS_BEHIND = re.compile(rf"(?:\s*{_MARKED})+\.?")
_SECOND_STOP = re.compile(rf"(?<=[.!?])((?:\s*{_MARKED})+)\.")
_MAY_BE_MARK = re.compile(r"(?:[\s\],.\d]|\[[\s,a-z\d]*)*")
_BULLET = re.compile(r"^[-*•]\s+")
_SPACE_BEFORE_POINT = re.compile(r"\s+([.,;:!?])")

_REPEATED, _TIMES, _WITHIN = 24, 4, 400
"""A reply repeats itself if its last characters, `_REPEATED` of them, occur `_TIMES` times in its
last `_WITHIN`."""

_THOUGHT = re.compile(
    "|".join(
        rf"{re.escape(marks.opens)}.*?(?:{re.escape(marks.closes + marks.then.strip())}|\Z)"
        for marks in THINKING
    ),
    re.DOTALL,
)
"""From a mark that opens thinking to the one that closes it, or to the end."""


def keys_of(question: str, evidence: Sequence[Evidence]) -> list[str]:
    """A short key for each piece of evidence, such as `k3x`; the same prompt has the same keys.

    The question is part of their seed, so that text planted in an abstract cannot guess them, and
    no key occurs in the question or the evidence.
    """
    texts = "\n".join([question, *(each.text for each in evidence)]).casefold()
    keys: list[str] = []
    for each in evidence:
        seed = f"{question}\n{each.paper.id}\n{each.start}"
        fresh = (key for key in _candidates(seed) if key not in texts and key not in keys)
        keys.append(next(fresh))
    return keys


def answer_grammar(keys: Sequence[str], most_sentences: int) -> str:
    """GBNF for one to `most_sentences` sentences, or for the reply that there is no answer.

    A sentence is on one line, has square brackets only around its keys, and has a full stop inside
    only within a word or number (`3.5`, `e.g.,`) or in a common abbreviation.
    """
    choice = " | ".join(f'"{key}"' for key in keys)
    abbreviations = " | ".join(f'"{each} "' for each in _ABBREVIATIONS)
    return f"""\
root ::= "{SILENT_REPLY}" | sentence (" " sentence){{0,{most_sentences - 1}}}
sentence ::= first text{{{_SHORTEST_SENTENCE},{LONGEST_SENTENCE}}} end
end ::= [.!?] " " marks | " " marks "."
marks ::= mark (" "? mark)?
mark ::= "[" ({choice}) "]"
first ::= [^\\[\\] \\t\\r\\n<>.,;:!?)]
text ::= [^\\[\\]\\r\\n.!?] | [.!?] [^\\[\\] \\t\\r\\n] | {abbreviations}
"""


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """A sentence as the model wrote it."""

    text: str
    """Without its citation marks."""
    cited: tuple[int, ...]
    """Numbers of the evidence that it cites, from 1."""


def written_sentences(pieces: Iterable[str], keys: Sequence[str]) -> Iterator[WrittenSentence]:
    """The sentences of a stream of text, each as soon as the words of the next have begun.

    They do not depend on how the stream is cut into pieces: it is read character by character.
    """
    text = ""
    for letter in chain.from_iterable(pieces):
        text += letter
        *whole, last = _sentences(text)
        # What may still become a mark may belong to the sentence before it.
        if whole and not _MAY_BE_MARK.fullmatch(last):
            yield from _parsed(whole, keys)
            text = last
    yield from _parsed(_sentences(text), keys)


def without_thinking(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces without text between marks of thinking, or behind a mark that is never closed.

    `ChatModel` lets a model think before its reply or not at all; this removes what a model thinks
    nevertheless.
    """
    text = answer = ""
    shown = 0
    for piece in pieces:
        text += piece
        answer = _THOUGHT.sub("", text)
        end = len(answer) - _begun(answer)
        yield answer[shown:end]
        shown = end
    yield answer[shown:]


def until_repeating(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces up to where the reply repeats itself."""
    said = ""
    for piece in pieces:
        said = (said + piece)[-_WITHIN:]
        if len(said) >= _REPEATED and said.count(said[-_REPEATED:]) >= _TIMES:
            return
        yield piece


def _candidates(seed: str) -> Iterator[str]:
    """Infinitely many keys, the later the longer."""
    for attempt in count():
        digest = hashlib.sha256(f"{seed}\n{attempt}".encode()).digest()
        length = min(3 + 2 * (attempt // _TRIES), len(digest))
        signs = zip(digest[:length], cycle((_LETTERS, _DIGITS)), strict=False)
        yield "".join(alphabet[byte % len(alphabet)] for byte, alphabet in signs)


def _parsed(sentences: Iterable[str], keys: Sequence[str]) -> Iterator[WrittenSentence]:
    """Sentences without marks, and the evidence that the marks cite."""
    number_of = {key: number for number, key in enumerate(keys, start=1)}
    for sentence in sentences:
        marked = (key.strip() for marks in _MARK.findall(sentence) for key in marks.split(","))
        cited = dict.fromkeys(number_of[key] for key in marked if key in number_of)
        text = " ".join(_unmarked(visible(_SECOND_STOP.sub(r"\1", sentence))).split())
        text = _BULLET.sub("", _SPACE_BEFORE_POINT.sub(r"\1", text))
        if any(letter.isalnum() for letter in text):
            yield WrittenSentence(text, tuple(cited))


def _unmarked(text: str) -> str:
    """The text without its marks, nested ones included."""
    while (without := _MARK.sub("", text)) != text:
        text = without
    return text


def _sentences(text: str) -> list[str]:
    """`text` in pieces of a sentence each, the last of which may still grow.

    Lines are never joined. Marks behind a full stop belong to the sentence before them, marks at
    the beginning of a line to the sentence behind them.
    """
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        begun = len(pieces)
        at = 0
        for sentence in split_sentences(line):
            piece = line[at : sentence.end]
            at = sentence.end
            lead = _MARKS_BEHIND.match(piece) if len(pieces) > begun else None
            if lead:
                pieces[-1] += piece[: lead.end()]
                piece = piece[lead.end() :]
            if piece:
                pieces.append(piece)
        if len(pieces) == begun:
            pieces.append("")
        pieces[-1] += line[at:]
    if text.endswith("\n"):
        pieces.append("")
    return pieces or [""]


def _begun(text: str) -> int:
    """Characters at the end of `text` that may be the beginning of a mark that opens thinking."""
    begun = (marks.opens[:length] for marks in THINKING for length in range(1, len(marks.opens)))
    return max((len(each) for each in begun if text.endswith(each)), default=0)
