"""Verifies that the sentences that a claim cites support it.

Exact guards for numbers, units and names come first. Then a cross-encoder trained for this
(`tests/benchmarks/training/train_support.py`) reads the claim together with what it cites. See
tests/benchmarks/checking.md.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from assistant.generation.verification.cutter import Cuts, Cutter
from assistant.generation.verification.guards import breaks, is_plain
from assistant.types import Evidence
from retrieval.encoders.embedder import CONTEXT, Encoder, Heads
from retrieval.search.reader import TITLE_TOKENS

THRESHOLD = -0.5
"""Least logit of a supported claim; see tests/benchmarks/checking.md."""
EXCERPT_MARGIN = 1.5
"""How far below the threshold the logit of an excerpt may be if the cutter allows it."""
CLAIM_TOKENS = 96
"""Tokens of the longest claim that is judged; of a longer one the end would not be read."""


class SupportModel:
    """The encoder in llama.cpp with its head."""

    def __init__(self, path: Path, heads: Heads, *, threads: int) -> None:
        """Load the GGUF encoder at `path`.

        Raises:
            ModelError: the file is no usable encoder.
        """
        self._encoder = Encoder(path, threads=threads)
        self._heads = heads

    def logit(self, claim: str, sentences: Sequence[str], title: str = "") -> float:
        """The logit that `sentences` of one paper support `claim`.

        Args:
            claim: one sentence; one too long to be read whole gets minus infinity.
            sentences: in reading order; those that do not fit into the context are not read.
            title: of their paper.
        """
        encoder = self._encoder
        said = encoder.tokens(claim, CLAIM_TOKENS + 1)
        if len(said) > CLAIM_TOKENS:
            return -math.inf
        ids = [encoder.begin, *said, encoder.end]
        ids += [*encoder.tokens(title, TITLE_TOKENS), encoder.end]
        for sentence in sentences:
            room = CONTEXT - len(ids) - 1
            if room < 1:
                break
            ids += [*encoder.tokens(sentence, room), encoder.end]
        return float(self._heads.of("support", encoder.vectors(ids)[:1])[0, 0])


class Verifier:
    """Decides which written sentences are shown, what they cite, and where evidence may be cut."""

    def __init__(self, model: SupportModel, cutter: Cutter, threshold: float = THRESHOLD) -> None:
        """Judge with `model`, cut with `cutter`."""
        self._model = model
        self._cutter = cutter
        self._threshold = threshold

    def holds(self, claim: str, cited: Sequence[Evidence]) -> bool:
        """Whether every paper cited has a cited sentence that supports `claim` by itself."""
        return bool(self.needed(claim, cited))

    def needed(
        self, claim: str, cited: Sequence[Evidence], *, is_excerpt: bool = False
    ) -> tuple[int, ...]:
        """The places in `cited` of the sentences that support a claim, the first of each paper.

        Empty if any paper has none. Sentences are judged one by one, never together.

        Args:
            claim: one sentence.
            cited: the evidence that it cites.
            is_excerpt: whether the cutter allows it as an excerpt of each of `cited`.
        """
        places: dict[str, int] = {}
        for at, each in enumerate(cited):
            paper = each.paper
            if paper.id not in places and self.supports(
                claim, each.text, paper.title, is_excerpt=is_excerpt
            ):
                places[paper.id] = at
        return tuple(places.values()) if places.keys() == {each.paper.id for each in cited} else ()

    def cuts(self, sentence: str) -> Cuts:
        """Where an excerpt of `sentence` may begin and end."""
        return self._cutter.cuts(sentence)

    def states(self, sentence: str) -> bool:
        """Whether `sentence` states something, so that it may be evidence.

        Instructions, parts of prompts and text in letters that cannot be checked do not.
        """
        return is_plain(sentence) and not self._cutter.gives_orders(sentence)

    def supports(
        self, claim: str, sentence: str, title: str = "", *, is_excerpt: bool = False
    ) -> bool:
        """Whether one `sentence` of a paper supports `claim`.

        A sentence supports itself, and an excerpt of it unless the model is rather sure of the
        contrary. What states nothing supports nothing; a title with marks of a prompt is not read.
        """
        if not self.states(sentence):
            return False
        if claim.split() == sentence.split():
            return True
        title = title if is_plain(title) else ""
        if breaks(claim, [sentence], title):
            return False
        least = self._threshold - (EXCERPT_MARGIN if is_excerpt else 0.0)
        return self._model.logit(claim, [sentence], title) >= least
