"""Answers as text for API, terminal and Markdown, from one sequence of parts.

The page shows the same blocks of sentences as HTML.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from assistant.types import (
    Answer,
    AnswerSentence,
    Citation,
    Outcome,
    PartialAnswer,
    SentenceKind,
    by_paper,
)
from retrieval.formats.writers import authors_line, where
from retrieval.types import Paper, nested

PartKind = Literal[
    "understood",
    "written",
    "evidence",
    "lead",
    "quoted",
    "coverage",
    "abstained",
    "closest",
    "close paper",
    "references",
    "reference",
    "suggestions",
    "suggestion",
    "searched",
]
Form = Mapping[PartKind, str]
"""How each kind of part is written: a format of the fields of `write`. Other kinds are left out."""

PLAIN: Final[Form] = {
    "written": "{text} {marks} ",
    "evidence": "Evidence: ",
    "lead": "From “{title}”: ",
    "quoted": "“{nested}” {marks} ",
}
"""The text of an answer."""
TERMINAL: Final[Form] = {
    "understood": "({text})",
    "written": "{text} {marks}",
    "evidence": "\nEvidence",
    "lead": "From “{title}”:",
    "quoted": "  “{nested}” {marks}",
    "coverage": "\n{text}",
    "abstained": "{text}",
    "closest": "\nClosest papers:",
    "close paper": "  {paper}",
    "references": "\nReferences",
    "reference": "  {marks} {paper}",
    "suggestions": "\nYou can go on with",
    "suggestion": "  {text}",
    "searched": "\n{text}",
}
"""A line a part."""
MARKDOWN: Final[Form] = {
    "understood": "*Understood as: {text}*\n\n",
    "written": "{text} {marks}\n\n",
    "evidence": "Evidence:\n\n",
    "quoted": "> {text} {marks}\n\n",
    "coverage": "{text}\n\n",
    "abstained": "**{heading}.** {text}\n\n",
    "closest": "Closest papers:\n\n",
    "close paper": "- {paper}.{address}\n",
    "searched": "\n{text}\n\n",
}
"""The references stand at the end of the conversation."""
ABSTENTIONS: Final = {
    Outcome.NOT_IN_LIBRARY: "Not in this library",
    Outcome.ABSTRACT_SILENT: "Not found in the abstract",
}
"""Headings of abstentions."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what is shown of an answer: a heading, a sentence or a paper."""

    kind: PartKind
    text: str = ""
    heading: str = ""
    paper: Paper | None = None
    numbers: tuple[int, ...] = ()
    """Of citations."""


@dataclass(frozen=True, slots=True)
class Block:
    """Sentences that are shown together: written ones, or quotations from one paper."""

    paper: Paper | None
    """The paper quoted; None if the sentences are written."""
    sentences: tuple[AnswerSentence, ...]
    is_evidence: bool
    """Whether the evidence for what is written begins here."""


def blocks(sentences: Sequence[AnswerSentence], citations: Sequence[Citation]) -> Iterator[Block]:
    """The sentences of an answer, grouped."""
    paper_of = {citation.number: citation.paper for citation in citations}

    def quoted_paper(sentence: AnswerSentence) -> Paper | None:
        is_quoted = sentence.kind is SentenceKind.QUOTED
        return paper_of[sentence.citations[0]] if is_quoted else None

    follows_written = False
    for paper, group in groupby(sentences, key=quoted_paper):
        yield Block(paper, tuple(group), is_evidence=follows_written and paper is not None)
        follows_written = paper is None


def parts_of_sentences(
    sentences: Sequence[AnswerSentence], citations: Sequence[Citation]
) -> Iterator[Part]:
    """What is written, then the evidence: quotations, those from one paper led in by its title."""
    for block in blocks(sentences, citations):
        if block.is_evidence:
            yield Part("evidence")
        if block.paper:
            yield Part("lead", paper=block.paper)
        for each in block.sentences:
            kind: PartKind = "quoted" if block.paper else "written"
            yield Part(kind, each.text, paper=block.paper, numbers=each.citations)


def parts_of_answer(shown: PartialAnswer) -> Iterator[Part]:
    """All that is shown of an answer; what has come of a partial one begins the whole one."""
    if shown.understood:
        yield Part("understood", shown.understood)
    answer = shown.answer
    if answer and answer.outcome is not Outcome.ANSWERED:
        yield Part("abstained", answer.text, ABSTENTIONS[answer.outcome])
        if answer.passages:
            yield Part("closest")
        yield from (Part("close paper", paper=each.paper) for each in answer.closest)
        yield from _searched(answer)
        return
    yield from parts_of_sentences(shown.sentences, shown.citations)
    if answer:
        if answer.coverage:
            yield Part("coverage", answer.coverage)
        yield Part("references")
        for group in by_paper(answer.citations):
            numbers = tuple(each.number for each in group)
            yield Part("reference", paper=group[0].paper, numbers=numbers)
        if answer.suggestions:
            yield Part("suggestions")
        yield from (Part("suggestion", each) for each in answer.suggestions)
        yield from _searched(answer)


def _searched(answer: Answer) -> Iterator[Part]:
    if statement := answer.coverage_statement:
        yield Part("searched", statement)


def write(part: Part, form: Form, escaped: Callable[[str], str] = str) -> str:
    """A part in `form`; empty if the form leaves it out.

    Args:
        part: what to write.
        form: how each kind of part is written.
        escaped: escapes a text; what the form itself contains stays as it is.
    """
    paper = part.paper
    return form.get(part.kind, "").format(
        text=escaped(part.text),
        nested=escaped(nested(part.text)),
        heading=part.heading,
        marks=escaped("".join(f"[{number}]" for number in part.numbers)),
        title=escaped(paper.shown_title) if paper else "",
        paper=escaped(reference(paper)) if paper else "",
        address=f" {escaped(paper.url)}." if paper and paper.url else "",
    )


def reference(paper: Paper) -> str:
    """A paper in one line: authors, title, venue, year and decision."""
    title = paper.title or paper.shown_title  # not within quotation marks
    parts = list(filter(None, (authors_line(paper.authors), title, where(paper))))
    ended = [part if part.endswith((".", "?", "!")) else f"{part}." for part in parts[:-1]]
    return " ".join([*ended, *parts[-1:]])
