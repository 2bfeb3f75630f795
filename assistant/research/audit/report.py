"""Writes the result of an audit: lines for a terminal, a page of HTML, the draft with citations."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import jinja2

from assistant.research.audit.draft import Draft
from assistant.research.audit.marks import find_marks
from assistant.research.audit.types import AuditedSentence, Verdict, counts
from retrieval.formats.writers import bibtex, where
from retrieval.text.names import surname
from retrieval.types import Paper, nested

ICONS = {
    Verdict.SUPPORTED: "✓",
    Verdict.CONTRADICTED: "✗",
    Verdict.NOTHING_FOUND: "?",
    Verdict.NO_CLAIM: "–",
}
"""A sign beside each word, so that no verdict is shown by its colour alone."""
EXPLAINED = (
    "Compared with the abstracts of this library alone: “nothing found” says that none of them "
    "states it, not that the sentence is wrong."
)
"""What a verdict means, for people."""
_CLOSING = "\"'”’)]}*_"
_BOTH = 2
"""Authors who are both named in a mark; of more the first is."""


def counts_line(sentences: Sequence[AuditedSentence]) -> str:
    """How many sentences have each verdict."""
    return ", ".join(f"{count} {verdict}" for verdict, count in counts(sentences).items())


def lines_of(audited: AuditedSentence) -> Iterator[str]:
    """A sentence that claims something, with what was found, for a terminal."""
    if audited.verdict is Verdict.NO_CLAIM and not audited.cited:
        return
    yield f"{ICONS[audited.verdict]} {audited.verdict}: {audited.sentence.text}"
    for each in audited.cited:
        yield f"    cited: {each.text}: {each.judged}"
    closest = (audited.closest,) if audited.closest else ()
    for finding in (*audited.findings, *closest):
        paper, quote = finding.evidence.paper, nested(finding.evidence.text)
        close = "closest, " if finding is audited.closest else ""
        yield f"    {close}{finding.key}: “{paper.shown_title}”: “{quote}”"


def page(sentences: Sequence[AuditedSentence], notes: Sequence[str], title: str) -> str:
    """The report as one page of HTML that needs no other file."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["where"] = where
    template = environment.get_template("report.html")
    return template.render(
        title=title,
        sentences=sentences,
        counts=counts(sentences),
        icons=ICONS,
        explained=EXPLAINED,
        notes=notes,
    )


def suggested_papers(sentences: Sequence[AuditedSentence]) -> dict[str, Paper]:
    """The papers whose citation is suggested, by their citation keys."""
    return {each.key: each.evidence.paper for one in sentences for each in one.suggested}


def suggested_bibtex(sentences: Sequence[AuditedSentence]) -> str:
    """These papers in BibTeX; empty if there are none."""
    papers = suggested_papers(sentences)
    keys = {paper.id: key for key, paper in papers.items()}
    return bibtex(papers.values(), keys) if papers else ""


def with_citations(draft: Draft, sentences: Sequence[AuditedSentence]) -> str:
    """The draft with the suggested citations, in the style in which it cites already."""
    mark = _mark_of(draft)
    text = draft.text
    for audited in sorted(sentences, key=lambda each: -each.sentence.end):
        for finding in audited.suggested:
            start, end = audited.sentence.start, audited.sentence.end
            at = _place(text, start, end)
            cited = _authors_mark(finding.evidence.paper) if mark is None else mark(finding.key)
            text = f"{text[:at]}{cited}{text[at:]}"
    return text


def _place(text: str, start: int, end: int) -> int:
    """Where a citation goes into a sentence: before its full stop."""
    at = end
    while at > start and text[at - 1] in _CLOSING:
        at -= 1
    return at - 1 if at > start and text[at - 1] in ".!?" else end


def _mark_of(draft: Draft) -> Callable[[str], str] | None:
    """Makes a mark of a key; None if the draft names authors and years instead."""
    marks = find_marks(draft.text, latex=draft.latex)
    if draft.latex:
        used = Counter(draft.text[m.start : m.end].split("{")[0].split("[")[0] for m in marks)
        commands = [name for name, _ in used.most_common() if name.startswith("\\")]
        command = next((c for c in commands if "t" not in c.removeprefix("\\cite")), "\\cite")
        return lambda key: f"~{command}{{{key}}}"
    works = [work for mark in marks for work in mark.works]
    if works and not any(work.key for work in works):
        return None
    return lambda key: f" [@{key}]"


def _authors_mark(paper: Paper) -> str:
    """` (Smith et al., 2023)`; the title where a record has no authors."""
    names = [surname(name) for name in paper.authors]
    said = f"{names[0]} et al." if len(names) > _BOTH else " and ".join(names)
    return f" ({said or paper.shown_title}, {paper.year or 'n.d.'})"
