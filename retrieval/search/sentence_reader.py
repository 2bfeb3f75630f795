"""The sentence reader: an encoder that reads a question together with one sentence of an abstract.

It was trained to choose among the sentences of a paper and "none of them", whose logit is 0
(Rajpurkar et al. 2018, "Know What You Don't Know: Unanswerable Questions for SQuAD"), in
`tests/benchmarks/training`; it runs in llama.cpp, its head in numpy.
"""

from pathlib import Path

from retrieval.encoders.embedder import CONTEXT, Encoder, Heads

QUESTION_TOKENS, TITLE_TOKENS = 96, 48
"""Tokens of a question and of a title that are read, at most."""


class SentenceReader:
    """The encoder in llama.cpp with its head; thread-safe, one text at a time."""

    def __init__(self, path: Path, heads: Heads, *, threads: int) -> None:
        """Load the GGUF encoder at `path`; `ModelError` if it is not usable."""
        self._encoder = Encoder(path, threads=threads)
        self._heads = heads

    def logit(self, question: str, sentence: str, title: str) -> float:
        """The logit that `sentence`, of a paper with this title, answers `question`."""
        encoder = self._encoder
        ids = [encoder.begin, *encoder.tokens(question, QUESTION_TOKENS), encoder.end]
        ids += [*encoder.tokens(title, TITLE_TOKENS), encoder.end]
        ids += [*encoder.tokens(sentence, CONTEXT - len(ids) - 1), encoder.end]
        return float(self._heads.of("answer", encoder.vectors(ids)[:1])[0, 0])
