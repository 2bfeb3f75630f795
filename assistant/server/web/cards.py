"""The papers that an answer cites, with the words of their quotes that the answer stands on."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from markupsafe import Markup

from assistant.server.web.formulas import marked_spans
from assistant.types import AnswerSentence, Citation, Evidence, SentenceKind, by_paper
from retrieval.index.lexical import LexicalIndex
from retrieval.types import Paper, UserError

Stem = Callable[[str], str]
"""The stem of a word; empty if the word is too common to decide anything."""

_WORD = re.compile(r"[^\W_]+(?:[.’'][^\W_]+)*")
_LONG_WORD = 5
"""Letters from which a shared word is marked; shorter ones only between others."""
_COMMON = 0.25
"""Share of a library's papers from which a word of theirs is common."""
_FEW = 100
"""Papers of a library too small to say which words are common."""
_WHOLE = 0.85
"""Share of a quote from which marks are left out: marked as a whole it shows nothing."""
_REMEMBERED = 20_000
"""Words whose stems are cached."""


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


@lru_cache(maxsize=2)
def stems_of(lexical: LexicalIndex) -> Stem:
    """The stems of words that less than a quarter of a library's papers use."""

    @lru_cache(maxsize=_REMEMBERED)
    def stem(word: str) -> str:
        try:
            is_common = lexical.size >= _FEW and lexical.texts_with(word) > _COMMON * lexical.size
        except UserError:  # the library is being replaced
            return word.casefold()
        return "" if is_common else lexical.stem(word)

    return stem


def cards(
    question: str,
    sentences: Sequence[AnswerSentence],
    citations: Sequence[Citation],
    stem: Stem = str.casefold,
) -> list[Card]:
    """A card for each cited paper, in the order of the answer."""
    headings = {number: each.heading for each in sentences for number in each.citations}
    return [
        Card(
            group[0].paper,
            tuple(_quote(each, question, sentences, stem) for each in group),
            claims_on(group, sentences),
            headings.get(group[0].number, ""),
        )
        for group in by_paper(citations)
    ]


def read_cards(
    question: str, evidence: Sequence[Evidence], stem: Stem = str.casefold
) -> list[Card]:
    """The cards of the sentences that an answer will be written from."""
    papers = {each.paper.id: each.paper for each in evidence}
    return [
        Card(
            paper,
            tuple(
                Quote(each.text, with_decisive_words(each.text, [question], stem))
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


def with_decisive_words(quote: str, sources: Sequence[str], stem: Stem = str.casefold) -> Markup:
    """The quote as HTML; words that stand in one of `sources`, too, are marked."""
    words = list(_WORD.finditer(quote))
    spans = [span for source in sources for span in _shared(words, source, stem)]
    covered = sum(end - start for start, end in set(spans))
    return marked_spans(quote, spans if covered < _WHOLE * len(quote) else [])


def _quote(
    citation: Citation, question: str, sentences: Sequence[AnswerSentence], stem: Stem
) -> Quote:
    sources = [each.text for each in written(sentences) if citation.number in each.citations]
    html = with_decisive_words(citation.quote, sources or [question], stem)
    return Quote(citation.quote, html, citation.number)


def _shared(words: Sequence[re.Match[str]], source: str, stem: Stem) -> Iterator[tuple[int, int]]:
    """Start and end of each run of `words` that the source has, from decisive word to word."""

    def root(word: str) -> str:
        return stem(word) or word.casefold()

    roots = set(map(root, _WORD.findall(source)))
    for is_shared, run in groupby(words, key=lambda word: root(word.group()) in roots):
        told = [word for word in run if _tells(word.group(), stem)] if is_shared else []
        if told:
            yield told[0].start(), told[-1].end()


def _tells(word: str, stem: Stem) -> bool:
    return bool(stem(word)) and (len(word) >= _LONG_WORD or not word.isalpha() or word.isupper())


def is_quoted(sentences: Sequence[AnswerSentence]) -> bool:
    """Whether an answer is made of quotations alone."""
    return bool(sentences) and not written(sentences)
