"""Follow-ups: how many cite the right paper, how many single questions lean on an unrelated turn.

    python tests/benchmarks/bench_conversation.py FILE.jsonl … [--home DIR] [--singles FILE]
        [--retriever R] [--no-rerank] [--no-check] [--free-writing]

A conversation is a line with `turns`, each a `question` and the titles of its right `papers`; where
nothing is right, `focus` may name the paper that it is about. `follow_ups.jsonl` beside this file
holds such conversations over the seeds. Conversations are really held: every turn is answered by
the default model with the answers before it. Other lines tell how questions should be read, without
an answer: `stays` after an answer about the `paper` of that title, `alone` after each of these
papers. Prints what went wrong, a table, then one JSON line.
Results and dead ends are in conversation.md.
"""

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from assistant.ablations import Ablations, add_flags
from assistant.candidates import lead_of_others
from assistant.conversation import Resolved, resolve
from assistant.engine import Assistant
from assistant.settings import load_settings
from assistant.startup import open_assistant
from assistant.types import Answer, Citation, Outcome, Timings, Tokens, Turn
from retrieval.progress import silent
from retrieval.types import Paper, first_words

Sample = dict[str, Any]
BEGINNING = 80
"""Characters of an abstract that stand for a title where there is none."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A follow-up with its answer."""

    kind: str
    turn: Sample
    answer: Answer

    @property
    def is_right(self) -> bool:
        """Whether it cites a right paper first, or nothing where nothing is right."""
        cited = [names(citation.paper) for citation in self.answer.citations]
        if not self.turn["papers"]:
            return self.answer.outcome is not Outcome.ANSWERED
        return bool(cited) and not cited[0].isdisjoint(self.turn["papers"])

    @property
    def is_pure(self) -> bool:
        """Whether it is right and cites right papers only."""
        cited = [names(citation.paper) for citation in self.answer.citations]
        return self.is_right and not any(each.isdisjoint(self.turn["papers"]) for each in cited)


def names(paper: Paper) -> set[str]:
    """What a paper may be called in a file of questions."""
    return {paper.title, paper.abstract[:BEGINNING], first_words(paper.abstract)}


def kind_of(turn: Sample, before: Sequence[str]) -> str:
    """The kind that a file gives, or what can be seen of it."""
    if kind := turn.get("kind"):
        return str(kind)
    if not turn["papers"]:
        return "silent"
    return "stays" if set(turn["papers"]) & set(before) else "another"


def held(assistant: Assistant, conversation: Sample) -> Iterator[Asked]:
    """The follow-ups of a conversation, really held."""
    history: list[Turn] = []
    before: list[str] = []
    for turn in conversation["turns"]:
        answer = assistant.answer(turn["question"], history)
        kind = kind_of(turn, before) if history else "opens"
        yield Asked(kind, turn, answer)
        history.append(Turn(turn["question"], answer))
        before = turn["papers"] or before


def leaning(assistant: Assistant, singles: Sequence[Sample]) -> list[str]:
    """The standalone questions of singles that lean, each asked after another's right answer."""
    known = [each.paper for each in assistant.library.store.papers()]
    papers = {name: paper for paper in known for name in names(paper)}
    lead = partial(lead_of_others, assistant.library)
    wrong = []
    for before, sample in zip(singles, [*singles[1:], singles[0]], strict=True):
        history = [answered(before["question"], papers[before["papers"][0]])]
        resolved = resolve(sample["question"], history, lead)
        if resolved.standalone != sample["question"]:
            wrong.append(resolved.standalone)
    return wrong


def readings(assistant: Assistant, samples: Sequence[Sample]) -> dict[str, dict[str, int]]:
    """How many questions are read as meant after an answer about a paper, without any answer."""
    known = {each.paper.title: each.paper for each in assistant.library.store.papers()}
    papers = {sample["paper"]: known[sample["paper"]] for sample in samples if "paper" in sample}
    stays = [(papers[each["paper"]], text) for each in samples for text in each.get("stays", ())]
    alone = [text for each in samples for text in each.get("alone", ())]
    lost = [text for paper, text in stays if not _is_about(assistant, text, paper)]
    bent = [text for text in alone for paper in papers.values() if _bends(assistant, text, paper)]
    for text, times in Counter(bent).items():
        print(f"taken as a follow-up after {times} of {len(papers)} papers: {text}")
    print(*(f"not taken as a follow-up: {text}" for text in lost), sep="\n")
    return {
        "stays, read": {"asked": len(stays), "lost": len(lost)},
        "alone, read": {"asked": len(alone) * len(papers), "bent": len(bent)},
    }


def _after(assistant: Assistant, question: str, paper: Paper) -> Resolved:
    history = [answered("What is known?", paper)]
    return resolve(question, history, partial(lead_of_others, assistant.library))


def _is_about(assistant: Assistant, question: str, paper: Paper) -> bool:
    return [each.id for each in _after(assistant, question, paper).about] == [paper.id]


def _bends(assistant: Assistant, question: str, paper: Paper) -> bool:
    return _after(assistant, question, paper).standalone != question


def answered(question: str, paper: Paper) -> Turn:
    """A question with an answer that cites one paper."""
    answer = Answer(
        question=question,
        standalone_question=question,
        outcome=Outcome.ANSWERED,
        text="",
        sentences=(),
        citations=(Citation(1, paper, paper.abstract),),
        passages=(),
        model="none",
        timings=Timings(0, 0, 0, 0),
        tokens=Tokens(0, 0),
    )
    return Turn(question, answer)


def read(path: Path) -> list[Sample]:
    """The samples of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def table(asked: Iterable[Asked]) -> dict[str, dict[str, float]]:
    """Shares by kind of follow-up."""
    rows = list(asked)
    kinds = Counter(each.kind for each in rows)
    groups = {kind: [each for each in rows if each.kind == kind] for kind in sorted(kinds)}
    groups["with a right paper"] = [
        each for each in rows if each.turn["papers"] and each.kind != "opens"
    ]
    return {
        kind: {
            "asked": len(group),
            "right": round(statistics.mean(each.is_right for each in group), 3),
            "pure": round(statistics.mean(each.is_pure for each in group), 3),
            "total s": statistics.median(each.answer.timings.total for each in group),
        }
        for kind, group in groups.items()
        if group
    }


def measured(assistant: Assistant, path: Path) -> dict[str, dict[str, float]]:
    """The table of a file's conversations; what went wrong is printed on the way."""
    asked: list[Asked] = []
    for conversation in (sample for sample in read(path) if "turns" in sample):
        for each in held(assistant, conversation):
            asked.append(each)
            if not each.is_right:
                cited = [citation.paper.shown_title for citation in each.answer.citations]
                print(f"{each.kind}: {each.answer.standalone_question}\n    cites {cited}")
    return table(asked)


def main() -> None:
    """Hold the conversations, ask the singles, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("conversations", type=Path, nargs="+")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--singles", type=Path, help="a file with questions of type single")
    add_flags(parser)
    options = parser.parse_args()
    settings = load_settings({"home": options.home} if options.home else {})
    assistant = open_assistant(settings, silent, Ablations.from_options(options))
    results: dict[str, Any] = {
        path.name: measured(assistant, path) for path in options.conversations
    }
    for path in options.conversations:
        if samples := [each for each in read(path) if "stays" in each or "alone" in each]:
            results[f"readings of {path.name}"] = readings(assistant, samples)
    for name, rows in results.items():
        for kind, row in rows.items():
            print(f"{name:18} {kind:18}", *(f"{key} {row[key]:.2f}" for key in row), sep="  ")
    if options.singles:
        singles = [sample for sample in read(options.singles) if sample["type"] == "single"]
        known = {name for each in assistant.library.store.papers() for name in names(each.paper)}
        singles = [sample for sample in singles if sample["papers"][0] in known]
        wrong = leaning(assistant, singles)
        print(*wrong, sep="\n")
        results["singles that lean"] = {"asked": len(singles), "lean": len(wrong)}
    print(json.dumps(results))


if __name__ == "__main__":
    main()
