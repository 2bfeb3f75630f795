"""Judges the sentences of a draft by the abstracts of a library.

A sentence is searched like a query; the reader picks the sentences of the abstracts found, and the
support model reads each together with the claim. Two linear heads decide: whether the sentence
claims anything, and whether a sentence of an abstract supports or contradicts it. They are fitted
by `tests/benchmarks/training/fit_audit.py`; see tests/benchmarks/audit.md.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assistant.generation.verification.guards import breaks, is_plain
from assistant.generation.verification.support import Compared, Verifier
from assistant.models.gguf.trained import EncoderWeights, read_heads
from assistant.research.audit.citing import Resolver
from assistant.research.audit.draft import DraftSentence
from assistant.research.audit.marks import CitedWork
from assistant.research.audit.types import (
    AuditedSentence,
    CitedAs,
    Finding,
    JudgedCitation,
    Verdict,
)
from assistant.types import Evidence
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.search.search import search
from retrieval.types import Cancelled, Paper

HEADS: Final = EncoderWeights(
    "audit", Path(__file__).with_name("heads.safetensors"), ("claim", "stance")
)
READ = 5
"""Papers that are read for a claim, besides those that it cites."""
_MEANT = 5
"""Most papers that are read for one citation: the first of those that it may mean."""
COMPARED = 3
"""Sentences of each paper that are compared with the claim."""
SUPPORTS, CONTRADICTS = 0, 1
"""Places of the stances in the head's outputs; the third is neither."""
LEAST_SUPPORT = 0.5
LEAST_CONTRADICTION = 0.4
"""Least probabilities of a verdict; see tests/benchmarks/audit.md."""
LEAST_SHARED = 0.4
"""Least share of a claim's words, the rare ones counting more, that its evidence and title have."""
DOUBT = 0.3
"""Probability of a contradiction from which nothing of the same abstract supports the claim."""
CLOSE = 0.3
"""Probability of support from which a sentence is shown as the closest where nothing is found."""
_MOST_SHOWN = 3
"""Findings of a sentence."""
_GUARDS = ("number", "name")


@dataclass(frozen=True, slots=True)
class Stance:
    """What one sentence of an abstract says of a claim."""

    evidence: Evidence
    support: float
    contradiction: float
    """Probabilities."""

    def sure(self, verdict: Verdict) -> Evidence:
        """The evidence with the probability of a verdict as its score."""
        is_against = verdict is Verdict.CONTRADICTED
        return replace(self.evidence, score=self.contradiction if is_against else self.support)


_Work = tuple[CitedWork, tuple[Paper, ...]]
"""A citation and the papers that it may mean."""
_CITED = {
    Verdict.SUPPORTED: CitedAs.SUPPORTED,
    Verdict.CONTRADICTED: CitedAs.CONTRADICTED,
}


class Auditor:
    """Judges sentences by one library; as thread-safe as its models."""

    def __init__(self, library: Library, reader: Reader, verifier: Verifier) -> None:
        """Load the heads.

        Raises:
            ModelError: they are missing or damaged.
        """
        self.library = library
        self._reader = reader
        self._verifier = verifier
        self._heads = read_heads(HEADS)

    def audited(
        self,
        sentences: Sequence[DraftSentence],
        resolver: Resolver,
        stopped: Callable[[], bool],
    ) -> Iterator[AuditedSentence]:
        """The verdict of each sentence, in order, as it is judged.

        Raises:
            LibraryError: the library has no papers or cannot be read.
            Cancelled: `stopped()` became true.
        """
        self.library.ready_to_search()
        for sentence in sentences:
            if stopped():
                raise Cancelled
            yield self._audited(sentence, resolver, stopped)

    def is_claim(self, text: str) -> bool:
        """Whether a sentence of a draft claims a fact that abstracts may hold."""
        vector = self._reader.message_features(text)
        return bool(self._heads.of("claim", vector)[0, 0] > 0)

    def stances(
        self, claim: str, papers: Sequence[Paper], stopped: Callable[[], bool]
    ) -> Iterator[Stance]:
        """What the most relevant sentences of each paper say of a claim."""
        for evidence, x in read_pairs(self._reader, self._verifier, claim, papers, stopped):
            support, contradiction, _ = _shares(self._heads.of("stance", x)[0])
            if claim.split() == evidence.text.split():
                support, contradiction = 1.0, 0.0
            if support >= LEAST_SUPPORT and not self._holds(claim, evidence):
                support = 0.0
            yield Stance(evidence, support, contradiction)

    def _holds(self, claim: str, evidence: Evidence) -> bool:
        """Whether the evidence speaks of what the claim does, and passes the support check."""
        title = evidence.paper.title
        shared = self.library.lexical.share(claim, f"{title} {evidence.text}")
        return shared >= LEAST_SHARED and self._verifier.supports(claim, evidence.text, title)

    def _audited(
        self, sentence: DraftSentence, resolver: Resolver, stopped: Callable[[], bool]
    ) -> AuditedSentence:
        works = [(work, resolver.papers(work)) for work in sentence.works]
        if not self.is_claim(sentence.told):
            return AuditedSentence(
                sentence,
                Verdict.NO_CLAIM,
                cited=tuple(
                    _unjudged(*each, resolver, CitedAs.NOT_JUDGED if each[1] else CitedAs.NOT_HERE)
                    for each in works
                ),
            )
        ids = {paper.id for _, papers in works for paper in papers}
        ranked = [p.paper for p in search(self.library, sentence.claim, READ, also=sorted(ids))]
        works = [(work, _first(papers, ranked)) for work, papers in works]
        found = [paper for paper in ranked if paper.id not in ids]
        cited = [paper for _, papers in works for paper in papers]
        papers = {paper.id: paper for paper in [*found, *cited]}
        stances = list(self.stances(sentence.claim, list(papers.values()), stopped))
        verdict, telling = verdict_of(stances)
        findings = self._findings(telling, verdict, resolver)
        close = [] if findings else [max(stances, key=lambda each: each.support, default=None)]
        near = [each for each in close if each and each.support >= CLOSE]
        return AuditedSentence(
            sentence,
            verdict,
            findings,
            tuple(self._judged(works, stances, resolver, ranked)),
            *self._findings(near, Verdict.NOTHING_FOUND, resolver),
        )

    def _findings(
        self, stances: Sequence[Stance], verdict: Verdict, resolver: Resolver
    ) -> tuple[Finding, ...]:
        """The surest sentence of each paper, as findings."""
        best: dict[str, Stance] = {}
        for each in stances:
            best.setdefault(each.evidence.paper.id, each)
        shown = list(best.values())[:_MOST_SHOWN]
        keys = resolver.keys([each.evidence.paper for each in shown])
        return tuple(
            Finding(each.sure(verdict), verdict, keys[each.evidence.paper.id]) for each in shown
        )

    def _judged(
        self,
        works: Sequence[_Work],
        stances: Sequence[Stance],
        resolver: Resolver,
        ranked: Sequence[Paper],
    ) -> Iterator[JudgedCitation]:
        """What becomes of each citation; of several papers that it may mean the best counts."""
        is_supported = verdict_of(stances)[0] is Verdict.SUPPORTED
        for work, papers in works:
            if not papers:
                yield JudgedCitation(work.text, CitedAs.NOT_HERE)
                continue
            ids = {paper.id for paper in papers}
            verdict, telling = verdict_of([s for s in stances if s.evidence.paper.id in ids])
            if verdict is Verdict.NOTHING_FOUND:
                judged = CitedAs.OTHER_PAPER if is_supported else _unstated(papers, ranked)
                yield _unjudged(work, papers, resolver, judged)
            else:
                (finding,) = self._findings(telling[:1], verdict, resolver)
                paper = finding.evidence.paper
                yield JudgedCitation(work.text, _CITED[verdict], paper, finding.key, finding)


def verdict_of(stances: Sequence[Stance]) -> tuple[Verdict, list[Stance]]:
    """What sentences of abstracts say of a claim together, and those that say it, surest first.

    The surest one decides: a claim that one abstract supports and another denies more clearly is
    contradicted.
    """
    doubted = {each.evidence.paper.id for each in stances if each.contradiction >= DOUBT}
    supporting = [
        each
        for each in stances
        if each.support >= LEAST_SUPPORT and each.evidence.paper.id not in doubted
    ]
    denying = [each for each in stances if each.contradiction >= LEAST_CONTRADICTION]
    supporting.sort(key=lambda each: -each.support)
    denying.sort(key=lambda each: -each.contradiction)
    if denying and not (supporting and supporting[0].support >= denying[0].contradiction):
        return Verdict.CONTRADICTED, denying
    return (Verdict.SUPPORTED, supporting) if supporting else (Verdict.NOTHING_FOUND, [])


def read_pairs(
    reader: Reader,
    verifier: Verifier,
    claim: str,
    papers: Sequence[Paper],
    stopped: Callable[[], bool],
) -> Iterator[tuple[Evidence, NDArray[np.float32]]]:
    """The most relevant sentences of each paper with what their stance is judged by.

    A claim that is too long for the support model has none.
    """
    for paper, read in zip(papers, reader.read(claim, papers, stopped), strict=True):
        title = paper.title if is_plain(paper.title) else ""
        if not (whole := verifier.compare(claim, paper.abstract, title)):
            return
        for each in sorted(read.sentences, key=lambda one: -one.evidence)[:COMPARED]:
            if stopped():
                raise Cancelled
            sentence = each.sentence
            if compared := verifier.compare(claim, sentence.text, title):
                relevance = (each.evidence, read.relevance, read.answered)
                broken = breaks(claim, [sentence.text], title)
                evidence = Evidence(paper, sentence.start, sentence.end, sentence.text, 0.0)
                yield evidence, features(compared, whole, relevance, broken)


def features(
    compared: Compared, whole: Compared, relevance: Sequence[float], broken: str
) -> NDArray[np.float32]:
    """What the stance is judged by, shape (1, features).

    Args:
        compared: claim and sentence, read together.
        whole: claim and the whole abstract.
        relevance: the reader's logits: the sentence is evidence, the paper is what the claim is
            about, its abstract answers.
        broken: the guard that the claim breaks.
    """
    guards = (float(broken == guard) for guard in _GUARDS)
    known = (compared.logit, *compared.stances, *relevance, *guards, whole.logit, *whole.stances)
    return np.array([known], np.float32)


def _first(papers: Sequence[Paper], ranked: Sequence[Paper]) -> tuple[Paper, ...]:
    """The few of these papers that come first in a search for the claim."""
    places = {paper.id: place for place, paper in enumerate(ranked)}
    return tuple(sorted(papers, key=lambda each: places.get(each.id, len(places)))[:_MEANT])


def _unstated(papers: Sequence[Paper], ranked: Sequence[Paper]) -> CitedAs:
    """What is said of a citation of papers whose abstracts say nothing of the claim."""
    if len(papers) > 1:
        return CitedAs.NONE_STATED
    first = {paper.id for paper in ranked[:READ]}
    return CitedAs.RIGHT_PAPER if papers[0].id in first else CitedAs.NOT_STATED


def _unjudged(
    work: CitedWork, papers: Sequence[Paper], resolver: Resolver, judged: CitedAs
) -> JudgedCitation:
    """A citation whose paper says nothing of the claim; of several papers none is named."""
    if len(papers) != 1:
        return JudgedCitation(work.text, judged)
    key = resolver.keys(papers)[papers[0].id]
    return JudgedCitation(work.text, judged, papers[0], key)


def _shares(logits: NDArray[np.float32]) -> list[float]:
    powers = np.exp(logits - logits.max())
    shares: list[float] = (powers / powers.sum()).tolist()
    return shares
