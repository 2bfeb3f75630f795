"""The papers that an answer cites, with the words of their quotes that the answer stands on."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from markupsafe import Markup

from assistant.server.web.formulas import marked_spans
from assistant.types import AnswerSentence, Citation, Evidence, SentenceKind, by_paper
from retrieval.types import Paper

_WORD = re.compile(r"[^\W_]+(?:[-.’'][^\W_]+)*")
_LONG_WORD = 5
"""Letters from which a single shared word is marked; shorter ones only at the side of others."""
_LONG_RUN = 3
"""Shared words in a row that are marked whatever they are."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A quoted sentence of a card."""

    text: str
    html: Markup
    """The text with its decisive words marked."""
    number: int = 0
    """Of its citation; 0 while the answer is still being written."""


@dataclass(frozen=True, slots=True)
class Card:
    """A paper with what the answer says of it and quotes from it."""

    paper: Paper
    quotes: tuple[Quote, ...]
    claims: str = ""
    """The written sentences that cite this paper alone."""
    heading: str = ""
    """What it stands under together with its neighbours, such as a subtopic; or empty."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of its citations."""
        return tuple(each.number for each in self.quotes if each.number)


def cards(
    question: str, sentences: Sequence[AnswerSentence], citations: Sequence[Citation]
) -> list[Card]:
    """A card for each cited paper, in the order of the answer."""
    headings = {number: each.heading for each in sentences for number in each.citations}
    return [
        Card(
            group[0].paper,
            tuple(_quote(each, question, sentences) for each in group),
            claims_on(group, sentences),
            headings.get(group[0].number, ""),
        )
        for group in by_paper(citations)
    ]


def read_cards(question: str, evidence: Sequence[Evidence]) -> list[Card]:
    """The cards of the sentences that an answer will be written from."""
    papers = {each.paper.id: each.paper for each in evidence}
    return [
        Card(
            paper,
            tuple(
                Quote(each.text, with_decisive_words(each.text, [question]))
                for each in evidence
                if each.paper.id == id_
            ),
        )
        for id_, paper in papers.items()
    ]


def claims_on(citations: Sequence[Citation], sentences: Sequence[AnswerSentence]) -> str:
    """The written sentences that cite nothing but these citations of one paper."""
    numbers = {citation.number for citation in citations}
    return " ".join(each.text for each in written(sentences) if numbers.issuperset(each.citations))


def written(sentences: Sequence[AnswerSentence]) -> list[AnswerSentence]:
    """The sentences that the model has written."""
    return [each for each in sentences if each.kind is SentenceKind.VERIFIED]


def with_decisive_words(quote: str, sources: Sequence[str]) -> Markup:
    """The quote as HTML; words that stand in one of `sources`, too, are marked."""
    words = list(_WORD.finditer(quote))
    spans = [span for source in sources for span in _shared(words, source)]
    covered = sum(end - start for start, end in set(spans))
    # A quote that is marked as a whole shows nothing.
    return marked_spans(quote, spans if covered < len(quote.rstrip(" .")) else [])


def _quote(citation: Citation, question: str, sentences: Sequence[AnswerSentence]) -> Quote:
    sources = [each.text for each in written(sentences) if citation.number in each.citations]
    html = with_decisive_words(citation.quote, sources or [question])
    return Quote(citation.quote, html, citation.number)


def _shared(words: Sequence[re.Match[str]], source: str) -> Iterator[tuple[int, int]]:
    """Start and end of each run of `words` that the source has in the same order."""
    own = [word.group().casefold() for word in words]
    others = [word.casefold() for word in _WORD.findall(source)]
    matcher = SequenceMatcher(None, own, others, autojunk=False)
    for at, _, size in matcher.get_matching_blocks():
        run = list(words[at : at + size])
        if size < _LONG_RUN:
            run = [word for word in run if _tells(word.group())]
        if run:
            yield run[0].start(), run[-1].end()


def _tells(word: str) -> bool:
    return len(word) >= _LONG_WORD or not word.isalpha() or word.isupper()


def is_quoted(sentences: Sequence[AnswerSentence]) -> bool:
    """Whether an answer is made of quotations alone."""
    return bool(sentences) and not written(sentences)
