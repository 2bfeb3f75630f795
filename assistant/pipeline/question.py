"""A question as it was understood, and the papers as they were read with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assistant.generation.answer_builder import MetadataAnswer
from assistant.pipeline.abstention import QuestionEntities
from assistant.pipeline.follow_up import StandaloneQuestion
from assistant.pipeline.intent import papers_named_in
from retrieval.index.lexical import LexicalIndex
from retrieval.query.metadata import ParsedQuery
from retrieval.search.reader import MessageRead
from retrieval.search.rerank import ReadPassage
from retrieval.types import Paper

_OF_ONE = ("definition", "introduction", "polar")
"""Shapes whose answer begins with one sentence, however many papers there are on the question."""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question, what it asks for, and the papers that it is about."""

    message: MessageRead
    standalone: StandaloneQuestion
    named: tuple[Paper, ...]
    """The papers of the library that it names, unless the conversation tells the paper."""
    query: ParsedQuery
    metadata: MetadataAnswer | None
    """The answer that needs no abstract, if there is one."""
    shape: str = "other"
    """The shape of the answer, see `shapes.shape_of`."""
    wording: str = ""
    """The question for the chat model, which also sees the titles of papers; by default `text`."""

    @property
    def entities(self) -> QuestionEntities:
        """Its names, and the papers that it names or continues to ask about."""
        is_wide = self.shape in ("overview", "comparison")
        return QuestionEntities.of(self.standalone, self.named, self.query.said, is_wide=is_wide)

    @property
    def text(self) -> str:
        """The text read together with each paper, which therefore need not name one."""
        standalone = self.standalone
        leans = standalone.focus_papers or standalone.excluded
        return standalone.question if leans else standalone.text

    def example_paper(self, index: LexicalIndex) -> Paper | None:
        """The paper to which similar ones are sought, if any are; it has all names asked for."""
        if self.shape != "similar":
            return None
        standalone = self.standalone
        named = papers_named_in(standalone.question, self.named)
        known = (*standalone.focus_papers, *named, *standalone.excluded)
        whole = [paper for paper in known if not self.entities.absent([paper], index)]
        return whole[0] if whole else None

    @property
    def seeks_several(self) -> bool:
        """Whether one paper cannot answer it: it compares papers, or asks for a list."""
        by_kind = self.message.kind in ("several", "list") and self.shape not in _OF_ONE
        return by_kind or self.shape == "overview"

    def summarized(self, read: Sequence[ReadPassage], index: LexicalIndex) -> list[ReadPassage]:
        """The papers that it asks to be summarized; empty if it asks for anything else.

        A name that a paper lacks (`What does it say on StarCraft?`) asks for more than a summary.
        """
        if self.shape != "summary":
            return []
        sought = self.standalone.focus_papers or papers_named_in(self.text, self.named)
        ids = [paper.id for paper in sought if not self.entities.absent([paper], index)]
        return [each for each in read if each.passage.paper.id in ids]

    @property
    def is_about_several(self) -> bool:
        """Whether the answer needs a sentence of every paper."""
        return self.seeks_several or len(self.standalone.focus_papers) > 1

    def meant(self, read: Sequence[ReadPassage]) -> list[ReadPassage]:
        """The papers that the question is about and no others, best first; empty if it is open.

        A question that names one paper is about it only if that paper reads best; otherwise it may
        only mention it. One that seeks several papers and names one seeks others beside that.
        """
        known = self.entities.among(read)
        if self.standalone.focus_papers:
            return known
        if self.shape == "overview":
            return []
        if self.seeks_several:
            return known if len(known) > 1 else []
        return [each for each in read[:1] if each in known]


@dataclass(frozen=True, slots=True)
class ReadPapers:
    """The papers that were read, best first."""

    papers: list[ReadPassage]
    probabilities: dict[str, float]
    """Probability that a paper answers, by its id."""
    tokens: int
    """Tokens read by the reader and the chat model."""
    belonging: Mapping[str, float] = field(default_factory=dict)
    """Probability that a paper belongs to the topic of which an overview is sought, by its id."""

    def probability(self, read: ReadPassage) -> float:
        """Probability that a paper answers."""
        return self.probabilities[read.passage.paper.id]
