"""Sentences of abstracts in place of questions, to calibrate a library that has none.

After Lee, Chang and Toutanova 2019, "Latent Retrieval for Weakly Supervised Open Domain Question
Answering" (the inverse cloze task): a sentence stands for a question. Its own abstract answers it;
with its paper left out the library cannot, though its neighbours are near: these are the hard
unanswerable questions that a reader meets on a narrow topic. No model writes the questions: small
ones copy.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from assistant.answer_settings import AnswerSettings
from assistant.pipeline.abstention import QuestionEntities, probability
from assistant.pipeline.calibration import Judged
from assistant.pipeline.follow_up import StandaloneQuestion
from retrieval.library import Library
from retrieval.progress import Progress
from retrieval.search.reader import Reader
from retrieval.search.rerank import read_papers
from retrieval.search.search import search
from retrieval.sentences import split_sentences
from retrieval.types import Paper, Passage

LEAST_SENTENCES = 4
"""Sentences that an abstract must have for one to be taken out."""
_FOUND = 6
"""Papers found for a sentence, its own among them."""


def judged_sentences(
    library: Library,
    reader: Reader,
    most: int,
    progress: Progress,
    stopped: Callable[[], bool],
) -> Iterator[Judged]:
    """How sure the assistant is of sentences, with their paper in the library and without.

    Args:
        library: its papers are taken at even distances.
        reader: reads the papers found.
        most: papers taken.
        progress: is told of every paper.
        stopped: looked at between two papers.

    Raises:
        LibraryError: the library cannot be read.
        Cancelled: `stopped()` became true.
    """
    papers = at_even_distances((stored.paper for stored in library.store.papers()), most)
    for done, paper in enumerate(papers, start=1):
        yield from _judged(paper, library, reader, stopped)
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


def _judged(
    paper: Paper, library: Library, reader: Reader, stopped: Callable[[], bool]
) -> Iterator[Judged]:
    sentences = split_sentences(paper.abstract)
    taken = sentences[2 * len(sentences) // 3].text  # past the introduction: what the paper does
    found = search(library, taken, _FOUND, also=[paper.id])
    others = [passage for passage in found if passage.paper.id != paper.id]
    if not others:
        return
    for passages, answerable in ((found, True), (others, False)):
        yield Judged(_confidence(taken, passages, library, reader, stopped), answerable)


def _confidence(
    text: str,
    passages: Sequence[Passage],
    library: Library,
    reader: Reader,
    stopped: Callable[[], bool],
) -> float:
    """How likely one of the papers that read best answers."""
    read = read_papers(text, passages, reader, stopped)[: AnswerSettings().judged]
    entities = QuestionEntities.of(StandaloneQuestion(text, text), ())
    return max(probability(entities.features(each, library.lexical)) for each in read)
