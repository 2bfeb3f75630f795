"""What the audit finds in a draft, and its JSON."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from assistant.research.audit.draft import DraftSentence
from assistant.types import Evidence, Json
from retrieval.types import Paper


class Verdict(StrEnum):
    """What the library says of a sentence."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOTHING_FOUND = "nothing found"
    NO_CLAIM = "no claim"


class CitedAs(StrEnum):
    """What becomes of a citation in the draft."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    RIGHT_PAPER = "cites the right paper, but its abstract does not say this"
    """The paper is among the first that a search for the claim finds."""
    NOT_STATED = "its abstract does not say this"
    NONE_STATED = "may be several papers here, and none of their abstracts says this"
    OTHER_PAPER = "another abstract says this, not the one cited"
    NOT_HERE = "not in the library"
    NOT_JUDGED = "in the library"
    """The sentence claims nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence of an abstract that supports or contradicts a claim."""

    evidence: Evidence
    """Its score is the probability of the stance."""
    stance: Verdict
    key: str
    """The paper's citation key."""


@dataclass(frozen=True, slots=True)
class JudgedCitation:
    """A citation of the draft, and what became of it."""

    text: str
    """As written."""
    judged: CitedAs
    paper: Paper | None = None
    key: str = ""
    finding: Finding | None = None
    """What its abstract says of the claim."""


@dataclass(frozen=True, slots=True)
class AuditedSentence:
    """A sentence of the draft with its verdict."""

    sentence: DraftSentence
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    """That show the verdict, surest first; one a paper."""
    cited: tuple[JudgedCitation, ...] = ()
    closest: Finding | None = None
    """Where nothing is found, the sentence that comes closest to supporting it, if any does."""

    @property
    def suggested(self) -> tuple[Finding, ...]:
        """Papers that support the sentence and that it does not cite: to be cited."""
        have = {each.paper.id for each in self.cited if each.paper}
        supported = self.verdict is Verdict.SUPPORTED
        fitting = [each for each in self.findings if each.evidence.paper.id not in have]
        is_cited = any(each.judged is CitedAs.SUPPORTED for each in self.cited)
        return tuple(fitting[:1]) if supported and not is_cited else ()


def counts(sentences: Sequence[AuditedSentence]) -> dict[str, int]:
    """Sentences of each verdict."""
    found = Counter(each.verdict for each in sentences)
    return {verdict.value: found[verdict] for verdict in Verdict}


def sentence_json(audited: AuditedSentence) -> Json:
    """A sentence as JSON."""
    return {
        "text": audited.sentence.text,
        "verdict": audited.verdict.value,
        "citations": [_finding_json(each) for each in audited.findings],
        "closest": _finding_json(audited.closest) if audited.closest else None,
        "start": audited.sentence.start,
        "end": audited.sentence.end,
        "cited": [_cited_json(each) for each in audited.cited],
        "suggested": [each.key for each in audited.suggested],
    }


def audit_json(sentences: Sequence[AuditedSentence], notes: Sequence[str] = ()) -> Json:
    """The whole audit as JSON."""
    return {
        "sentences": list(map(sentence_json, sentences)),
        "counts": counts(sentences),
        "notes": list(notes),
    }


def _finding_json(finding: Finding) -> Json:
    evidence = finding.evidence
    paper = evidence.paper
    return {
        "paper_id": paper.id,
        "title": paper.title,
        "authors": list(paper.authors),
        "year": paper.year,
        "key": finding.key,
        "quote": evidence.text,
        "stance": finding.stance.value,
        "probability": round(evidence.score, 4),
    }


def _cited_json(cited: JudgedCitation) -> Json:
    return {
        "text": cited.text,
        "judged": cited.judged.value,
        "paper_id": cited.paper.id if cited.paper else None,
        "title": cited.paper.title if cited.paper else "",
        "key": cited.key,
        "quote": cited.finding.evidence.text if cited.finding else "",
    }
