"""What the writer learns from: conversations and the replies they should get.

Read from `data/`; see README.md there.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.generation.prompts import (
    SILENT_REPLY,
    Message,
    brief_messages,
    standalone_messages,
)
from assistant.generation.verification.cutter import Cuts

DATA = Path(__file__).parent / "data"
NOTE_WORDS = 100
"""Of the notes, as many as an answer quotes or a few more."""
SILENT_SHARE = 0.05
"""Of the questions that the notes do not answer. With 0.35 the writer was silent on a third of the
questions that it could answer, most of those that ask for a number."""
MISSING_WEIGHT = 1.2
"""How much more a word counts that an excerpt lacks of the answer than one that it has besides."""
WHOLE_WEIGHT = 0.85
"""What the likeness of a whole sentence is multiplied by."""
FOLLOW_UP_SHARE = 0.3
"""Of the follow-ups, which are short and learned soon."""
EXTRA_NOTES = (0.3, 0.4, 0.2, 0.1)
"""How often an answer has no, one, two or three notes beside those that answer."""


@dataclass(frozen=True, slots=True)
class Example:
    """A conversation and its reply."""

    task: str
    """`answer`, `several`, `silent` or `standalone`."""
    split: str
    messages: Sequence[Message]
    reply: str


def examples(cuts: Callable[[str], Cuts], seed: int = 0) -> list[Example]:
    """All of them; what is left to chance repeats with `seed`.

    Args:
        cuts: of a sentence, where an excerpt may begin and stop.
        seed: of what is left to chance.
    """
    chance = random.Random(seed)
    papers = {row["paper"]: row for row in _rows("papers")}
    made = (_example(each, chance, cuts) for each in [*_answers(papers), *_several(papers)])
    return [
        *(each for each in made if each),
        *_unanswered(papers, chance),
        *(each for each in _follow_ups(papers) if chance.random() < FOLLOW_UP_SHARE),
    ]


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


@dataclass(frozen=True, slots=True)
class _Answered:
    """A question that sentences of a paper answer."""

    task: str
    split: str
    paper: dict[str, Any]
    question: str
    evidence: Sequence[int]
    answer: str


def _answers(papers: dict[str, Any]) -> Iterator[_Answered]:
    for row in _rows("questions"):
        for each in [*row["questions"], row["follow_up"]]:
            asked = each.get("standalone", each["question"])
            paper, evidence = papers[row["paper"]], each["evidence"]
            yield _Answered("answer", row["split"], paper, asked, evidence, each["answer"])
    for row in _rows("answers"):
        paper, asked = papers[row["paper"]], row["question"]
        yield _Answered("answer", row["split"], paper, asked, row["evidence"], row["answer"])


def _several(papers: dict[str, Any]) -> Iterator[_Answered]:
    """A sentence for each paper of a question on several."""
    for row in _rows("several"):
        for id_, answer in row.get("answers", {}).items():
            asked, evidence = row["question"], row["papers"][id_]
            yield _Answered("several", row["split"], papers[id_], asked, evidence, answer)


def _example(
    asked: _Answered, chance: random.Random, cuts: Callable[[str], Cuts]
) -> Example | None:
    """An answer in words of the evidence; none where the evidence has too few."""
    sentences = asked.paper["sentences"]
    found = [cuts(sentences[at]) for at in asked.evidence if at < len(sentences)]
    likeness = {
        text: _likeness(text, each, asked.answer) for each in found for text in each.excerpts()
    }
    if not likeness:
        return None
    notes = _notes(sentences, asked.question, asked.evidence, chance)
    messages = brief_messages(asked.question, asked.paper["title"], notes)
    reply = max(likeness, key=lambda text: (likeness[text], -len(text)))
    return Example(asked.task, asked.split, messages, reply)


def _likeness(excerpt: str, sentence: Cuts, answer: str) -> float:
    """F-measure of the words of `excerpt` against those of `answer`; what it lacks counts more.

    A whole sentence is liked less than a shorter excerpt that says about the same.
    """
    said, wanted = Counter(_words(excerpt)), Counter(_words(answer))
    shared = (said & wanted).total()
    weight = MISSING_WEIGHT**2
    likeness = (1 + weight) * shared / (said.total() + weight * wanted.total())
    return likeness * (WHOLE_WEIGHT if said.total() == len(sentence.words) else 1.0)


def _words(text: str) -> list[str]:
    return [word.strip(".,;:()").casefold()[:6] for word in text.split()]


def _unanswered(papers: dict[str, Any], chance: random.Random) -> Iterator[Example]:
    """Questions on papers that do not answer them."""
    for row in _rows("questions"):
        if chance.random() < SILENT_SHARE:
            yield _silent(papers[row["paper"]], row["split"], row["silent"], chance)
    for row in _rows("hard"):
        if row["kind"] == "near miss" and chance.random() < SILENT_SHARE / 2:
            yield _silent(papers[row["paper"]], row["split"], row["question"], chance)


def _silent(paper: Any, split: str, asked: str, chance: random.Random) -> Example:
    notes = _notes(paper["sentences"], asked, [], chance)
    return Example("silent", split, brief_messages(asked, paper["title"], notes), SILENT_REPLY)


def _follow_ups(papers: dict[str, Any]) -> Iterator[Example]:
    """Questions that go on about a paper, as they can be understood alone."""
    for row in _rows("questions"):
        follow_up, title = row["follow_up"], papers[row["paper"]]["title"]
        before = row["questions"][0]["question"]
        messages = standalone_messages(before, title, follow_up["question"])
        yield Example("standalone", row["split"], messages, follow_up["standalone"])
    for row in _rows("conversations"):
        before, paper = "", ""
        for turn in row["turns"]:
            if turn["kind"] == "content" and turn["focus"] == "last" and turn["paper"] == paper:
                title = papers[row[paper]]["title"]
                messages = standalone_messages(before, title, turn["question"])
                yield Example("standalone", row["split"], messages, turn["standalone"])
            before, paper = turn.get("standalone") or turn["question"], turn.get("paper")


def _notes(
    sentences: Sequence[str], question: str, evidence: Sequence[int], chance: random.Random
) -> list[str]:
    """Those that answer and others that a search might take for it, in reading order."""
    extra = chance.choices(range(len(EXTRA_NOTES)), EXTRA_NOTES)[0] + (not evidence)
    asked = set(_stems(question))
    near = sorted(
        (at for at in range(len(sentences)) if at not in evidence),
        key=lambda at: len(asked & set(_stems(sentences[at]))) + 2 * chance.random(),
        reverse=True,
    )
    chosen = [at for at in evidence if at < len(sentences)]
    for at in near[:extra]:
        if not chosen or sum(len(sentences[i].split()) for i in [*chosen, at]) <= NOTE_WORDS:
            chosen.append(at)
    return [sentences[at] for at in sorted(chosen)]


def _stems(text: str) -> list[str]:
    return [word[:5] for word in text.casefold().split() if len(word) > 3]
