"""Sentences of abstracts in place of questions, to calibrate a library that has none.

After Lee, Chang and Toutanova 2019, "Latent Retrieval for Weakly Supervised Open Domain Question
Answering" (the inverse cloze task): a sentence stands for a question, and the abstract without the
sentence for the one that answers it. With the paper left out nothing answers. No model writes the
questions: small ones copy, and their questions would be easier than a person's.

What is measured is the confidence of the first stage in one passage each, without reranking.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from assistant.answerability import Subject
from assistant.calibration import Judged
from assistant.conversation import Resolved
from retrieval.chunks import chunk_paper, embedded_text
from retrieval.library import Library
from retrieval.progress import Progress
from retrieval.query.lookup import Lookup
from retrieval.search import search
from retrieval.sentences import Sentence, split_sentences
from retrieval.types import Paper, Passage

LEAST_SENTENCES = 4
"""Sentences that an abstract must have for one to be taken out."""
_FOUND = 5
"""Papers found for a sentence, beside its own."""


def judged_sentences(library: Library, most: int, progress: Progress) -> Iterator[Judged]:
    """How sure the first stage is of sentences, with their paper in the library and without.

    Of each the confidence in one passage, the nearest, without reranking.

    Args:
        library: its papers are taken at even distances.
        most: papers taken.
        progress: is told of every paper.

    Raises:
        LibraryError: the library cannot be read.
    """
    lookup = Lookup.over(library)
    papers = at_even_distances((stored.paper for stored in library.store.papers()), most)
    for done, paper in enumerate(papers, start=1):
        yield from _judged(paper, library, lookup)
        progress("calibrating", done, len(papers), "papers")


def at_even_distances(papers: Iterable[Paper], most: int) -> list[Paper]:
    """At most so many papers: those at even distances by id, or the next with enough sentences."""
    papers = sorted(papers, key=lambda each: each.id)
    most = min(most, len(papers))
    starts = [place * len(papers) // most for place in range(most)]
    found = (
        next(filter(_is_long, papers[start:end]), None)
        for start, end in pairwise([*starts, len(papers)])
    )
    return [paper for paper in found if paper]


def _is_long(paper: Paper) -> bool:
    return len(split_sentences(paper.abstract)) >= LEAST_SENTENCES


def _judged(paper: Paper, library: Library, lookup: Lookup) -> Iterator[Judged]:
    sentences = split_sentences(paper.abstract)
    taken = sentences[2 * len(sentences) // 3]  # past the introduction: what the paper does
    subject = Subject.of(Resolved(taken.text, taken.text), lookup)
    found = search(library, taken.text, _FOUND + 1)
    others = [passage for passage in found if passage.paper.id != paper.id]
    if not others:
        return
    own = _without(paper, taken, library)
    best = max(others[0], own, key=lambda passage: passage.similarity)
    for passage, answerable in ((best, True), (others[0], False)):
        yield Judged(subject.signs(passage, library.lexical).confidence, answerable)


def _without(paper: Paper, taken: Sentence, library: Library) -> Passage:
    """The paper with the passage nearest to a sentence of it, as if it lacked the sentence.

    It keeps the names of the sentence: a person would ask with names that the abstract has.
    """
    rest = replace(paper, abstract=paper.abstract[: taken.start] + paper.abstract[taken.end :])
    embed = library.embedder.embed
    asked = embed(taken.text)
    chunks = chunk_paper(rest, library.embedder.count, library.chunk_settings)
    similarity = {chunk: float(embed(embedded_text(rest, chunk)) @ asked) for chunk in chunks}
    nearest = max(similarity, key=lambda chunk: similarity[chunk])
    return Passage(paper, nearest, score=1.0, similarity=similarity[nearest])
